/**
 * Step arithmetic of supervised fine-tuning (design 3.3, paper C.1). Steps are counted from 1 throughout: step s is the
 * s-th optimizer update, and a checkpoint "at step s" holds the weights after it.
 */
import type { TrainingConfig } from '../../protocol/config.ts';

/**
 * Optimizer steps of one epoch: targets / batch, rounded to the nearest whole number (halves up), at least 1; 0 only
 * when there are no targets. The paper's 40,047, 27,110 and 2,370 targets at batch 64 give 626, 424 and 37.
 *
 * @throws RangeError when `targets` is negative or `batch` not positive.
 */
export function stepsPerEpoch(targets: number, batch: number): number {
  if (!Number.isInteger(targets) || targets < 0) throw new RangeError(`targets must be a whole number, not ${targets}`);
  if (!Number.isInteger(batch) || batch < 1)
    throw new RangeError(`batch must be a positive whole number, not ${batch}`);
  return targets === 0 ? 0 : Math.max(1, Math.round(targets / batch));
}

/**
 * Steps after which the k-th of n checkpoints is taken, k = 1..n: floor(k * steps / n), ascending, without repeats and
 * without step 0 (runs with fewer steps than checkpoints take one a step). The last is always the last step. The
 * paper's 626 steps with n = 10 give 438 for k = 7 and 563 for k = 9.
 *
 * @param steps Optimizer steps of the whole stage, all epochs together.
 * @throws RangeError when `steps` is negative or `n` not positive.
 */
export function checkpointSteps(steps: number, n: number): number[] {
  if (!Number.isInteger(steps) || steps < 0) throw new RangeError(`steps must be a whole number, not ${steps}`);
  if (!Number.isInteger(n) || n < 1) throw new RangeError(`checkpoints must be a positive whole number, not ${n}`);
  const taken = new Set<number>();
  for (let k = 1; k <= n; k++) taken.add(Math.floor((k * steps) / n));
  taken.delete(0);
  return [...taken];
}

/**
 * Learning rate of optimizer step s = 1..S, with W = warmupSteps, peak rate r and f = finalRate:
 *
 * - warm-up, s <= W: r * s / W. The first step already moves the weights, step W has the full rate.
 * - `cosine`, s > W: r * (f + (1 - f) * (1 + cos(pi * (s - W) / (S - W))) / 2). The last step has exactly f * r.
 * - `constant`, s > W: r.
 *
 * A stage that is shorter than its warm-up ends in the warm-up, below the peak.
 *
 * @throws RangeError when `step` is not a whole number from 1 to `totalSteps`.
 */
export function learningRate(
  step: number,
  totalSteps: number,
  sft: Pick<TrainingConfig['sft'], 'learningRate' | 'warmupSteps' | 'schedule' | 'finalRate'>,
): number {
  if (!Number.isInteger(step) || step < 1 || step > totalSteps) {
    throw new RangeError(`step must be a whole number from 1 to ${totalSteps}, not ${step}`);
  }
  if (step <= sft.warmupSteps) return (sft.learningRate * step) / sft.warmupSteps;
  if (sft.schedule === 'constant') return sft.learningRate;
  const progress = (step - sft.warmupSteps) / (totalSteps - sft.warmupSteps);
  return sft.learningRate * (sft.finalRate + ((1 - sft.finalRate) * (1 + Math.cos(Math.PI * progress))) / 2);
}
