/** Runs a list of episodes, several at a time, and writes their records. */
import { setMaxListeners } from 'node:events';
import { plural } from '../../protocol/counting.ts';
import type { EpisodeRecord } from '../../protocol/records.ts';
import type { RolloutOptions, RunEpisodes } from './contract.ts';
import { type EpisodeResult, type LaunchProblem, runEpisode } from './episode-run.ts';
import { WorkerPool } from './worker-pool.ts';

/** After this many failures in a row to start the harness at all, the run stops. */
const LAUNCH_FAILURES = 3;
/** After this many crashes in a row before the first planner call, the run stops. */
const STILLBORN = 5;

/** The harness cannot be run as the adapter says. */
export class HarnessError extends Error {}

/**
 * Runs the jobs; see {@link RunEpisodes}.
 * @throws HarnessError when the harness cannot be started or keeps crashing before its first planner call, and the
 *   store's error when a record cannot be written. Episodes that run then are ended without a record.
 */
export const runEpisodes: RunEpisodes = async (options) => {
  const run = new EpisodeRun(options);
  return run.all();
};

class EpisodeRun {
  private readonly options: RolloutOptions;
  private readonly pool: WorkerPool;
  private readonly records: (EpisodeRecord | undefined)[];
  private readonly cancel = new AbortController();
  private nextJob = 0;
  private failure: unknown;
  private announcing: Promise<void> = Promise.resolve();
  /** Episodes whose harness could not be started; their records wait until it is clear that others can. */
  private unlaunched: { index: number; record: EpisodeRecord; launchProblem: LaunchProblem }[] = [];
  private launched = false;
  private stillborn = 0;

  constructor(options: RolloutOptions) {
    this.options = options;
    // Every running episode listens to it.
    setMaxListeners(0, this.cancel.signal);
    this.pool = options.workers ?? new WorkerPool(options.workspace, options.adapter.withheld, options.roster);
    this.records = new Array(options.jobs.length);
  }

  async all(): Promise<EpisodeRecord[]> {
    const { signal, concurrency, jobs } = this.options;
    const onAbort = () => this.cancel.abort();
    if (signal?.aborted) return [];
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      await Promise.all(Array.from({ length: Math.min(concurrency, jobs.length) }, () => this.runner()));
      await this.settleUnlaunched();
      await this.announcing;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      if (this.cancel.signal.aborted) await this.pool.close(0);
      else if (!this.options.workers) await this.pool.close();
    }
    if (this.failure !== undefined) throw this.failure;
    return this.records.filter((record) => record !== undefined);
  }

  private async runner(): Promise<void> {
    try {
      for (;;) {
        if (this.cancel.signal.aborted || this.options.stopStarting?.()) return;
        const index = this.nextJob++;
        if (index >= this.options.jobs.length) return;
        const result = await runEpisode(this.options.jobs[index], this.options, this.pool, this.cancel.signal);
        await this.take(index, result);
      }
    } catch (error) {
      this.failure ??= error;
      this.cancel.abort();
    }
  }

  private async take(index: number, { record, launchProblem, stillborn }: EpisodeResult): Promise<void> {
    if (!record) return;
    if (launchProblem !== undefined && !this.launched) {
      this.unlaunched.push({ index, record, launchProblem });
      if (this.unlaunched.length >= LAUNCH_FAILURES) throw this.launchError(launchProblem);
      return;
    }
    if (launchProblem === undefined) {
      this.launched = true;
      await this.settleUnlaunched();
    }
    await this.write(index, record);
    this.stillborn = stillborn || launchProblem !== undefined ? this.stillborn + 1 : 0;
    if (this.stillborn >= STILLBORN)
      throw new HarnessError(
        `the harness ended ${STILLBORN} times in a row before its first planner call (${record.invalidReason}); see ${record.outputDir}/harness.log`,
      );
  }

  private async settleUnlaunched(): Promise<void> {
    if (this.unlaunched.length === 0 || this.failure !== undefined || this.cancel.signal.aborted) return;
    if (!this.launched) {
      this.failure = this.launchError(this.unlaunched[0].launchProblem);
      return;
    }
    for (const { index, record } of this.unlaunched.splice(0)) await this.write(index, record);
  }

  private launchError({ from, problem }: LaunchProblem): HarnessError {
    const check = from === 'command' ? `; check command and cwd in launch() of ${this.options.adapter.file}` : '';
    const tried = plural(this.unlaunched.length, 'episode');
    return new HarnessError(`the harness cannot be started (tried with ${tried}): ${problem}${check}`);
  }

  private async write(index: number, record: EpisodeRecord): Promise<void> {
    await this.options.section.appendEpisode(record);
    this.records[index] = record;
    const { onEpisode } = this.options;
    if (!onEpisode) return;
    // One at a time, in the order of the records on disk.
    const told = this.announcing.then(() => onEpisode(record));
    this.announcing = told.then(
      () => undefined,
      () => undefined,
    );
    await told;
  }
}
