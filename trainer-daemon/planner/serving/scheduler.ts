/**
 * Continuous batching: requests join and leave between token steps. One prompt at a time is worked off in chunks,
 * beginning behind the longest prefix whose keys and values are still known; then every running response gets its next
 * token in one step. New weights wait until everything that came before them has been answered.
 *
 * In deterministic mode one request is worked on at a time, in chunks that begin at fixed positions, and only whole
 * chunks are taken over from earlier requests: every number is then computed by the same operations on the same shapes,
 * whatever else the server has done, is doing or will do.
 */
import { KeyValueCaches } from './caches.ts';
import type { Decoder } from './decoder.ts';
import { commonPrefix, PrefixCache } from './prefix-cache.ts';
import { type SampledToken, Sampler, type SamplingSettings } from './sampling.ts';

export interface GenerationRequest {
  id: number;
  promptIds: number[];
  /** Tokens to sample at most; the context's end comes first. */
  maxTokens: number;
  sampling: SamplingSettings;
}

export type FinishReason = 'stop' | 'length';

export interface SchedulerEvents {
  /** A response's next token. */
  token(id: number, token: SampledToken, policyVersion: number): void;
  finished(id: number, reason: FinishReason, cachedTokens: number): void;
  /** After each step, when all tokens of the step have been told. */
  stepDone(): void;
}

/** Weights ready to serve. */
export interface ServedModel {
  decoder: Decoder;
  policyVersion: number;
  endTokenIds: number[];
}

export interface SchedulerOptions {
  deterministic: boolean;
  /** Bytes for keys and values of sequences at work: a request waits rather than go beyond (unless it is alone). */
  workBytes: number;
  /** Bytes for keys and values of finished sequences. */
  cacheBytes: number;
}

export interface SchedulerStats {
  requests: number;
  promptTokens: number;
  cachedTokens: number;
  generatedTokens: number;
  /** Token steps taken, and responses in them: their ratio is the mean batch. */
  steps: number;
  stepRows: number;
  /** Of the steps, those that read a beginning common to all their responses once. */
  sharedSteps: number;
  running: number;
  waiting: number;
  cacheBytes: number;
  policyVersion: number;
}

/** Prompt tokens between two token steps. */
const CHUNK = 256;
const DETERMINISTIC_CHUNK = 64;
/** A shorter shared prefix is not worth the copy. */
const SHORTEST_SHARED = 16;
/** What all running sequences share is stored once from this length on, in steps of it: laying it out anew costs, too. */
const SHARED_STEP = 64;
/** With fewer sequences reading a shared part only once saves less than its extra operations cost. */
const FEWEST_SHARING = 3;

interface Sequence {
  request: GenerationRequest;
  sampler: Sampler;
  /** Prompt and response. */
  ids: number[];
  /** Tokens whose keys and values are in the slot. */
  held: number;
  cached: number;
  cancelled: boolean;
}

interface Swap {
  model: Promise<ServedModel>;
  done(): void;
  failed(error: unknown): void;
}

export class Scheduler {
  private model: ServedModel;
  private readonly options: SchedulerOptions;
  private readonly events: SchedulerEvents;
  private readonly cache: PrefixCache;
  private readonly queue: (Sequence | Swap)[] = [];
  /** Responses being sampled; a sequence's place is its slot. */
  private running: Sequence[] = [];
  /** The prompt being worked off, in the slot behind the running ones. */
  private entering: Sequence | undefined;
  private wake: (() => void) | undefined;
  private closed = false;
  private readonly counts = {
    requests: 0,
    promptTokens: 0,
    cachedTokens: 0,
    generatedTokens: 0,
    steps: 0,
    stepRows: 0,
    sharedSteps: 0,
  };

  constructor(model: ServedModel, options: SchedulerOptions, events: SchedulerEvents) {
    this.model = model;
    this.options = options;
    this.events = events;
    this.cache = new PrefixCache(options.cacheBytes);
  }

  add(request: GenerationRequest): void {
    this.counts.requests++;
    const sampler = new Sampler(request.sampling);
    this.queue.push({ request, sampler, ids: [...request.promptIds], held: 0, cached: 0, cancelled: false });
    this.wake?.();
  }

