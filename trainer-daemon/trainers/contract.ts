/**
 * What every training engine offers. An engine holds one set of weights and its optimizer state; the same conformance
 * suite holds all engines to the same losses, gradients and log-probs.
 */

/** A context and the response that was given to it. */
export interface TrainingSequence {
  promptTokenIds: ArrayLike<number>;
  /** Supervised tokens, the end token included. */
  responseTokenIds: ArrayLike<number>;
}

/** One selected response with what eq. 5-7 need. Arrays have the response's length. */
export interface RlItem extends TrainingSequence {
  /** log b: recorded by the server. */
  behaviourLogprobs: ArrayLike<number>;
  /** log q: recomputed by the trainer under the round's starting weights. */
  oldLogprobs: ArrayLike<number>;
  /** A, eq. 4. */
  advantage: number;
  /** u = 1 / K. */
  u: number;
}

export interface OptimizerOptions {
  learningRate: number;
  betas: [number, number];
  epsilon: number;
  weightDecay: number;
  /** Global gradient norm; gradients above it are scaled down. */
  clipNorm: number;
}

export interface RlLossOptions {
  /** epsilon-minus, epsilon-plus and d of eq. 7. */
  clip: { low: number; high: number; dual: number };
  /** C of eq. 6. */
  importanceCap: number;
}

export interface StepResult {
  loss: number;
  /** Before clipping. */
  gradNorm: number;
  /** Supervised or response tokens in the batch. */
  tokens: number;
  seconds: number;
}

export interface RlStepResult extends StepResult {
  /** log p of every response token at this step, before the update. One array an item. */
  logprobs: Float32Array[];
  /** w of eq. 6, one array an item. */
  importanceWeights: Float32Array[];
  /**
   * Which branch of eq. 7 each token took: 0 = none (the gradient flows), 1 = clipped low (rho < 1 - e_low, A < 0),
   * 2 = clipped high (rho > 1 + e_high, A > 0), 3 = dual-clipped (A < 0, rho > d).
   */
  clipped: Uint8Array[];
  clipFractions: { low: number; high: number; dual: number };
  importance: { mean: number; cappedShare: number };
  /** Mean of (rho - 1) - log rho over the tokens: an estimate of KL(q || p). */
  approximateKl: number;
  responseLength: { mean: number; max: number };
}

export interface Trainer {
  readonly engine: string;
  /** The device really used. */
  readonly device: string;
  /** Optimizer steps taken so far (AdamW's t), carried over by a resumed optimizer state. */
  readonly stepsTaken: number;
  /** log p of every response token under the current weights. One array a sequence, in the order given. */
  score(sequences: TrainingSequence[], onProgress?: (done: number, total: number) => void): Promise<Float32Array[]>;
  /**
   * One optimizer step on eq. 3 and, when `promptLossWeight` is not 0, that many times the mean loss over the tokens
   * that are no response, each counted once an episode. The loss of the result is that of eq. 3.
   */
  sftStep(items: TrainingSequence[], optimizer: OptimizerOptions, promptLossWeight?: number): Promise<StepResult>;
  /** One optimizer step on eq. 5. */
  rlStep(items: RlItem[], loss: RlLossOptions, optimizer: OptimizerOptions): Promise<RlStepResult>;
  /** Writes a whole checkpoint folder (weights; config, tokenizer and template copied from the one it was loaded from). */
  exportCheckpoint(folder: string): Promise<void>;
  /** Writes first and second moments and the step count into `folder` (created when absent). */
  saveOptimizer(folder: string): Promise<void>;
  close(): Promise<void>;
}

export interface TrainerOptions {
  /** Folder of the checkpoint to start from. */
  checkpoint: string;
  /** Folder written by {@link Trainer.saveOptimizer}; absent: fresh moments. */
  optimizer?: string;
  device: 'auto' | 'cpu' | 'cuda' | 'webgpu';
  /** Threads of the numeric runtime; default: all cores. */
  threads?: number;
  /** Tensors that stay as they are: prefixes of Hugging Face names. */
  freeze?: string[];
  /** Padded tokens of one micro-batch at most; does not change the result beyond rounding. */
  microBatchTokens?: number;
}

export class TrainerError extends Error {}
