/** Runs the decode graph over the slots of {@link KeyValueCaches}: prompts in chunks, and a token for each sequence. */
import * as ort from 'onnxruntime-node';
import type { Architecture, PlannerWeights } from '../architecture.ts';
import { KeyValueCaches } from './caches.ts';
import { decodeGraph, WEIGHTS_PATH } from './decode-graph.ts';

export interface DecoderOptions {
  /** Slots: sequences that can be worked on at a time. */
  slots: number;
  /** Longest sequence. */
  context: number;
  /** Threads of the numeric runtime. */
  threads: number;
}

/** Added to the score of a position that must not be seen; e^-1e30 is 0 exactly. */
const HIDDEN = -1e30;

export class Decoder {
  readonly architecture: Architecture;
  readonly slots: number;
  readonly context: number;
  private readonly session: ort.InferenceSession;
  private readonly caches: KeyValueCaches;
  private readonly causalMasks = new Map<number, ort.Tensor>();

  private constructor(architecture: Architecture, options: DecoderOptions, session: ort.InferenceSession) {
    this.architecture = architecture;
    this.slots = options.slots;
    this.context = options.context;
    this.session = session;
    this.caches = new KeyValueCaches(architecture);
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

  /** How many tokens, from the first, all sequences at work have in common and store once. */
  get shared(): number {
    return this.caches.shared;
  }

  /**
   * Makes room for the sequences at work.
   * @param held how many tokens each of the first slots holds.
   * @param needed the longest sequence that will be worked on before the next call.
   * @param slots how many slots will be used.
   * @param shared how many tokens to store once: all sequences at work begin with the same ones.
   * @throws RangeError when a sequence would be longer than the context.
   */
  fit(held: number[], needed: number, slots = this.slots, shared = 0): void {
    this.checkRoom(needed);
    this.caches.fit(held, needed, slots, shared);
  }

  /**
   * Feeds tokens of one sequence behind the `past` tokens its slot holds, the shared ones among them.
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
    const own = past - this.shared;
    if (own < 0) throw new RangeError(`slot ${slot} begins behind ${past} tokens, but ${this.shared} are shared`);
    const wanted = rows === 'last' ? [length - 1] : Array.from({ length }, (_, i) => i);
    // One hidden position stands for an empty past.
    const positions = Math.max(own, 1);
    const mask = new Float32Array(positions);
    if (own === 0) mask[0] = HIDDEN;
    const result = await this.session.run({
      ...this.caches.ofShared(),
      ...this.caches.ofOne(slot, own, positions),
      ...this.shapes(1, length, positions),
      ids: new ort.Tensor('int32', Int32Array.from(ids), [1, length]),
      positions: new ort.Tensor(
        'int64',
        BigInt64Array.from({ length }, (_, i) => BigInt(past + i)),
        [1, length],
      ),
      rows: new ort.Tensor('int32', Int32Array.from(wanted), [wanted.length]),
      past_mask: new ort.Tensor('float32', mask, [1, 1, 1, positions]),
      new_mask: this.causalMask(length),
    });
    this.caches.append([slot], [past], length, result.new.data as Float32Array);
    return result.logits.data as Float32Array;
  }

  /**
   * Feeds one token to each of the first n slots.
   * @param tokens n tokens.
   * @param pasts how many tokens each slot holds already, the shared ones among them.
   * @returns logits [n, vocabulary].
   */
  async step(tokens: number[], pasts: number[]): Promise<Float32Array> {
    const n = tokens.length;
    const { capacity, shared } = this.caches;
    const mask = new Float32Array(n * capacity);
    pasts.forEach((past, i) => {
      const own = past - shared;
      if (own >= capacity) throw new RangeError(`slot ${i} holds ${past} tokens and has no room for another`);
      mask.fill(HIDDEN, i * capacity + own, (i + 1) * capacity);
    });
    const result = await this.session.run({
      ...this.caches.ofShared(),
      ...this.caches.ofFirst(n),
      ...this.shapes(n, 1, capacity),
      ids: new ort.Tensor('int32', Int32Array.from(tokens), [n, 1]),
      positions: new ort.Tensor('int64', BigInt64Array.from(pasts, BigInt), [n, 1]),
      rows: new ort.Tensor(
        'int32',
        Int32Array.from({ length: n }, (_, i) => i),
        [n],
      ),
      past_mask: new ort.Tensor('float32', mask, [n, 1, 1, capacity]),
      new_mask: this.causalMask(1),
    });
    this.caches.append(
      pasts.map((_, slot) => slot),
      pasts,
      1,
      result.new.data as Float32Array,
    );
    return result.logits.data as Float32Array;
  }

  /** Copies the first `length` tokens' keys and values from one slot to another. */
  copy(from: number, to: number, length: number): void {
    this.caches.copy(from, to, length);
  }

  /** The first `length` tokens' keys and values of a slot: [2 * layers, kvHeads, length, headDim]. */
  save(slot: number, length: number): Float32Array {
    return this.caches.save(slot, length);
  }

  /** Puts the first `length` of `saved`'s `savedLength` tokens into a slot; they begin with the shared ones. */
  restore(slot: number, saved: Float32Array, savedLength: number, length: number): void {
    this.caches.restore(slot, saved, savedLength, length);
  }

  async release(): Promise<void> {
    await this.session.release();
  }

  /** The shapes that the graph is told, of B sequences with S new tokens each. */
  private shapes(sequences: number, length: number, positions: number): Record<string, ort.Tensor> {
    const { heads, kvHeads, headDim } = this.architecture;
    const shared = this.shared;
    const rows = (heads / kvHeads) * length;
    const vector = (...sizes: number[]) => new ort.Tensor('int64', BigInt64Array.from(sizes, BigInt), [sizes.length]);
    return {
      parts: vector(shared, positions, length),
      by_sequence: vector(kvHeads, sequences, rows, shared),
      together: vector(1, kvHeads, sequences * rows, shared),
      mixed: vector(kvHeads, sequences, rows, headDim),
    };
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
