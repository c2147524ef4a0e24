/**
 * Sampling a token from logits, and the log-probability of having sampled it. The distribution is made in vLLM's
 * order: penalties, temperature, top-k, top-p, then renormalised; the log-probability is that distribution's, so it
 * is the b of the importance weight whatever the settings are.
 */
import { Random } from '../../../protocol/random.ts';

export interface SamplingSettings {
  /** 0: the most probable token, always. */
  temperature: number;
  /** Smallest set of most probable tokens whose probabilities reach this sum; 1: all. */
  topP: number;
  /** Number of most probable tokens; -1: all. */
  topK: number;
  /** Taken from the logits of tokens already in the response. */
  presencePenalty: number;
  /** Taken from the logits once for every time a token is in the response. */
  frequencyPenalty: number;
  seed: number | string;
  /** How many of the most probable tokens to report with each sampled one. */
  topLogprobs: number;
}

export interface SampledToken {
  id: number;
  logprob: number;
  /** The most probable tokens of the same distribution, the first the most probable. */
  top: { id: number; logprob: number }[];
}

/** One response's sampler: its own random stream, its own memory of the tokens given. */
export class Sampler {
  private readonly settings: SamplingSettings;
  private readonly random: Random;
  private readonly counts = new Map<number, number>();

  constructor(settings: SamplingSettings) {
    this.settings = settings;
    this.random = new Random('planner response', settings.seed);
  }

  /** Samples from one row of logits. One number is drawn from the stream, whatever the settings. */
  sample(logits: Float32Array): SampledToken {
    const u = this.random.next();
    const distribution = this.distributionOf(logits);
    const id = distribution.pick(u);
    this.counts.set(id, (this.counts.get(id) ?? 0) + 1);
    return { id, logprob: distribution.logprob(id), top: distribution.top(this.settings.topLogprobs) };
  }

  private distributionOf(logits: Float32Array): Distribution {
    const { temperature, topP, topK, presencePenalty, frequencyPenalty } = this.settings;
    const scores = Float64Array.from(logits);
    if (presencePenalty !== 0 || frequencyPenalty !== 0) {
      for (const [id, count] of this.counts) scores[id] -= presencePenalty + frequencyPenalty * count;
    }
    if (temperature === 0) return onlyThe(indexOfLargest(scores), scores.length);
    for (let i = 0; i < scores.length; i++) scores[i] /= temperature;
    const truncated = (topK > 0 && topK < scores.length) || topP < 1;
    return new Distribution(scores, truncated ? truncate(scores, topK, topP) : null);
  }
}

/** Token ids that remain after top-k and top-p, the most probable first; ties to the smaller id. */
function truncate(scores: Float64Array, topK: number, topP: number): number[] {
  if (topK > 0 && topK < scores.length) {
    const kept = largestOf(scores, topK);
    return topP < 1 ? nucleus(scores, kept, topP, sumOfWeights(scores, kept)) : kept;
  }
  // Sorting a large vocabulary is slow, and what is e^-30 below the best token is hardly ever needed.
  const largest = scores[indexOfLargest(scores)];
  const all = Array.from(scores.keys());
  const total = sumOfWeights(scores, all);
  for (const candidates of [all.filter((id) => scores[id] > largest - 30), all]) {
    candidates.sort((a, b) => scores[b] - scores[a] || a - b);
    if (candidates.length === all.length || sumOfWeights(scores, candidates) >= topP * total) {
      return nucleus(scores, candidates, topP, total);
    }
  }
  return all;
}

/** The shortest beginning of `sorted` whose weights reach topP of the total. */
function nucleus(scores: Float64Array, sorted: number[], topP: number, total: number): number[] {
  const largest = scores[sorted[0]];
  let sum = 0;
  let count = 0;
  while (count < sorted.length && sum < topP * total) sum += Math.exp(scores[sorted[count++]] - largest);
  return sorted.slice(0, Math.max(count, 1));
}

function sumOfWeights(scores: Float64Array, ids: number[]): number {
  const largest = scores[indexOfLargest(scores)];
  let sum = 0;
  for (const id of ids) sum += Math.exp(scores[id] - largest);
  return sum;
}

/** Ids of the `count` largest scores, the largest first; ties to the smaller id. */
function largestOf(scores: Float64Array, count: number, ids: Iterable<number> = scores.keys()): number[] {
  const best: number[] = [];
  for (const id of ids) {
    if (best.length === count && scores[id] <= scores[best[count - 1]]) continue;
    let low = 0;
    let high = best.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (scores[best[middle]] >= scores[id]) low = middle + 1;
      else high = middle;
    }
    best.splice(low, 0, id);
    if (best.length > count) best.pop();
  }
  return best;
}

function onlyThe(id: number, size: number): Distribution {
  const scores = new Float64Array(size).fill(Number.NEGATIVE_INFINITY);
  scores[id] = 0;
  return new Distribution(scores, [id]);
}

/** exp(score) over the kept ids (null: all), normalised. */
class Distribution {
  private readonly scores: Float64Array;
  private readonly kept: number[] | null;
  private readonly largest: number;
  private readonly total: number;

  constructor(scores: Float64Array, kept: number[] | null) {
    this.scores = scores;
    this.kept = kept;
    this.largest = scores[kept === null ? indexOfLargest(scores) : kept[0]];
    let total = 0;
    if (kept === null) for (let i = 0; i < scores.length; i++) total += Math.exp(scores[i] - this.largest);
    else for (const id of kept) total += Math.exp(scores[id] - this.largest);
    this.total = total;
  }

  /** The token at u of the cumulative distribution, 0 <= u < 1. */
  pick(u: number): number {
    let left = u * this.total;
    let last = 0;
    const count = this.kept === null ? this.scores.length : this.kept.length;
    for (let i = 0; i < count; i++) {
      const id = this.kept === null ? i : this.kept[i];
      const weight = Math.exp(this.scores[id] - this.largest);
      if (weight === 0) continue;
      last = id;
      left -= weight;
      if (left < 0) return id;
    }
    // Rounding may leave a little beyond the end: it belongs to the last token with any probability.
    return last;
  }

  logprob(id: number): number {
    return this.scores[id] - this.largest - Math.log(this.total);
  }

  top(count: number): { id: number; logprob: number }[] {
    if (count <= 0) return [];
    const best = largestOf(this.scores, count, this.kept ?? undefined);
    return best.map((id) => ({ id, logprob: this.logprob(id) }));
  }
}

function indexOfLargest(scores: Float64Array): number {
  let best = 0;
  for (let i = 1; i < scores.length; i++) if (scores[i] > scores[best]) best = i;
  return best;
}
