/**
 * The numeric core of the ONNX trainer: one set of weights, its AdamW moments, and the sessions that compute
 * log-probabilities and gradients. Calls block the thread while the runtime computes (index.ts puts it in a worker).
 *
 * Determinism: with the same weights, inputs, options and thread count, on the same machine and package version, every
 * result has the same bits: rows, micro-batches and all sums on this side have a fixed order, and the runtime splits its
 * work by the thread count alone. Another thread count, machine or micro-batch size changes results by rounding.
 */

import { type InferenceSession, Tensor } from 'onnxruntime-node';
import { newRunAdvice } from '../../../protocol/new-run.ts';
import { type PlannerWeights, tensorSpecs } from '../../planner/architecture.ts';
import {
  type OptimizerOptions,
  type RlItem,
  type RlLossOptions,
  type RlStepResult,
  type StepResult,
  TrainerError,
  type TrainingSequence,
} from '../contract.ts';
import { type AdamState, adamWStep, globalNorm, type Range } from './adamw.ts';
import {
  checkOptimizer,
  checkPromptLossWeight,
  checkRlItems,
  checkRlLoss,
  checkSequences,
  trainedTensors,
} from './checks.ts';
import { type Device, sessionOptions } from './device.ts';
import { EMBEDDING } from './graph/decoder-graph.ts';
import { geometryFeeds, positionsFeed, type RowLength } from './graph/geometry.ts';
import type { OperatorSet } from './graph/tape.ts';
import { type LossFactors, meanLoss, rlFactors, rlStatistics, sftFactors } from './loss-factors.ts';
import { type MicroBatch, packMicroBatches } from './micro-batches.ts';
import { mergeIntoRows, type Row, separateRows, withPrompts } from './rows.ts';
import { SessionPool } from './sessions.ts';

export interface EngineOptions {
  device: Device;
  threads: number;
  /** Padded tokens of one micro-batch at most. */
  microBatchTokens?: number;
  freeze?: readonly string[];
  /** Default: fused on the CPU, portable elsewhere. */
  operators?: OperatorSet;
  /** False computes every sequence in a row of its own. */
  mergePrefixes?: boolean;
}

/** Loss, and one array an item: log p, and 1 where the RL gradient flows. The gradients are the engine's. */
interface GradientPass {
  loss: number;
  logprobs: Float32Array[];
  inside: Float32Array[];
}

const MICRO_BATCH_TOKENS = 2048;
/** Scoring keeps no activations. */
const SCORING_FACTOR = 2;
/** Elements of [targets, vocabulary] at most: 64 MiB each. */
const MOST_LOGITS = 1 << 24;

export class OnnxEngine {
  readonly weights: PlannerWeights;
  readonly state: AdamState;
  readonly device: Device;
  private readonly pool: SessionPool;
  private readonly merge: boolean;
  private readonly operators: OperatorSet;
  private readonly microBatchTokens: number;
  private readonly trained: { names: Set<string>; ranges: Range[] };
  /** Gradients of one micro-batch, and of the micro-batches so far. */
  private readonly partial: Float32Array<ArrayBuffer>;
  private readonly gradients: Float32Array<ArrayBuffer>;
  private readonly weightFeeds: Record<string, Tensor> = {};
  private readonly gradientFetches: Record<string, Tensor> = {};
  private readonly geometries = new Map<number, Record<string, Tensor>>();

  /**
   * Takes ownership of weights and state: both change in place.
   * @throws TrainerError when `freeze` matches nothing or everything
   */
  constructor(weights: PlannerWeights, state: AdamState, options: EngineOptions) {
    const a = weights.architecture;
    this.weights = weights;
    this.state = state;
    this.device = options.device;
    this.operators = options.operators ?? (options.device === 'cpu' ? 'fused' : 'portable');
    this.merge = options.mergePrefixes ?? true;
    this.microBatchTokens = options.microBatchTokens ?? MICRO_BATCH_TOKENS;
    for (const [name, value] of Object.entries({ microBatchTokens: this.microBatchTokens, threads: options.threads })) {
      if (!(Number.isInteger(value) && value >= 1)) {
        throw new TrainerError(`${name} is ${value}; it must be a whole number from 1`);
      }
    }
    this.trained = trainedTensors(a, options.freeze ?? []);
    this.pool = new SessionPool(a, this.operators, this.trained.names, sessionOptions(options.device, options.threads));
    this.partial = new Float32Array(weights.flat.length);
    this.gradients = new Float32Array(weights.flat.length);
    for (const { name, shape, offset, size } of tensorSpecs(a)) {
      this.weightFeeds[name] = new Tensor('float32', weights.flat.subarray(offset, offset + size), shape);
      const isOutput = this.trained.names.has(name) && (name !== EMBEDDING || a.tiedEmbeddings);
      if (isOutput) {
        this.gradientFetches[`d.${name}`] = new Tensor('float32', this.partial.subarray(offset, offset + size), shape);
      }
    }
  }

