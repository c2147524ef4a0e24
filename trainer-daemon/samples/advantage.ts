/** Eq. 4: the leave-one-out advantage of the attempts of one group. */

/** Why a group gives no learning signal. */
export type NoSignal = 'equal-rewards' | 'too-few-valid';

/**
 * A_i = R_i - mean of the other rewards (eq. 4). No critic, no division by the standard deviation.
 *
 * @param rewards Terminal rewards of all valid attempts of one group, V_g.
 * @returns One advantage a reward, in order; or the reason why the group has none: fewer than two valid attempts, or
 *   equal rewards (every advantage would be 0).
 * @throws RangeError when a reward is not a finite number.
 */
export function leaveOneOut(rewards: readonly number[]): { advantages: number[] } | { reason: NoSignal } {
  for (const reward of rewards) {
    if (!Number.isFinite(reward)) throw new RangeError(`a reward must be a finite number, not ${reward}`);
  }
  if (rewards.length < 2) return { reason: 'too-few-valid' };
  if (rewards.every((reward) => reward === rewards[0])) return { reason: 'equal-rewards' };
  const sum = rewards.reduce((total, reward) => total + reward, 0);
  return { advantages: rewards.map((reward) => reward - (sum - reward) / (rewards.length - 1)) };
}
