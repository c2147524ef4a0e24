/** The runs of one workspace folder, kept up to date by its daemon. Knows nothing of VS Code. */
import type { NotificationParams, RunSummary } from '../../protocol/daemon.ts';
import type { ProgressTick } from '../../protocol/journal.ts';
import type { RunState } from '../../protocol/run-state.ts';
import type { DaemonClient } from '../daemon/client.ts';
import { type Disposable, Emitter } from '../daemon/emitter.ts';
import { FollowedRun } from '../daemon/followed-run.ts';

export type RunListNews =
  /** Runs came, went, began or ended. */
  | { kind: 'list' }
  /** A run at work has a new journal entry or a new tick. */
  | { kind: 'run'; run: string }
  /** A run of the daemon has ended; told once. */
  | { kind: 'ended'; ended: NotificationParams<'run.ended'> };

interface AtWork {
  followed: FollowedRun;
  tick: ProgressTick | undefined;
  /** A run of the daemon, which says itself how it ended. */
  ours: boolean;
  /** Set when the list says that it is over. */
  leaving: NodeJS.Timeout | undefined;
}

/** A run's own word of its end is waited for so long after the list's, and not told twice within. Milliseconds. */
const MOMENT = 2000;

export class RunList implements Disposable {
  private readonly client: DaemonClient;
  private readonly log: (text: string) => void;
  private readonly emitter: Emitter<RunListNews>;
  private readonly subscriptions: Disposable[];
  private readonly atWork = new Map<string, AtWork>();
  /** When the end of a run was told. */
  private readonly told = new Map<string, number>();
  private summaries = new Map<string, RunSummary>();

  constructor(client: DaemonClient, log: (text: string) => void) {
    this.client = client;
    this.log = log;
    this.emitter = new Emitter((error) => log(`a listener of runs failed: ${error.stack}`));
    this.subscriptions = [
      client.onStatus(({ state }) => {
        if (state === 'ready') void this.reload();
        else if (state === 'failed') this.cutShort();
      }),
      client.on('runs.changed', ({ summary }) => this.take(summary)),
      client.on('runs.removed', ({ run }) => {
        this.summaries.delete(run);
        this.forget(run);
        this.emitter.fire({ kind: 'list' });
      }),
    ];
  }

  /** As last told, newest first; also while the daemon is away. */
  get all(): RunSummary[] {
    return [...this.summaries.values()].sort((a, b) => (b.createdAt ?? '').localeCompare(a.createdAt ?? ''));
  }

  /** The run that trains or evaluates now, with how far it is. */
  get active(): { summary: RunSummary; state: RunState; tick: ProgressTick | undefined } | undefined {
    for (const [run, { followed, tick }] of this.atWork) {
      const summary = this.summaries.get(run);
      if (summary?.state === 'running')
        return { summary, state: followed.state, tick: tick ?? summary.progress ?? undefined };
    }
    return undefined;
  }

  onNews(listener: (news: RunListNews) => void): Disposable {
    return this.emitter.on(listener);
  }

  /** Asks for the list anew. Without a daemon the list stays as it is. */
  async reload(): Promise<void> {
    try {
      const summaries = await this.client.request('runs.list', {});
      this.summaries = new Map(summaries.map((summary) => [summary.run, summary]));
      for (const run of [...this.atWork.keys()]) if (!this.summaries.has(run)) this.forget(run);
      for (const summary of summaries) this.follow(summary);
      this.emitter.fire({ kind: 'list' });
    } catch (error) {
      this.log(`runs cannot be listed: ${(error as Error).message}`);
    }
  }

  /** Takes what a request for a run was answered with: one with little to do may be over by then. */
  began(answered: RunSummary): void {
    const known = this.summaries.get(answered.run);
    // News may have overtaken the answer.
    const summary = known && known.seq > answered.seq ? known : answered;
    // The tree is not drawn anew for what it shows already.
    if (known?.state !== summary.state) this.take(summary);
    if (summary.state !== 'running' && !this.atWork.has(summary.run)) this.tellEnd(summary);
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
    for (const run of [...this.atWork.keys()]) this.forget(run);
  }

  /** The daemon died, and with it the run that it had at work. */
  private cutShort(): void {
    for (const summary of this.summaries.values())
      if (summary.state === 'running' && summary.writer === 'daemon') {
        this.summaries.set(summary.run, { ...summary, state: 'interrupted', writer: null, stopping: 'none' });
        this.forget(summary.run);
      }
    this.emitter.fire({ kind: 'list' });
  }

  private take(summary: RunSummary): void {
    this.summaries.set(summary.run, summary);
    this.follow(summary);
    this.emitter.fire({ kind: 'list' });
  }

  /** Follows runs at work, until they have said how they ended. */
  private follow({ run, state, writer }: RunSummary): void {
    const known = this.atWork.get(run);
    if (state !== 'running') {
      // Its own word of the end, with the table, comes through the followed run, where that was in time to hear it.
      if (known) known.leaving ??= setTimeout(() => this.over(run), MOMENT).unref();
      return;
    }
    if (known) {
      clearTimeout(known.leaving);
      known.leaving = undefined;
      return;
    }
    const followed = new FollowedRun(this.client, run, this.log);
    const entry: AtWork = { followed, tick: undefined, ours: writer === 'daemon', leaving: undefined };
    this.atWork.set(run, entry);
    followed.onNews((news) => {
      if (news.kind === 'progress') entry.tick = news.tick;
      if (news.kind === 'ended') {
        this.forget(run);
        this.told.set(run, Date.now());
        this.emitter.fire({ kind: 'ended', ended: news.ended });
        void this.reload();
      } else this.emitter.fire({ kind: 'run', run });
    });
  }

  /** The list said a moment ago that a run is over, and the run itself has said nothing. */
  private over(run: string): void {
    const { ours } = this.atWork.get(run) ?? {};
    const summary = this.summaries.get(run);
    if (summary?.state === 'running') return;
    this.forget(run);
    if (ours && summary) this.tellEnd(summary);
  }

  private tellEnd({ run, state, problem }: RunSummary): void {
    if (state !== 'finished' && state !== 'stopped' && state !== 'failed') return;
    if (Date.now() - (this.told.get(run) ?? 0) < 2 * MOMENT) return;
    this.told.set(run, Date.now());
    this.emitter.fire({ kind: 'ended', ended: { run, outcome: state, message: problem, table: null, warnings: [] } });
  }

  private forget(run: string): void {
    clearTimeout(this.atWork.get(run)?.leaving);
    this.atWork.get(run)?.followed.dispose();
    if (this.atWork.delete(run)) this.emitter.fire({ kind: 'run', run });
  }
}
