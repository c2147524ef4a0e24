/**
 * Runs the decode graph over a fixed number of slots, each with room for one sequence's keys and values. Sequences that
 * take part in a step lie in the first slots. A cache's layout is [slot, kvHead, position, headDim] with as many
 * positions as the longest sequence at work needs (the capacity); one array a layer for keys and one for values.
 */
import * as ort from 'onnxruntime-node';
import type { Architecture, PlannerWeights } from '../architecture.ts';
import { decodeGraph, WEIGHTS_PATH } from './decode-graph.ts';

export interface DecoderOptions {
  /** Slots: sequences that can be worked on at a time. */
  slots: number;
  /** Longest sequence. */
  context: number;
  /** Threads of the numeric runtime. */
  threads: number;
}

/** Capacities are multiples of this. */
const CAPACITY_STEP = 128;
/** Added to the score of a position that must not be seen; e^-1e30 is 0 exactly. */
const HIDDEN = -1e30;

export class Decoder {
  readonly architecture: Architecture;
  readonly slots: number;
  readonly context: number;
  private readonly session: ort.InferenceSession;
  private caches: Float32Array[];
  private readonly cacheNames: string[];
  private capacity = CAPACITY_STEP;
  /** Caches of the first n slots as tensors, at the present capacity. */
  private readonly views = new Map<number, Record<string, ort.Tensor>>();
  private readonly causalMasks = new Map<number, ort.Tensor>();

  private constructor(architecture: Architecture, options: DecoderOptions, session: ort.InferenceSession) {
    this.architecture = architecture;
    this.slots = options.slots;
    this.context = options.context;
    this.session = session;
    this.cacheNames = Array.from({ length: architecture.layers }, (_, l) => [
      `past_key.${l}`,
      `past_value.${l}`,
    ]).flat();
    this.caches = this.cacheNames.map(() => new Float32Array(0));
  }

  /** Loads weights into a new session (they are copied). */
  static async create(weights: PlannerWeights, options: DecoderOptions): Promise<Decoder> {
    const { architecture, flat } = weights;
    const session = await ort.InferenceSession.create(decodeGraph(architecture, options.context), {
      intraOpNumThreads: options.threads,
      logSeverityLevel: 3,
      // Shapes change at every call; planned memory would only grow.
      enableMemPattern: false,
      externalData: [{ path: WEIGHTS_PATH, data: new Uint8Array(flat.buffer, flat.byteOffset, flat.byteLength) }],
    });
    return new Decoder(architecture, options, session);
  }

  /** Bytes of keys and values a token takes. */
  static bytesPerToken(a: Architecture): number {
    return 2 * a.layers * a.kvHeads * a.headDim * 4;
  }

  /** Positions a slot gets when its sequence, or a longer one at work, has this length. */
  static capacityFor(length: number): number {
    return Math.max(1, Math.ceil(length / CAPACITY_STEP)) * CAPACITY_STEP;
  }

  /**
   * Makes room for the sequences at work, moving what they hold.
   * @param held how many tokens each of the first slots holds.
   * @param needed the longest sequence that will be worked on before the next call.
   * @param slots how many slots will be used.
   */
  fit(held: number[], needed: number, slots = this.slots): void {
    this.checkRoom(needed);
    let capacity = Decoder.capacityFor(needed);
    // Scores are computed for the whole capacity, but moving costs too: shrink only when half is unused.
    if (capacity < this.capacity && capacity * 2 > this.capacity && held.length > 1) capacity = this.capacity;
    const { kvHeads, headDim } = this.architecture;
    const size = slots * kvHeads * capacity * headDim;
    const grown = size > this.caches[0].length;
    if (capacity === this.capacity && !grown) return;
    const rows = held.flatMap((length, slot) =>
      Array.from({ length: kvHeads }, (_, head) => ({ index: slot * kvHeads + head, length: length * headDim })),
    );
    // In place, growing rows move towards the end, the last first; shrinking ones towards the start, the first first.
    if (capacity > this.capacity) rows.reverse();
    this.caches = this.caches.map((cache) => {
      // Some slots more than asked, so that each newcomer does not move the others again.
      const target = grown ? new Float32Array(Math.ceil(size * 1.5)) : cache;
      for (const { index, length } of rows) {
        const from = index * this.capacity * headDim;
        const to = index * capacity * headDim;
        if (grown) target.set(cache.subarray(from, from + length), to);
        else target.copyWithin(to, from, from + length);
      }
      return target;
    });
    this.capacity = capacity;
    this.views.clear();
  }