  /** Forgets a request; nothing more is told about it. */
  cancel(id: number): void {
    const waiting = this.queue.findIndex((item) => 'request' in item && item.request.id === id);
    if (waiting >= 0) this.queue.splice(waiting, 1);
    for (const sequence of [...this.running, ...(this.entering ? [this.entering] : [])]) {
      if (sequence.request.id === id) sequence.cancelled = true;
    }
    this.wake?.();
  }

  /**
   * Serves other weights once all requests before this call are answered; later ones wait for it.
   * @param model the weights, possibly still loading; when that fails, the present ones stay and this rejects.
   */
  swap(model: Promise<ServedModel>): Promise<void> {
    // The failure is told when the swap's turn comes.
    model.catch(() => {});
    return new Promise((done, failed) => {
      this.queue.push({ model, done, failed });
      this.wake?.();
    });
  }

  stats(): SchedulerStats {
    return {
      ...this.counts,
      running: this.running.length + (this.entering ? 1 : 0),
      waiting: this.queue.length,
      cacheBytes: this.cache.bytes,
      policyVersion: this.model.policyVersion,
    };
  }

  /** Works until closed. Rejects when the numeric runtime fails. */
  async run(): Promise<void> {
    while (!this.closed) {
      await this.admit();
      if (this.entering) await this.prefillChunk();
      if (this.running.length > 0) await this.step();
      this.events.stepDone();
      if (this.running.length === 0 && !this.entering && this.queue.length === 0 && !this.closed) {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
        this.wake = undefined;
      }
      // Runs block this thread: messages are read here.
      await new Promise((resolve) => setImmediate(resolve));
    }
    await this.model.decoder.release();
  }

  close(): void {
    this.closed = true;
    this.wake?.();
  }

  private get slots(): number {
    return this.options.deterministic ? 1 : this.model.decoder.slots;
  }

  private async admit(): Promise<void> {
    while (!this.entering && this.queue.length > 0) {
      const next = this.queue[0];
      if ('model' in next) {
        if (this.running.length > 0) return;
        await this.exchange(next);
        this.queue.shift();
        continue;
      }
      if (this.running.length >= this.slots || !this.fits(next)) return;
      this.queue.shift();
      this.enter(next);
    }
  }

  private async exchange(swap: Swap): Promise<void> {
    try {
      const model = await swap.model;
      await this.model.decoder.release();
      this.model = model;
      this.cache.clear();
      swap.done();
    } catch (error) {
      swap.failed(error);
    }
  }

  /** Whether another sequence finds room beside the running ones. */
  private fits(sequence: Sequence): boolean {
    if (this.running.length === 0) return true;
    const { architecture } = this.model.decoder;
    const positions = KeyValueCaches.capacityFor(Math.max(sequence.ids.length, ...this.heldTokens()) + 1);
    return (this.running.length + 1) * positions * KeyValueCaches.bytesPerToken(architecture) <= this.options.workBytes;
  }

  private enter(sequence: Sequence): void {
    const { decoder } = this.model;
    const slot = this.running.length;
    const held = this.heldTokens();
    // The last prompt token is always computed: its logits are needed.
    const usable = this.wholeChunks(sequence.ids.length - 1);
    decoder.fit(held, Math.max(sequence.ids.length, ...held) + 1, slot + 1, this.sharedWith(sequence, usable));
    const kept = this.cache.find(sequence.ids);
    const fromKept = Math.min(this.wholeChunks(kept?.shared ?? 0), usable);
    let neighbour = -1;
    let shared = Math.max(fromKept, this.options.deterministic ? 0 : SHORTEST_SHARED - 1);
    this.running.forEach((other, i) => {
      const length = Math.min(commonPrefix(other.ids, sequence.ids), other.held, usable);
      if (length > shared) {
        neighbour = i;
        shared = length;
      }
    });
    if (neighbour >= 0) {
      decoder.copy(neighbour, slot, shared);
      sequence.held = shared;
    } else if (kept && fromKept > 0 && fromKept >= shared) {
      decoder.restore(slot, kept.sequence.cache, kept.sequence.ids.length, fromKept);
      sequence.held = fromKept;
    }
    sequence.cached = sequence.held;
    this.counts.promptTokens += sequence.ids.length;
    this.counts.cachedTokens += sequence.cached;
    this.entering = sequence;
  }

