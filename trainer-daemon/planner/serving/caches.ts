/**
 * Keys and values of the sequences at work. What all of them begin with (the same instructions, the same tools) lies
 * here once, the shared part; what each goes on with lies in its slot. A cache's layout is [slot, kvHead, position,
 * headDim] with as many positions as the longest sequence needs behind the shared part (the capacity), that of a
 * shared part [kvHead, position, headDim]; one array a layer for keys and one for values.
 */
import * as ort from 'onnxruntime-node';
import type { Architecture } from '../architecture.ts';

/** Capacities are multiples of this. */
const CAPACITY_STEP = 128;

/** Where the caches' tensors are asked for: a batch, or one sequence's own past. */
export type Feeds = Record<string, ort.Tensor>;

export class KeyValueCaches {
  private readonly architecture: Architecture;
  private readonly names: string[];
  private caches: Float32Array[];
  private sharedCaches: Float32Array[];
  private sharedTokens = 0;
  private positions = CAPACITY_STEP;
  /** Caches of the first n slots as tensors, as they lie at present. */
  private readonly views = new Map<number, Feeds>();
  private sharedView: Feeds | undefined;

  constructor(architecture: Architecture) {
    this.architecture = architecture;
    this.names = Array.from({ length: architecture.layers }, (_, l) => [`key.${l}`, `value.${l}`]).flat();
    this.caches = this.names.map(() => new Float32Array(0));
    this.sharedCaches = this.caches;
  }

  /** Bytes of keys and values a token takes. */
  static bytesPerToken(a: Architecture): number {
    return 2 * a.layers * a.kvHeads * a.headDim * 4;
  }

  /** Positions a slot gets when its sequence, or a longer one at work, has this length behind the shared part. */
  static capacityFor(length: number): number {
    return Math.max(1, Math.ceil(length / CAPACITY_STEP)) * CAPACITY_STEP;
  }

  /** How many tokens, from the first, are stored once for all slots. */
  get shared(): number {
    return this.sharedTokens;
  }

  /** Positions of a slot behind the shared part. */
  get capacity(): number {
    return this.positions;
  }

  /**
   * Makes room for the sequences at work, moving what they hold.
   * @param held how many tokens each of the first slots holds, the shared ones included.
   * @param needed the longest sequence that will be worked on before the next call.
   * @param slots how many slots will be used.
   * @param shared how many tokens from now on are stored once: all of `held` begin with the same ones.
   */
  fit(held: number[], needed: number, slots: number, shared: number): void {
    if (shared !== this.sharedTokens) {
      this.share(held, needed, slots, shared);
      return;
    }
    let capacity = KeyValueCaches.capacityFor(needed - shared);
    // Scores are computed for the whole capacity, but moving costs too: shrink only when half is unused.
    if (capacity < this.positions && capacity * 2 > this.positions && held.length > 1) capacity = this.positions;
    const { kvHeads, headDim } = this.architecture;
    const size = slots * kvHeads * capacity * headDim;
    const grown = size > this.caches[0].length;
    if (capacity === this.positions && !grown) return;
    const rows = held.flatMap((length, slot) =>
      Array.from({ length: kvHeads }, (_, head) => ({
        index: slot * kvHeads + head,
        length: (length - shared) * headDim,
      })),
    );
    // In place, growing rows move towards the end, the last first; shrinking ones towards the start, the first first.
    if (capacity > this.positions) rows.reverse();
    this.caches = this.caches.map((cache) => {
      // Some slots more than asked, so that each newcomer does not move the others again.
      const target = grown ? new Float32Array(Math.ceil(size * 1.5)) : cache;
      for (const { index, length } of rows) {
        const from = index * this.positions * headDim;
        const to = index * capacity * headDim;
        if (grown) target.set(cache.subarray(from, from + length), to);
        else target.copyWithin(to, from, from + length);
      }
      return target;
    });
    this.positions = capacity;
    this.views.clear();
  }

  /** {@link fit} with another length of the shared part: everything is laid out anew. */
  private share(held: number[], needed: number, slots: number, shared: number): void {
    if (shared > Math.min(...held, needed))
      throw new RangeError(`${shared} tokens cannot be shared by sequences of ${Math.min(...held, needed)}`);
    const { kvHeads, headDim } = this.architecture;
    const before = this.sharedTokens;
    const capacity = KeyValueCaches.capacityFor(needed - shared);
    const size = Math.max(Math.ceil(slots * 1.5) * kvHeads * capacity * headDim, this.caches[0].length);
    const rows = held.length === 0 ? [] : this.caches.map(() => new Float32Array(kvHeads * shared * headDim));
    /** Positions `from` to `to` of a slot's sequence, wherever they lie now. */
    const move = (
      i: number,
      slot: number,
      head: number,
      from: number,
      to: number,
      target: Float32Array,
      at: number,
    ) => {
      const split = Math.min(Math.max(before, from), to);
      const inShared = head * before * headDim;
      const own = this.rowOf(slot, head) - before * headDim;
      target.set(this.sharedCaches[i].subarray(inShared + from * headDim, inShared + split * headDim), at);
      target.set(this.caches[i].subarray(own + split * headDim, own + to * headDim), at + (split - from) * headDim);
    };
    const caches = this.caches.map((_, i) => {
      const target = new Float32Array(size);
      for (let head = 0; head < kvHeads; head++) {
        if (rows.length > 0) move(i, 0, head, 0, shared, rows[i], head * shared * headDim);
        held.forEach((length, slot) => {
          move(i, slot, head, shared, length, target, (slot * kvHeads + head) * capacity * headDim);
        });
      }
      return target;
    });
    this.caches = caches;
    this.sharedCaches = rows.length > 0 ? rows : caches.map(() => new Float32Array(0));
    this.sharedTokens = shared;
    this.positions = capacity;
    this.views.clear();
    this.sharedView = undefined;
  }