  /**
   * Feeds tokens of one sequence behind the `past` tokens its slot holds.
   * @param rows 'last': logits of the last token, [1, vocabulary]; 'all': of every token, [ids.length, vocabulary].
   */
  async prefill(
    slot: number,
    ids: ArrayLike<number>,
    past: number,
    rows: 'last' | 'all' = 'last',
  ): Promise<Float32Array> {
    const length = ids.length;
    this.checkRoom(past + length);
    const wanted = rows === 'last' ? [length - 1] : Array.from({ length }, (_, i) => i);
    // A sequence's own past, without the unused rest of its slot; one hidden position stands for an empty past.
    const positions = Math.max(past, 1);
    const { kvHeads, headDim } = this.architecture;
    const cachesOf: Record<string, ort.Tensor> = {};
    this.cacheNames.forEach((name, i) => {
      const compact = new Float32Array(kvHeads * positions * headDim);
      for (let head = 0; head < kvHeads; head++) {
        const from = (slot * kvHeads + head) * this.capacity * headDim;
        compact.set(this.caches[i].subarray(from, from + past * headDim), head * positions * headDim);
      }
      cachesOf[name] = new ort.Tensor('float32', compact, [1, kvHeads, positions, headDim]);
    });
    const mask = new Float32Array(positions);
    if (past === 0) mask[0] = HIDDEN;
    const result = await this.session.run({
      ...cachesOf,
      ids: new ort.Tensor('int32', Int32Array.from(ids), [1, length]),
      positions: new ort.Tensor(
        'int64',
        BigInt64Array.from({ length }, (_, i) => BigInt(past + i)),
        [1, length],
      ),
      rows: new ort.Tensor('int32', Int32Array.from(wanted), [wanted.length]),
      past_mask: new ort.Tensor('float32', mask, [1, 1, 1, positions]),
      new_mask: this.causalMask(length),
      parts: new ort.Tensor('int64', BigInt64Array.of(BigInt(positions), BigInt(length)), [2]),
    });
    this.append([slot], [past], length, result.new.data as Float32Array);
    return result.logits.data as Float32Array;
  }

  /**
   * Feeds one token to each of the first n slots.
   * @param tokens n tokens.
   * @param pasts how many tokens each slot holds already.
   * @returns logits [n, vocabulary].
   */
  async step(tokens: number[], pasts: number[]): Promise<Float32Array> {
    const n = tokens.length;
    const mask = new Float32Array(n * this.capacity);
    pasts.forEach((past, i) => {
      if (past >= this.capacity) throw new RangeError(`slot ${i} holds ${past} tokens and has no room for another`);
      mask.fill(HIDDEN, i * this.capacity + past, (i + 1) * this.capacity);
    });
    const result = await this.session.run({
      ...this.firstSlots(n),
      ids: new ort.Tensor('int32', Int32Array.from(tokens), [n, 1]),
      positions: new ort.Tensor('int64', BigInt64Array.from(pasts, BigInt), [n, 1]),
      rows: new ort.Tensor(
        'int32',
        Int32Array.from({ length: n }, (_, i) => i),
        [n],
      ),
      past_mask: new ort.Tensor('float32', mask, [n, 1, 1, this.capacity]),
      new_mask: this.causalMask(1),
      parts: new ort.Tensor('int64', BigInt64Array.of(BigInt(this.capacity), 1n), [2]),
    });
    this.append(
      pasts.map((_, slot) => slot),
      pasts,
      1,
      result.new.data as Float32Array,
    );
    return result.logits.data as Float32Array;
  }

