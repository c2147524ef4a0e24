/**
 * The factors by which target tokens enter the loss (see graph/loss.ts), computed from a whole optimizer batch, and the
 * statistics of an RL step.
 */
import {
  type RlItem,
  type RlLossOptions,
  type RlStepResult,
  TrainerError,
  type TrainingSequence,
} from '../contract.ts';
import { LARGEST_LOG_RATIO } from './graph/loss.ts';

/** s, k, log q, lo and hi of one item's response tokens. */
export interface LossFactors {
  supervised: number;
  /** Absent: all zero. */
  weighted?: Float64Array;
  oldLogprobs?: ArrayLike<number>;
  lower: number;
  upper: number;
}

/** Eq. 3: the mean over all supervised tokens of the optimizer batch, times a weight. */
export function sftFactors(items: readonly TrainingSequence[], weight = 1): LossFactors[] {
  const tokens = items.reduce((n, item) => n + item.responseTokenIds.length, 0);
  return items.map(() => ({ supervised: weight / tokens, lower: 0, upper: 1 }));
}

/** The value of eq. 3. @param logprobs of the supervised tokens, one array an item */
export function meanLoss(logprobs: readonly Float32Array[]): number {
  let sum = 0;
  let tokens = 0;
  for (const values of logprobs) {
    for (const value of values) sum -= value;
    tokens += values.length;
  }
  return sum / tokens;
}

/** True where eq. 5 counts the item: its effective weight u A is not zero. */
export function hasWeight(item: RlItem): boolean {
  return item.u !== 0 && item.advantage !== 0;
}

/** w = min(q / b, C), eq. 6, for each response token. */
export function importanceWeights(item: RlItem, cap: number): Float32Array {
  return Float32Array.from({ length: item.responseTokenIds.length }, (_, t) =>
    Math.min(Math.exp(item.oldLogprobs[t] - item.behaviourLogprobs[t]), cap),
  );
}

/**
 * Eq. 5-7. The normaliser sum of u runs over the items with nonzero weight; the others get factors of zero.
 * @throws TrainerError when no item has a nonzero weight
 */
export function rlFactors(items: readonly RlItem[], options: RlLossOptions): LossFactors[] {
  const { clip, importanceCap } = options;
  const total = items.reduce((sum, item) => (hasWeight(item) ? sum + item.u : sum), 0);
  if (total === 0) {
    throw new TrainerError('no response of this batch has a nonzero weight u A: leave the step out');
  }
  return items.map((item) => {
    if (!hasWeight(item)) return { supervised: 0, lower: 0, upper: 1 };
    const length = item.responseTokenIds.length;
    const factor = (item.u * item.advantage) / (length * total);
    const weighted = Float64Array.from(importanceWeights(item, importanceCap), (w) => w * factor);
    const [lower, upper] = item.advantage > 0 ? [0, 1 + clip.high] : [1 - clip.low, clip.dual];
    return { supervised: 0, weighted, oldLogprobs: item.oldLogprobs, lower, upper };
  });
}

/** @param inside one array an item: 1 where the token's gradient flows */
export function rlStatistics(
  items: readonly RlItem[],
  options: RlLossOptions,
  logprobs: Float32Array[],
  inside: Float32Array[],
): Omit<RlStepResult, 'loss' | 'gradNorm' | 'seconds'> {
  const importance = items.map((item) => importanceWeights(item, options.importanceCap));
  const clipped = items.map((item) => new Uint8Array(item.responseTokenIds.length));
  const counts = [0, 0, 0, 0];
  let responses = 0;
  let tokens = 0;
  let longest = 0;
  let weightSum = 0;
  let capped = 0;
  let divergence = 0;
  items.forEach((item, i) => {
    if (!hasWeight(item)) return;
    const length = item.responseTokenIds.length;
    responses++;
    tokens += length;
    longest = Math.max(longest, length);
    for (let t = 0; t < length; t++) {
      const logRatio = Math.min(logprobs[i][t] - item.oldLogprobs[t], LARGEST_LOG_RATIO);
      // Which bound was met follows from its side: for A < 0 they lie on both sides of 1.
      if (inside[i][t] === 0) clipped[i][t] = item.advantage > 0 ? 2 : logRatio > 0 ? 3 : 1;
      counts[clipped[i][t]]++;
      weightSum += importance[i][t];
      if (item.oldLogprobs[t] - item.behaviourLogprobs[t] > Math.log(options.importanceCap)) capped++;
      divergence += Math.expm1(logRatio) - logRatio;
    }
  });
  return {
    tokens,
    logprobs,
    importanceWeights: importance,
    clipped,
    clipFractions: { low: counts[1] / tokens, high: counts[2] / tokens, dual: counts[3] / tokens },
    importance: { mean: weightSum / tokens, cappedShare: capped / tokens },
    approximateKl: divergence / tokens,
    responseLength: { mean: tokens / responses, max: longest },
  };
}
