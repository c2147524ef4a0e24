/** The run that this daemon trains or evaluates: one at a time. What it writes is the run directory; clients come and go. */
import type { NotificationParams } from '../../protocol/daemon.ts';
import type { ProgressTick } from '../../protocol/journal.ts';
import { isSooner, requestStop, runWriter } from '../store/index.ts';
import { ConfigError, RunFailed, type StopControl, type TrainOptions, type TrainResult } from '../training/contract.ts';
import type { Log } from './log.ts';
import { RpcError } from './rpc-error.ts';
import { configError, type RunOrder } from './run-orders.ts';
import type { ActiveRun } from './run-summaries.ts';
import type { Workspace } from './workspace.ts';

/** What is told of the run at work. */
export interface TrainerEvents {
  /** Its journal on disk has grown. */
  grown(directory: string): void;
  progress(directory: string, tick: ProgressTick): void;
  /** It began, ended, or was asked to stop. */
  changed(directory: string): void;
  ended(directory: string, ended: Omit<NotificationParams<'run.ended'>, 'run'>): void;
  /** A request to start something has come to its end, whatever became of it. */
  settled(): void;
}

export type StopMode = Exclude<StopControl['mode'], 'none'>;

interface AtWork extends ActiveRun {
  stop: StopControl;
  abort: AbortController;
  /** Resolves when it has ended and let go of the run directory. */
  done: Promise<unknown>;
}

export class Trainer {
  private readonly workspace: Workspace;
  private readonly log: Log;
  private readonly events: TrainerEvents;
  private readonly load: () => Promise<{ train(options: TrainOptions): Promise<TrainResult> }>;
  private work: AtWork | undefined;
  /** Taken while a request is still being looked into, so that two cannot start at once. */
  private reserved = false;
  private leaving = false;
  /** Directories of runs that were started here, outside of runs/ too. */
  readonly started = new Set<string>();

  constructor(workspace: Workspace, log: Log, events: TrainerEvents) {
    this.workspace = workspace;
    this.log = log;
    this.events = events;
    // Native modules are loaded when something is to be trained.
    this.load = () => import('../training/index.ts');
  }

  get active(): ActiveRun | undefined {
    return this.work;
  }

  /** Whether a run is at work or about to be. */
  get busy(): boolean {
    return this.work !== undefined || this.reserved;
  }

  /**
   * Starts what an order asks for; resolves when its journal begins, or when nothing was left to do.
   * @returns the run directory.
   * @throws RpcError `busy`, `otherWriter`, `config`, `failed`.
   */
  async begin(order: () => Promise<RunOrder>): Promise<string> {
    if (this.busy) {
      const run = this.work && this.workspace.runName(this.work.directory);
      throw new RpcError('busy', `${run ?? 'a run'} is at work; wait for its end or stop it first`, { run });
    }
    this.reserved = true;
    try {
      return await this.launch(await order());
    } finally {
      this.reserved = false;
      this.events.settled();
    }
  }

  /**
   * Asks for the end, of a run that another process writes too; a wish for a later end than one before changes nothing.
   * @throws RpcError `notFound`, or `failed` when the wish cannot be left for another process.
   */
  async stop(directory: string, mode: StopMode): Promise<void> {
    const { work } = this;
    if (work?.directory !== directory) {
      const run = this.workspace.runName(directory);
      if ((await runWriter(directory)) === undefined) throw new RpcError('notFound', `${run} is not at work`, { run });
      await requestStop(directory, mode).catch((error: Error) => {
        throw new RpcError('failed', error.message, { run });
      });
      this.log.write(`stop ${mode}, to another process: ${directory}`);
      this.events.changed(directory);
      return;
    }
    if (!isSooner(mode, work.stop.mode)) return;
    work.stop.mode = mode;
    work.stopping = mode;
    this.log.write(`stop ${mode}: ${directory}`);
    this.events.changed(directory);
  }

  /** Starts nothing more, and ends the run at work so that it can be resumed; resolves when it has let go of its directory. */
  async end(reason: 'now' | 'signal'): Promise<void> {
    this.leaving = true;
    const { work } = this;
    if (!work) return;
    if (reason === 'signal') work.abort.abort();
    else work.stop.mode = 'now';
    await work.done;
  }

  private async launch({ options, findings }: RunOrder): Promise<string> {
    const directory = options.resume ?? options.runDirectory;
    if (directory === undefined) throw new Error('an order names no run directory');
    const run = this.workspace.runName(directory);
    if (options.resume !== undefined) {
      const writer = await runWriter(directory);
      if (writer !== undefined)
        throw new RpcError('otherWriter', `${run} is written by ${writer}; stop it there first`, { run });
    }
    const { train } = await this.load();
    if (this.leaving) throw new RpcError('leaving', 'the daemon is about to end');
    const stop: StopControl = { mode: 'none' };
    const abort = new AbortController();
    const work: AtWork = { directory, stopping: 'none', progress: null, stop, abort, done: Promise.resolve() };
    let isBegun = false;
    let begun: () => void = () => {};
    const beginning = new Promise<void>((resolve) => {
      begun = () => {
        isBegun = true;
        resolve();
      };
    });
    const training = train({
      ...options,
      stop,
      signal: abort.signal,
      onEvent: (event) => {
        if (event.kind === 'progress') {
          work.progress = event.tick;
          this.events.progress(directory, event.tick);
        } else this.events.grown(directory);
        begun();
      },
    });
    this.work = work;
    this.log.write(`${options.resume === undefined ? 'start' : 'resume'}: ${directory}`);
    work.done = training.then(
      (result) => this.over(work, result),
      (error: Error) => (isBegun ? this.over(work, error) : this.notBegun(work, error)),
    );
    try {
      await Promise.race([beginning, training]);
    } catch (error) {
      await work.done;
      if (error instanceof ConfigError) throw configError(options.runDirectory ?? run, findings(error.problems));
      const begunRun = error instanceof RunFailed ? { run } : {};
      throw new RpcError('failed', (error as Error).message, begunRun);
    }
    this.started.add(directory);
    this.events.changed(directory);
    return directory;
  }

  private notBegun(work: AtWork, error: Error): void {
    if (this.work === work) this.work = undefined;
    this.log.write(`not begun: ${work.directory}: ${error.message}`);
  }

  private over(work: AtWork, result: TrainResult | Error): void {
    if (this.work === work) this.work = undefined;
    const failed = result instanceof Error;
    this.log.write(failed ? `failed: ${work.directory}: ${result.message}` : `${result.state}: ${work.directory}`);
    this.events.ended(work.directory, {
      outcome: failed ? 'failed' : result.state,
      message: failed ? result.message : null,
      table: failed ? null : (result.table ?? null),
      warnings: failed ? [] : (result.warnings ?? []),
    });
    this.events.changed(work.directory);
  }
}

/** A run that is gone on with. */
export function resumeOrder(
  directory: string,
  options: Pick<TrainOptions, 'stages' | 'rounds' | 'policies'>,
): RunOrder {
  return {
    options: { resume: directory, configFolder: directory, ...options },
    findings: (problems) =>
      problems.map(({ code, severity, message, path }) => ({
        code,
        severity,
        message,
        file: `${directory}/run.json`,
        path: path.join('.'),
        line: 1,
        column: 1,
        endLine: 1,
        endColumn: 1,
      })),
  };
}