  /** log p of every response token. One array a sequence. */
  async score(
    sequences: readonly TrainingSequence[],
    onProgress?: (done: number, total: number) => void,
  ): Promise<Float32Array[]> {
    if (sequences.length === 0) return [];
    checkSequences(this.weights.architecture, sequences);
    const logprobs = emptyLike(sequences);
    const left = sequences.map((s) => s.responseTokenIds.length);
    let done = 0;
    for (const batch of this.pack(this.rowsOf(sequences), SCORING_FACTOR * this.microBatchTokens)) {
      const session = await this.pool.get('score', batch.size.chunks);
      const out = await session.run(this.inputFeeds(batch));
      scatter(batch, out.logprobs.data as Float32Array, logprobs);
      for (const item of batch.targets.item) if (--left[item] === 0) done++;
      onProgress?.(done, sequences.length);
    }
    return logprobs;
  }

  async sftStep(
    items: readonly TrainingSequence[],
    optimizer: OptimizerOptions,
    promptLossWeight = 0,
  ): Promise<StepResult> {
    const started = performance.now();
    checkOptimizer(optimizer);
    const { loss } = await this.sftGradients(items, promptLossWeight);
    const gradNorm = this.update(loss, optimizer);
    const tokens = items.reduce((n, item) => n + item.responseTokenIds.length, 0);
    return { loss, gradNorm, tokens, seconds: (performance.now() - started) / 1000 };
  }

  async rlStep(
    items: readonly RlItem[],
    lossOptions: RlLossOptions,
    optimizer: OptimizerOptions,
  ): Promise<RlStepResult> {
    const started = performance.now();
    checkOptimizer(optimizer);
    const { loss, logprobs, inside } = await this.rlGradients(items, lossOptions);
    const gradNorm = this.update(loss, optimizer);
    const statistics = rlStatistics(items, lossOptions, logprobs, inside);
    return { loss, gradNorm, ...statistics, seconds: (performance.now() - started) / 1000 };
  }

  /**
   * Loss and log-probs of eq. 3; afterwards {@link gradientsOfLastPass} holds its gradients, and with them those of the
   * weighted mean loss over what the responses answer.
   */
  async sftGradients(items: readonly TrainingSequence[], promptLossWeight = 0): Promise<GradientPass> {
    checkSequences(this.weights.architecture, items);
    checkPromptLossWeight(promptLossWeight);
    if (promptLossWeight === 0) return this.gradientPass(items, sftFactors(items));
    const { rows, prompts } = withPrompts(mergeIntoRows(items), items.length);
    const all = [...items, ...prompts];
    const factors = [...sftFactors(items), ...sftFactors(prompts, promptLossWeight)];
    const pass = await this.gradientPass(all, factors, this.merge ? rows : separateRows(all));
    const logprobs = pass.logprobs.slice(0, items.length);
    return { loss: meanLoss(logprobs), logprobs, inside: pass.inside.slice(0, items.length) };
  }

  /** Loss of eq. 5-7; afterwards {@link gradientsOfLastPass} holds its gradients. */
  async rlGradients(items: readonly RlItem[], options: RlLossOptions): Promise<GradientPass> {
    checkSequences(this.weights.architecture, items);
    checkRlItems(items);
    checkRlLoss(options);
    return this.gradientPass(items, rlFactors(items, options));
  }

  /** In the order of the flat parameter array; zero for frozen tensors. Before clipping. */
  get gradientsOfLastPass(): Float32Array {
    return this.gradients;
  }

  async close(): Promise<void> {
    await this.pool.release();
  }

  private rowsOf(sequences: readonly TrainingSequence[]): Row[] {
    return this.merge ? mergeIntoRows(sequences) : separateRows(sequences);
  }

  private pack(rows: readonly Row[], tokens: number): MicroBatch[] {
    const targets = Math.max(1, Math.floor(MOST_LOGITS / this.weights.architecture.vocabulary));
    return packMicroBatches(rows, { tokens, targets });
  }

  private async gradientPass(
    items: readonly TrainingSequence[],
    factors: readonly LossFactors[],
    rows = this.rowsOf(items),
  ): Promise<GradientPass> {
    const pass: GradientPass = { loss: 0, logprobs: emptyLike(items), inside: emptyLike(items) };
    this.gradients.fill(0);
    for (const batch of this.pack(rows, this.microBatchTokens)) {
      const session = await this.pool.get('train', batch.size.chunks);
      const feeds = { ...this.inputFeeds(batch), ...lossFeeds(batch, factors) };
      const out = await this.runTraining(session, feeds);
      pass.loss += (out.loss.data as Float32Array)[0];
      scatter(batch, out.logprobs.data as Float32Array, pass.logprobs);
      scatter(batch, out.inside.data as Float32Array, pass.inside);
      const { gradients, partial } = this;
      for (const { begin, end } of this.trained.ranges) {
        for (let i = begin; i < end; i++) gradients[i] += partial[i];
      }
      if (out['d.embedded'] !== undefined) this.addEmbedded(batch, out['d.embedded'].data as Float32Array);
    }
    return pass;
  }