  /** Copies the first `length` tokens' keys and values from one slot to another. */
  copy(from: number, to: number, length: number): void {
    const size = Math.max(0, length - this.sharedTokens) * this.architecture.headDim;
    for (const cache of this.caches) {
      for (let head = 0; head < this.architecture.kvHeads; head++) {
        const source = this.rowOf(from, head);
        cache.copyWithin(this.rowOf(to, head), source, source + size);
      }
    }
  }

  /** The first `length` tokens' keys and values of a slot: [2 * layers, kvHeads, length, headDim]. */
  save(slot: number, length: number): Float32Array {
    const { kvHeads, headDim } = this.architecture;
    const out = new Float32Array(this.caches.length * kvHeads * length * headDim);
    const shared = Math.min(this.sharedTokens, length);
    let offset = 0;
    this.caches.forEach((cache, i) => {
      for (let head = 0; head < kvHeads; head++) {
        const inShared = head * this.sharedTokens * headDim;
        const own = this.rowOf(slot, head);
        out.set(this.sharedCaches[i].subarray(inShared, inShared + shared * headDim), offset);
        out.set(cache.subarray(own, own + (length - shared) * headDim), offset + shared * headDim);
        offset += length * headDim;
      }
    });
    return out;
  }

  /** Puts the first `length` of `saved`'s `savedLength` tokens into a slot; it begins with the shared ones. */
  restore(slot: number, saved: Float32Array, savedLength: number, length: number): void {
    const { kvHeads, headDim } = this.architecture;
    let offset = 0;
    for (const cache of this.caches) {
      for (let head = 0; head < kvHeads; head++) {
        const from = offset + this.sharedTokens * headDim;
        if (length > this.sharedTokens) {
          cache.set(saved.subarray(from, offset + length * headDim), this.rowOf(slot, head));
        }
        offset += savedLength * headDim;
      }
    }
  }

  /** Writes new keys and values [2 * layers, B, kvHeads, length, headDim] behind the tokens the slots hold. */
  append(slots: number[], pasts: number[], length: number, fresh: Float32Array): void {
    const { headDim, kvHeads } = this.architecture;
    const size = length * headDim;
    let from = 0;
    for (const cache of this.caches) {
      for (let b = 0; b < slots.length; b++) {
        for (let head = 0; head < kvHeads; head++) {
          const to = this.rowOf(slots[b], head) + (pasts[b] - this.sharedTokens) * headDim;
          if (length === 1) for (let i = 0; i < size; i++) cache[to + i] = fresh[from + i];
          else cache.set(fresh.subarray(from, from + size), to);
          from += size;
        }
      }
    }
  }

  /** What the graph reads of the shared part. */
  ofShared(): Feeds {
    const { kvHeads, headDim } = this.architecture;
    this.sharedView ??= this.feeds('shared', (i) => [this.sharedCaches[i], [1, kvHeads, this.sharedTokens, headDim]]);
    return this.sharedView;
  }

  /** What the graph reads of the first n slots: their whole capacity. */
  ofFirst(n: number): Feeds {
    let bound = this.views.get(n);
    if (bound === undefined) {
      const { kvHeads, headDim } = this.architecture;
      const size = n * kvHeads * this.positions * headDim;
      bound = this.feeds('past', (i) => [this.caches[i].subarray(0, size), [n, kvHeads, this.positions, headDim]]);
      this.views.set(n, bound);
    }
    return bound;
  }

  /**
   * What the graph reads of one slot, without its unused rest.
   * @param own tokens it holds behind the shared ones.
   * @param positions at least `own`; what is more is 0.
   */
  ofOne(slot: number, own: number, positions: number): Feeds {
    const { kvHeads, headDim } = this.architecture;
    return this.feeds('past', (i) => {
      const compact = new Float32Array(kvHeads * positions * headDim);
      for (let head = 0; head < kvHeads; head++) {
        const from = this.rowOf(slot, head);
        compact.set(this.caches[i].subarray(from, from + own * headDim), head * positions * headDim);
      }
      return [compact, [1, kvHeads, positions, headDim]];
    });
  }

  private feeds(prefix: string, of: (i: number) => [Float32Array, number[]]): Feeds {
    return Object.fromEntries(
      this.names.map((name, i) => {
        const [data, dims] = of(i);
        return [`${prefix}_${name}`, new ort.Tensor('float32', data, dims)];
      }),
    );
  }

  /** Where a slot's own positions of one head begin in a cache. */
  private rowOf(slot: number, head: number): number {
    return (slot * this.architecture.kvHeads + head) * this.positions * this.architecture.headDim;
  }
}
