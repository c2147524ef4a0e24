/**
 * The planner worker as the server sees it: generations with progress, activation of other weights, and a new worker
 * when one dies. Requests of a dead worker fail; later ones go to the new one.
 */
import { Worker } from 'node:worker_threads';
import { bundlePath } from '../../bundles.ts';
import { ApiError } from './api-error.ts';
import type { FromWorker, Progress, ServedLimits, ToWorker, WorkerSettings } from './messages.ts';
import type { SampledToken } from './sampling.ts';
import type { FinishReason, GenerationRequest, SchedulerStats } from './scheduler.ts';

export interface GenerationResult {
  tokens: SampledToken[];
  finishReason: FinishReason;
  policyVersion: number;
  cachedTokens: number;
}

/** Told each token as it comes. */
export type TokenListener = (token: SampledToken, policyVersion: number) => void;

interface Running {
  onToken: TokenListener | null;
  tokens: SampledToken[];
  resolve(result: GenerationResult): void;
  reject(error: Error): void;
}

interface Call {
  resolve(message: FromWorker): void;
  reject(error: Error): void;
}

/** A worker that died so often with no token sampled in between is not started again. */
const MOST_RESTARTS = 3;

export class PlannerEngine {
  /** What a new worker is started with: the checkpoint served last. */
  private settings: WorkerSettings;
  /** While another checkpoint is being activated: its version. */
  private announced: { policyVersion: number } | undefined;
  /** Resolves when requests made now may go to the worker. */
  private held: Promise<void> = Promise.resolve();
  private worker: Worker | undefined;
  private ready: Promise<ServedLimits>;
  /** Limits told by the present worker; undefined until it is ready. */
  private limits: ServedLimits | undefined;
  /** Limits told last. */
  private known: ServedLimits = { context: 0, slots: 0, parameters: 0 };
  private readonly running = new Map<number, Running>();
  private readonly calls = new Map<number, Call>();
  private count = 0;
  private deaths = 0;
  private closed = false;
  private broken: Error | undefined;
  /** Activations happen one after the other. */
  private activation: Promise<unknown> = Promise.resolve();
  restarts = 0;

  private constructor(settings: WorkerSettings) {
    this.settings = settings;
    this.ready = this.start();
  }

  /** @throws Error when the checkpoint cannot be served. */
  static async start(settings: WorkerSettings): Promise<PlannerEngine> {
    const engine = new PlannerEngine(settings);
    await engine.ready;
    return engine;
  }

  /** Limits of the weights served. */
  get served(): ServedLimits {
    return this.known;
  }

  /** Version that a request made now is answered with. */
  get policyVersion(): number {
    return this.announced?.policyVersion ?? this.settings.policyVersion;
  }

  /**
   * Samples a response.
   * @param onToken told each token as it comes; null: only the whole is wanted, which costs less.
   * @throws ApiError 500 when the worker dies meanwhile.
   */
  async generate(
    request: Omit<GenerationRequest, 'id'>,
    onToken: TokenListener | null,
    signal: AbortSignal,
  ): Promise<GenerationResult> {
    await this.held;
    await this.waitForWorker();
    signal.throwIfAborted();
    const id = ++this.count;
    const cancel = () => {
      this.running.delete(id);
      this.post({ type: 'cancel', id });
    };
    try {
      return await new Promise<GenerationResult>((resolve, reject) => {
        this.running.set(id, { onToken, tokens: [], resolve, reject });
        signal.addEventListener('abort', () => {
          cancel();
          reject(signal.reason);
        });
        this.post({ type: 'generate', request: { ...request, id }, stream: onToken !== null });
      });
    } finally {
      this.running.delete(id);
    }
  }

  /**
   * Serves another checkpoint: requests made before this call are answered by the present one, later ones wait.
   * @param check rejects when the checkpoint must not be served.
   * @throws Error when it cannot be loaded; the present one then stays.
   */
  activate(folder: string, policyVersion: number, check: () => Promise<void>): Promise<void> {
    const announced = { policyVersion };
    this.announced = announced;
    let posted = () => {};
    const held = new Promise<void>((resolve) => {
      posted = resolve;
    });
    this.held = held;
    const activation = this.activation.then(async () => {
      try {
        await check();
        await this.waitForWorker();
        const answered = this.call((call) => ({ type: 'activate', call, folder, policyVersion }));
        // Requests that follow in the worker's queue wait there.
        posted();
        const answer = await answered;
        if (answer.type === 'activated') this.known = answer.served;
        this.settings = { ...this.settings, checkpoint: folder, policyVersion };
      } finally {
        posted();
        if (this.announced === announced) this.announced = undefined;
      }
    });
    this.activation = activation.catch(() => {});
    return activation;
  }

