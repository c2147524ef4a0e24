/** A {@link Trainer} whose work is done by the worker thread of worker.ts, so that the calling thread stays free. */
import { Worker } from 'node:worker_threads';
import {
  type OptimizerOptions,
  type RlItem,
  type RlLossOptions,
  type Trainer,
  TrainerError,
  type TrainerOptions,
  type TrainingSequence,
} from '../contract.ts';
import type { Method, Reply, Request, ResultOf } from './messages.ts';

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
  onProgress?: (done: number, total: number) => void;
}

/** The opening waits in the same table as the calls, which count from 0. */
const OPENING = -1;

/**
 * Starts the worker and waits until its trainer is open.
 * @param file the built worker
 * @throws TrainerError when the trainer cannot be opened
 */
export async function startTrainerWorker(file: string, options: TrainerOptions): Promise<Trainer> {
  const trainer = new WorkerTrainer(new Worker(file, { workerData: options, name: 'trainer' }));
  await trainer.opened;
  return trainer;
}

class WorkerTrainer implements Trainer {
  readonly engine = 'onnx';
  /** Settled when the worker's trainer is open, or refused. */
  readonly opened: Promise<void>;
  private readonly worker: Worker;
  private readonly pending = new Map<number, Pending>();
  private readonly exited: Promise<void>;
  private usedDevice = '';
  private steps = 0;
  private nextId = 0;
  /** Why no more calls are taken. */
  private ended: string | undefined;

  constructor(worker: Worker) {
    this.worker = worker;
    this.opened = new Promise((resolve, reject) => {
      this.pending.set(OPENING, { resolve: () => resolve(), reject });
    });
    worker.on('message', (reply: Reply) => this.receive(reply));
    worker.on('error', (error) => this.end(`the trainer stopped: ${error.message}`));
    this.exited = new Promise((resolve) => {
      worker.on('exit', (code) => {
        this.end(`the trainer ended with code ${code}`);
        resolve();
      });
    });
  }

  get device(): string {
    return this.usedDevice;
  }

  get stepsTaken(): number {
    return this.steps;
  }

  score(sequences: TrainingSequence[], onProgress?: (done: number, total: number) => void) {
    return this.call('score', [sequences.map(sendable)], onProgress);
  }

  sftStep(items: TrainingSequence[], optimizer: OptimizerOptions, promptLossWeight = 0) {
    return this.call('sftStep', [items.map(sendable), optimizer, promptLossWeight]);
  }

  rlStep(items: RlItem[], loss: RlLossOptions, optimizer: OptimizerOptions) {
    const sent = items.map((item) => ({
      ...sendable(item),
      behaviourLogprobs: numbers(item.behaviourLogprobs),
      oldLogprobs: numbers(item.oldLogprobs),
      advantage: item.advantage,
      u: item.u,
    }));
    return this.call('rlStep', [sent, loss, optimizer]);
  }

  exportCheckpoint(folder: string) {
    return this.call('exportCheckpoint', [folder]);
  }

  saveOptimizer(folder: string) {
    return this.call('saveOptimizer', [folder]);
  }

  async close() {
    if (this.ended !== undefined) return;
    const closed = this.call('close', []);
    this.ended = 'the trainer is closed';
    await closed;
    this.worker.ref();
    await this.exited;
  }

  private call<M extends Method>(
    method: M,
    args: unknown[],
    onProgress?: (done: number, total: number) => void,
  ): Promise<ResultOf<M>> {
    if (this.ended !== undefined) return Promise.reject(new TrainerError(this.ended));
    return new Promise<unknown>((resolve, reject) => {
      const request: Request = { id: this.nextId++, method, args };
      this.pending.set(request.id, { resolve, reject, onProgress });
      this.worker.ref();
      this.worker.postMessage(request);
    }) as Promise<ResultOf<M>>;
  }

  private receive(reply: Reply): void {
    const id = reply.kind === 'ready' || reply.kind === 'refused' ? OPENING : reply.id;
    const waiting = this.pending.get(id);
    if (waiting === undefined) return;
    if (reply.kind === 'progress') {
      waiting.onProgress?.(reply.done, reply.total);
      return;
    }
    this.pending.delete(id);
    // An idle trainer does not keep the process alive.
    if (this.pending.size === 0) this.worker.unref();
    if (reply.kind === 'error' || reply.kind === 'refused') {
      const code = reply.kind === 'error' ? reply.code : undefined;
      const cause = code === undefined ? undefined : Object.assign(new Error(reply.message), { code });
      waiting.reject(new TrainerError(reply.message, { cause }));
      return;
    }
    this.steps = reply.stepsTaken;
    if (reply.kind === 'ready') this.usedDevice = reply.device;
    waiting.resolve(reply.kind === 'result' ? reply.result : undefined);
  }

  private end(why: string): void {
    this.ended ??= why;
    for (const waiting of this.pending.values()) waiting.reject(new TrainerError(why));
    this.pending.clear();
  }
}

function sendable({ promptTokenIds, responseTokenIds }: TrainingSequence): TrainingSequence {
  return { promptTokenIds: numbers(promptTokenIds), responseTokenIds: numbers(responseTokenIds) };
}

/** A copy of its own buffer (sending a view would send all that lies behind it), every value as it is for the checks. */
function numbers(values: ArrayLike<number>): ArrayLike<number> {
  return values instanceof Int32Array || values instanceof Float32Array ? values.slice() : Float64Array.from(values);
}