  /** Runs with the weight gradients written into {@link partial}. */
  private async runTraining(session: InferenceSession, feeds: Record<string, Tensor>) {
    const others = session.outputNames.filter((name) => this.gradientFetches[name] === undefined);
    if (this.device === 'cpu') {
      return session.run(feeds, { ...this.gradientFetches, ...Object.fromEntries(others.map((name) => [name, null])) });
    }
    const out = await session.run(feeds);
    for (const [name, target] of Object.entries(this.gradientFetches)) {
      (target.data as Float32Array).set(out[name].data as Float32Array);
    }
    return out;
  }

  /** Scatter-add of the embedded tokens' gradients; padding has none. */
  private addEmbedded(batch: MicroBatch, gradient: Float32Array): void {
    const { hidden } = this.weights.architecture;
    const { offset } = tensorSpecs(this.weights.architecture).find((s) => s.name === EMBEDDING)!;
    batch.used.forEach((used, row) => {
      for (let t = row * batch.size.length, last = t + used; t < last; t++) {
        const target = offset + batch.ids[t] * hidden;
        for (let h = 0; h < hidden; h++) this.gradients[target + h] += gradient[t * hidden + h];
      }
    });
  }

  /** Clips, takes the AdamW step, returns the gradient norm. */
  private update(loss: number, optimizer: OptimizerOptions): number {
    const { ranges } = this.trained;
    const norm = globalNorm(this.gradients, ranges);
    if (!Number.isFinite(loss) || !Number.isFinite(norm)) {
      throw new TrainerError(
        `the loss is ${loss} and the gradient norm ${norm} at step ${this.state.steps + 1}: the weights were left as they are. ${newRunAdvice('Lower the learning rate (usual are 1e-6 to 1e-4 for a trained planner, 1e-4 to 4e-3 for a small fresh one)')}`,
      );
    }
    adamWStep(this.weights.flat, this.gradients, this.state, ranges, norm, optimizer);
    return norm;
  }

  private inputFeeds(batch: MicroBatch): Record<string, Tensor> {
    const { ids, targets, rows, size } = batch;
    const count = targets.id.length;
    return {
      ...this.weightFeeds,
      ...this.geometry(size),
      ...(this.operators === 'fused' ? { positions: positionsFeed(rows, size.length) } : {}),
      ids: new Tensor('int32', ids, [ids.length]),
      targetPositions: new Tensor('int32', targets.position, [count]),
      targetIds: new Tensor('int32', targets.id, [count, 1]),
    };
  }

  private geometry(size: RowLength): Record<string, Tensor> {
    let feeds = this.geometries.get(size.length);
    if (feeds === undefined) {
      // Masks of long rows take megabytes: a few lengths are enough.
      if (this.geometries.size >= 8) this.geometries.clear();
      feeds = geometryFeeds(this.weights.architecture, size);
      this.geometries.set(size.length, feeds);
    }
    return feeds;
  }
}

function emptyLike(sequences: readonly TrainingSequence[]): Float32Array[] {
  return sequences.map((s) => new Float32Array(s.responseTokenIds.length));
}

/** Puts a value of every target of the micro-batch in its item's array. */
function scatter({ targets }: MicroBatch, values: Float32Array, into: Float32Array[]): void {
  for (let n = 0; n < values.length; n++) into[targets.item[n]][targets.index[n]] = values[n];
}

function lossFeeds({ ids, targets }: MicroBatch, factors: readonly LossFactors[]): Record<string, Tensor> {
  const count = targets.id.length;
  const column = (value: (factors: LossFactors, index: number) => number) =>
    new Tensor(
      'float32',
      Float32Array.from({ length: count }, (_, n) => value(factors[targets.item[n]], targets.index[n])),
      [count, 1],
    );
  const targetOf = new Int32Array(ids.length).fill(count);
  targets.position.forEach((position, n) => {
    targetOf[position] = n;
  });
  return {
    targetOf: new Tensor('int32', targetOf, [ids.length]),
    supervised: column((f) => f.supervised),
    weighted: column((f, t) => f.weighted?.[t] ?? 0),
    oldLogprobs: column((f, t) => f.oldLogprobs?.[t] ?? 0),
    lower: column((f) => f.lower),
    upper: column((f) => f.upper),
  };
}