  /** Copies the first `length` tokens' keys and values from one slot to another. */
  copy(from: number, to: number, length: number): void {
    this.eachRow((cache, head, headDim) => {
      const source = this.rowOf(from, head);
      cache.copyWithin(this.rowOf(to, head), source, source + length * headDim);
    });
  }

  /** The first `length` tokens' keys and values of a slot: [2 * layers, kvHeads, length, headDim]. */
  save(slot: number, length: number): Float32Array {
    const out = new Float32Array(this.caches.length * this.architecture.kvHeads * length * this.architecture.headDim);
    let offset = 0;
    this.eachRow((cache, head, headDim) => {
      const source = this.rowOf(slot, head);
      out.set(cache.subarray(source, source + length * headDim), offset);
      offset += length * headDim;
    });
    return out;
  }

  /** Puts the first `length` of `saved`'s `savedLength` tokens into a slot. */
  restore(slot: number, saved: Float32Array, savedLength: number, length: number): void {
    let offset = 0;
    this.eachRow((cache, head, headDim) => {
      cache.set(saved.subarray(offset, offset + length * headDim), this.rowOf(slot, head));
      offset += savedLength * headDim;
    });
  }

  async release(): Promise<void> {
    await this.session.release();
  }

  /** Where a slot's positions of one head begin in a cache. */
  private rowOf(slot: number, head: number): number {
    return (slot * this.architecture.kvHeads + head) * this.capacity * this.architecture.headDim;
  }

  private eachRow(visit: (cache: Float32Array, head: number, headDim: number) => void): void {
    for (const cache of this.caches) {
      for (let head = 0; head < this.architecture.kvHeads; head++) visit(cache, head, this.architecture.headDim);
    }
  }

  /** Writes new keys and values [2 * layers, B, kvHeads, length, headDim] behind what the slots hold. */
  private append(slots: number[], pasts: number[], length: number, fresh: Float32Array): void {
    const { headDim, kvHeads } = this.architecture;
    const size = length * headDim;
    let from = 0;
    for (const cache of this.caches) {
      for (let b = 0; b < slots.length; b++) {
        for (let head = 0; head < kvHeads; head++) {
          const to = this.rowOf(slots[b], head) + pasts[b] * headDim;
          if (length === 1) for (let i = 0; i < size; i++) cache[to + i] = fresh[from + i];
          else cache.set(fresh.subarray(from, from + size), to);
          from += size;
        }
      }
    }
  }

  private firstSlots(n: number): Record<string, ort.Tensor> {
    let bound = this.views.get(n);
    if (bound === undefined) {
      bound = {};
      const { kvHeads, headDim } = this.architecture;
      for (let i = 0; i < this.caches.length; i++) {
        const view = this.caches[i].subarray(0, n * kvHeads * this.capacity * headDim);
        bound[this.cacheNames[i]] = new ort.Tensor('float32', view, [n, kvHeads, this.capacity, headDim]);
      }
      this.views.set(n, bound);
    }
    return bound;
  }

  /** [G * S, S]: token i sees new tokens up to itself, in each of the G heads of a group. */
  private causalMask(length: number): ort.Tensor {
    let mask = this.causalMasks.get(length);
    if (mask === undefined) {
      const group = this.architecture.heads / this.architecture.kvHeads;
      const data = new Float32Array(group * length * length);
      for (let row = 0; row < group * length; row++) {
        data.fill(HIDDEN, row * length + (row % length) + 1, (row + 1) * length);
      }
      mask = new ort.Tensor('float32', data, [group * length, length]);
      if (this.causalMasks.size >= 16) this.causalMasks.clear();
      this.causalMasks.set(length, mask);
    }
    return mask;
  }

  private checkRoom(length: number): void {
    if (length > this.context) throw new RangeError(`a sequence of ${length} tokens; the slots hold ${this.context}`);
  }
}
