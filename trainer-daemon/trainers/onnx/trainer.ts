/** The ONNX trainer in the calling thread: checkpoint and optimizer files around the numeric engine. */
import { CheckpointError, readCheckpoint, writeCheckpoint } from '../../planner/checkpoint.ts';
import {
  type OptimizerOptions,
  type RlItem,
  type RlLossOptions,
  type Trainer,
  TrainerError,
  type TrainerOptions,
  type TrainingSequence,
} from '../contract.ts';
import { freshAdamState } from './adamw.ts';
import { chooseDevice, defaultThreads } from './device.ts';
import { OnnxEngine } from './engine.ts';
import { readOptimizer, writeOptimizer } from './optimizer-files.ts';

/**
 * Loads weights and moments and chooses the device. Every call blocks the thread while it computes.
 * @throws TrainerError on a bad checkpoint or optimizer state, a device that does not work, or a bad option
 */
export async function openOnnxTrainer(options: TrainerOptions): Promise<Trainer> {
  return asTrainerError(async () => {
    const device = await chooseDevice(options.device);
    const { architecture, weights } = await readCheckpoint(options.checkpoint);
    const state =
      options.optimizer === undefined
        ? freshAdamState(weights.flat.length)
        : await readOptimizer(options.optimizer, architecture);
    const { freeze, microBatchTokens } = options;
    const threads = options.threads ?? defaultThreads();
    const engine = new OnnxEngine(weights, state, { device, threads, freeze, microBatchTokens });
    return new OnnxTrainer(engine, options.checkpoint);
  });
}

class OnnxTrainer implements Trainer {
  readonly engine = 'onnx';
  private readonly numeric: OnnxEngine;
  private readonly checkpoint: string;
  private tail: Promise<unknown> = Promise.resolve();
  private closed = false;

  constructor(numeric: OnnxEngine, checkpoint: string) {
    this.numeric = numeric;
    this.checkpoint = checkpoint;
  }

  get device(): string {
    return this.numeric.device;
  }

  get stepsTaken(): number {
    return this.numeric.state.steps;
  }

  score(sequences: TrainingSequence[], onProgress?: (done: number, total: number) => void) {
    return this.inTurn(() => this.numeric.score(sequences, onProgress));
  }

  sftStep(items: TrainingSequence[], optimizer: OptimizerOptions, promptLossWeight = 0) {
    return this.inTurn(() => this.numeric.sftStep(items, optimizer, promptLossWeight));
  }

  rlStep(items: RlItem[], loss: RlLossOptions, optimizer: OptimizerOptions) {
    return this.inTurn(() => this.numeric.rlStep(items, loss, optimizer));
  }

  exportCheckpoint(folder: string) {
    return this.inTurn(() => writeCheckpoint(folder, this.numeric.weights, this.checkpoint));
  }

  saveOptimizer(folder: string) {
    return this.inTurn(() => writeOptimizer(folder, this.numeric.weights.architecture, this.numeric.state));
  }

  async close() {
    if (this.closed) return;
    const last = this.inTurn(() => this.numeric.close());
    this.closed = true;
    await last;
  }

  /** One call at a time, in the order made: an export never sees half a step. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.closed) return Promise.reject(new TrainerError('the trainer is closed'));
    const result = this.tail.then(() => asTrainerError(work));
    this.tail = result.catch(() => {});
    return result;
  }
}

async function asTrainerError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TrainerError) throw error;
    if (error instanceof CheckpointError) throw new TrainerError(error.message, { cause: error });
    const message = error instanceof Error ? error.message : String(error);
    const advice = /alloc|memory/i.test(message)
      ? ' Lower microBatchTokens, or train on a machine with more memory.'
      : '';
    throw new TrainerError(`the trainer failed: ${message.split('\n')[0]}.${advice}`, { cause: error });
  }
}