  async stats(): Promise<SchedulerStats> {
    await this.waitForWorker();
    const answer = await this.call((call) => ({ type: 'stats', call }));
    return (answer as FromWorker & { type: 'stats' }).stats;
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    const worker = this.worker;
    this.failAll(new ApiError(503, 'the planner server is shutting down'));
    if (worker === undefined) return;
    const gone = new Promise((resolve) => worker.once('exit', resolve));
    this.post({ type: 'close' });
    // Never terminate(): ending the thread inside a run of the native runtime would end the whole process.
    const late = setTimeout(() => worker.unref(), 5000);
    late.unref();
    await gone;
    clearTimeout(late);
  }

  private async waitForWorker(): Promise<void> {
    if (this.closed) throw new ApiError(503, 'the planner server is shutting down');
    if (this.broken) throw new ApiError(500, this.broken.message, { code: 'planner_worker_failed' });
    await this.ready;
  }

  private start(): Promise<ServedLimits> {
    const worker = new Worker(bundlePath('planner-worker'), { workerData: this.settings, name: 'planner' });
    this.worker = worker;
    this.limits = undefined;
    const ready = new Promise<ServedLimits>((resolve, reject) => {
      const giveUp = (error: Error) => {
        this.broken = error;
        reject(error);
      };
      worker.on('message', (message: FromWorker) => {
        if (message.type === 'ready') {
          this.limits = this.known = message.served;
          resolve(message.served);
        } else if (message.type === 'failed') giveUp(new Error(message.message));
        else this.receive(message);
      });
      worker.on('error', (error) => this.died(worker, error.message, giveUp));
      worker.on('exit', (code) => this.died(worker, `exit code ${code}`, giveUp));
    });
    ready.catch(() => {});
    return ready;
  }

  private died(worker: Worker, cause: string, giveUp: (error: Error) => void): void {
    if (this.worker !== worker) return;
    this.worker = undefined;
    const message = `the planner worker stopped: ${cause}`;
    const started = this.limits !== undefined;
    this.failAll(new ApiError(500, message, { code: 'planner_worker_failed' }));
    if (this.closed || this.broken) return;
    if (!started || ++this.deaths > MOST_RESTARTS) {
      giveUp(new Error(`${message}; it is not started again`));
      return;
    }
    this.restarts++;
    this.ready = this.start();
  }

  private failAll(error: Error): void {
    for (const { reject } of this.running.values()) reject(error);
    for (const { reject } of this.calls.values()) reject(error);
    this.running.clear();
    this.calls.clear();
  }

  private receive(message: FromWorker): void {
    if (message.type === 'progress') {
      this.deaths = 0;
      this.progress(message.items);
    } else if ('call' in message) {
      const call = this.calls.get(message.call);
      this.calls.delete(message.call);
      if (message.type === 'refused') call?.reject(new Error(message.message));
      else call?.resolve(message);
    }
  }

  private progress(items: Progress[]): void {
    for (const item of items) {
      const running = this.running.get(item.id);
      if (running === undefined) continue;
      for (const token of item.tokens) {
        running.tokens.push(token);
        running.onToken?.(token, item.policyVersion);
      }
      if (item.end === null) continue;
      running.resolve({
        tokens: running.tokens,
        finishReason: item.end.reason,
        policyVersion: item.policyVersion,
        cachedTokens: item.end.cachedTokens,
      });
    }
  }

  private call(message: (call: number) => ToWorker): Promise<FromWorker> {
    const call = ++this.count;
    return new Promise((resolve, reject) => {
      this.calls.set(call, { resolve, reject });
      this.post(message(call));
    });
  }

  private post(message: ToWorker): void {
    this.worker?.postMessage(message);
  }
}
