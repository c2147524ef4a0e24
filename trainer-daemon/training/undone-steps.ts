/** Steps of a round that take back what its earlier ones did: their rate is too high, and the round learns little. */
import type { StepRecord } from '../../protocol/records.ts';

/** Below this approximate KL a token, the way is too short to tell. */
const TELLING = 1e-3;
/** A way back from one KL to less than this share of it is more than the noise of a batch. */
const BACK = 0.5;

/** What every such message says. */
export const UNDONE = 'steps undo one another';

/**
 * A step that is too long passes what is clipped (eq. 7): from there on, responses that were to become likelier have no
 * gradient, those that were to become less likely still do, and the next steps go back. In the embedded world the
 * likelihood of what was to be learned went up by half and down again within each of five rounds; with half the rate it
 * rose from step to step (bench/results/learning-notes.md).
 *
 * @param steps Of one round, in their order; the approximate KL of each is that of the policy before it.
 * @returns What to tell; undefined when the policy went only onwards, or hardly anywhere.
 */
export function undoneSteps(steps: readonly Pick<StepRecord, 'step' | 'approximateKl'>[]): string | undefined {
  let furthest = { step: 0, kl: 0 };
  for (const { step, approximateKl = 0 } of steps) {
    if (furthest.kl >= TELLING && approximateKl < BACK * furthest.kl)
      return (
        `${UNDONE}: the policy was ${furthest.kl.toPrecision(2)} of approximate KL a token away before step ` +
        `${furthest.step}, and ${approximateKl.toPrecision(2)} before step ${step}; lower rl.learningRate, or raise rl.batch`
      );
    if (approximateKl > furthest.kl) furthest = { step, kl: approximateKl };
  }
}
