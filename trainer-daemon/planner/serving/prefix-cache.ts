/**
 * Keys and values of finished sequences, kept by their tokens, so that a request that goes on where an earlier one
 * ended (the next turn of an episode, the same instructions again) need not compute them again. One policy version's
 * only: keys and values of other weights are of no use.
 */

export interface KeptSequence {
  ids: readonly number[];
  /** As saved by the decoder: [2 * layers, kvHeads, ids.length, headDim]. */
  cache: Float32Array;
}

export class PrefixCache {
  private readonly budget: number;
  /** Least recently used first. */
  private kept: KeptSequence[] = [];
  private used = 0;

  /** @param budget bytes. */
  constructor(budget: number) {
    this.budget = budget;
  }

  get bytes(): number {
    return this.used;
  }

  get size(): number {
    return this.kept.length;
  }

  /** The sequence that shares the longest prefix with `ids`, and how long that is; marks it as used. */
  find(ids: readonly number[]): { sequence: KeptSequence; shared: number } | undefined {
    let best: KeptSequence | undefined;
    let shared = 0;
    for (const sequence of this.kept) {
      const length = commonPrefix(sequence.ids, ids);
      if (length > shared) {
        best = sequence;
        shared = length;
      }
    }
    if (best === undefined) return undefined;
    this.kept.push(...this.kept.splice(this.kept.indexOf(best), 1));
    return { sequence: best, shared };
  }

  /** Whether a kept sequence begins with these tokens. */
  covers(ids: readonly number[]): boolean {
    return this.kept.some((sequence) => commonPrefix(sequence.ids, ids) === ids.length);
  }

  /** Keeps a sequence; those that are prefixes of it go, then the least recently used until the budget is kept. */
  add(sequence: KeptSequence): void {
    if (sequence.cache.byteLength > this.budget) return;
    this.kept = this.kept.filter((other) => commonPrefix(other.ids, sequence.ids) < other.ids.length);
    this.kept.push(sequence);
    this.used = this.kept.reduce((sum, { cache }) => sum + cache.byteLength, 0);
    while (this.used > this.budget) this.used -= this.kept.shift()!.cache.byteLength;
  }

  clear(): void {
    this.kept = [];
    this.used = 0;
  }
}

/** How many leading ids two sequences share. */
export function commonPrefix(a: readonly number[], b: readonly number[]): number {
  const length = Math.min(a.length, b.length);
  let i = 0;
  while (i < length && a[i] === b[i]) i++;
  return i;
}