  /** How many tokens are stored once when this sequence enters: at most what it has in common with all running ones. */
  private sharedWith(sequence: Sequence, usable: number): number {
    if (this.running.length === 0 || this.options.deterministic) return 0;
    const common = Math.min(
      usable,
      ...this.running.map((other) => Math.min(other.held, commonPrefix(other.ids, sequence.ids))),
    );
    const whole = common - (common % SHARED_STEP);
    const present = this.model.decoder.shared;
    if (whole <= present) return whole;
    // Longer only when it pays: the next to enter may share less again.
    return this.running.length + 1 >= FEWEST_SHARING && whole - present >= 2 * SHARED_STEP ? whole : present;
  }

  private async prefillChunk(): Promise<void> {
    const sequence = this.entering!;
    if (sequence.cancelled) {
      this.entering = undefined;
      return;
    }
    const chunk = this.options.deterministic ? DETERMINISTIC_CHUNK : CHUNK;
    const end = Math.min(sequence.held + chunk, sequence.ids.length);
    const slot = this.running.length;
    const logits = await this.model.decoder.prefill(slot, sequence.ids.slice(sequence.held, end), sequence.held);
    sequence.held = end;
    if (end < sequence.ids.length) return;
    if (this.options.deterministic) this.keep(sequence, slot, this.wholeChunks(end));
    this.entering = undefined;
    this.running.push(sequence);
    if (this.advance(sequence, logits)) this.leave(sequence);
  }

  private async step(): Promise<void> {
    for (const sequence of [...this.running]) if (sequence.cancelled) this.leave(sequence);
    const batch = [...this.running];
    if (batch.length === 0) return;
    const held = this.heldTokens();
    const { decoder } = this.model;
    decoder.fit(held, Math.max(...held, this.entering?.ids.length ?? 0) + 1, held.length, decoder.shared);
    const logits = await decoder.step(
      batch.map(({ ids }) => ids[ids.length - 1]),
      batch.map((sequence) => sequence.held),
    );
    this.counts.steps++;
    this.counts.stepRows += batch.length;
    if (decoder.shared > 0) this.counts.sharedSteps++;
    const vocabulary = logits.length / batch.length;
    const leaving = batch.filter((sequence, i) => {
      sequence.held++;
      return this.advance(sequence, logits.subarray(i * vocabulary, (i + 1) * vocabulary));
    });
    for (const sequence of leaving) this.leave(sequence);
  }

  /** Samples a sequence's next token; true when that was its last. */
  private advance(sequence: Sequence, logits: Float32Array): boolean {
    const { request, sampler } = sequence;
    const token = sampler.sample(logits);
    sequence.ids.push(token.id);
    this.counts.generatedTokens++;
    this.events.token(request.id, token, this.model.policyVersion);
    const given = sequence.ids.length - request.promptIds.length;
    const stopped = this.model.endTokenIds.includes(token.id);
    if (!stopped && given < request.maxTokens && sequence.ids.length < this.model.decoder.context) return false;
    this.events.finished(request.id, stopped ? 'stop' : 'length', sequence.cached);
    return true;
  }

  /** Frees a sequence's slot: the last running one moves there, and the entering one follows. */
  private leave(sequence: Sequence): void {
    const { decoder } = this.model;
    const slot = this.running.indexOf(sequence);
    const last = this.running.length - 1;
    if (!this.options.deterministic) this.keep(sequence, slot, sequence.held);
    if (slot !== last) {
      decoder.copy(last, slot, this.running[last].held);
      this.running[slot] = this.running[last];
    }
    this.running.pop();
    if (this.entering) decoder.copy(last + 1, last, this.entering.held);
  }

  private keep(sequence: Sequence, slot: number, length: number): void {
    const ids = sequence.ids.slice(0, length);
    if (length < SHORTEST_SHARED || this.cache.covers(ids)) return;
    this.cache.add({ ids, cache: this.model.decoder.save(slot, length) });
  }

  private heldTokens(): number[] {
    const held = this.running.map((sequence) => sequence.held);
    if (this.entering) held.push(this.entering.held);
    return held;
  }

  /** In deterministic mode, the part of a length that is whole chunks. */
  private wholeChunks(length: number): number {
    return this.options.deterministic ? length - (length % DETERMINISTIC_CHUNK) : length;
  }
}
