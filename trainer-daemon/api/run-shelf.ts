/** The runs that are open for reading, and those who follow them. */
import type { RunSnapshot } from '../../protocol/daemon.ts';
import { RecordingError } from '../../recordings/index.ts';
import { OpenRun } from './open-run.ts';
import { RpcError } from './rpc-error.ts';
import type { RunSummaries } from './run-summaries.ts';

/** A run that nobody has asked about for this long is closed. */
const UNUSED_MS = 60_000;
/** Runs open at a time, as long as not more are followed. */
const MOST_OPEN = 16;

export class RunShelf {
  private readonly summaries: RunSummaries;
  private readonly runs = new Map<string, Promise<OpenRun>>();
  private readonly uses = new Map<string, number>();
  private readonly sweep: NodeJS.Timeout;

  constructor(summaries: RunSummaries) {
    this.summaries = summaries;
    this.sweep = setInterval(() => void this.closeUnused(UNUSED_MS), UNUSED_MS / 4);
    this.sweep.unref();
  }

  /**
   * Works on a run, which stays open meanwhile.
   * @throws RpcError `damaged` when run.json cannot be read.
   */
  async use<T>(directory: string, work: (run: OpenRun) => Promise<T>): Promise<T> {
    this.uses.set(directory, (this.uses.get(directory) ?? 0) + 1);
    try {
      return await work(await this.open(directory));
    } catch (error) {
      if (error instanceof RecordingError) throw new RpcError('notFound', error.message);
      throw error;
    } finally {
      this.uses.set(directory, (this.uses.get(directory) ?? 1) - 1);
    }
  }

  /** All about a run but its records. */
  snapshot(directory: string): Promise<RunSnapshot> {
    return this.use(directory, async (run) => {
      await run.catchUp();
      // The copy and the number in it belong together, whatever is read meanwhile.
      const state = structuredClone(run.state);
      const { teacher, sft, rounds, evaluations } = await run.recording.sections();
      // All of the journal has just been read.
      const summary = { ...(await this.summaries.summary(directory)), unread: run.damage ?? null };
      return { summary, state, sections: [...teacher, ...sft, ...rounds, ...evaluations] };
    });
  }

  /** Word from the training of this daemon that its journal has grown. */
  async grown(directory: string): Promise<void> {
    (await this.runs.get(directory)?.catch(() => undefined))?.tellFollowers();
  }

  async close(): Promise<void> {
    clearInterval(this.sweep);
    const open = [...this.runs.values()];
    this.runs.clear();
    for (const run of open) await (await run.catch(() => undefined))?.close();
  }

  private open(directory: string): Promise<OpenRun> {
    let run = this.runs.get(directory);
    if (!run) {
      run = OpenRun.open(directory);
      this.runs.set(directory, run);
      run.catch(() => this.runs.delete(directory));
      if (this.runs.size > MOST_OPEN) void this.closeUnused(0);
    }
    return run;
  }

  private async closeUnused(age: number): Promise<void> {
    for (const [directory, opening] of [...this.runs]) {
      const run = await opening.catch(() => undefined);
      const used = (this.uses.get(directory) ?? 0) > 0 || run?.followed === true;
      if (!run || used || Date.now() - run.lastUsed < age || this.runs.get(directory) !== opening) continue;
      this.runs.delete(directory);
      this.uses.delete(directory);
      await run.close();
    }
  }
}
