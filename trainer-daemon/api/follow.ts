/**
 * One client that follows one run. Entries are not queued: they are read from the journal when the connection takes
 * more. Who falls too far behind gets a snapshot of the run in place of the entries.
 */
import type { DaemonNotification, NotificationParams, RunSnapshot } from '../../protocol/daemon.ts';
import type { ProgressTick } from '../../protocol/journal.ts';
import type { Follower, OpenRun } from './open-run.ts';

/** Entries that are sent one by one to a client that has just come. */
export const FAR_BEHIND = 2000;
/** Entries that a client may lack after its connection was full. */
export const SLOW_BEHIND = 100;
/** Milliseconds between two ticks to one client. */
const TICK_MS = 200;

/** What a follower needs of a connection. */
export interface Outlet {
  readonly open: boolean;
  /** Whether so much waits to be sent that nothing more should be added. */
  readonly full: boolean;
  notify<N extends DaemonNotification>(method: N, params: NotificationParams<N>): void;
  /** Calls back once when there is room again. */
  onRoom(callback: () => void): void;
}

export class RunFollower implements Follower {
  private readonly outlet: Outlet;
  private readonly name: string;
  private readonly run: OpenRun;
  private readonly snapshot: () => Promise<RunSnapshot>;
  /** Lines of the journal that the client has, or does without. */
  private position: number;
  private working = false;
  private again = false;
  private wasFull = false;
  private stopped = false;
  private lastTick = 0;
  private waitingTick: NodeJS.Timeout | undefined;
  private ending: NotificationParams<'run.ended'> | undefined;

  /** @param fromSeq the last entry that the client has. */
  constructor(outlet: Outlet, name: string, run: OpenRun, fromSeq: number, snapshot: () => Promise<RunSnapshot>) {
    this.outlet = outlet;
    this.name = name;
    this.run = run;
    this.snapshot = snapshot;
    this.position = fromSeq;
  }

  news(): void {
    if (this.working) {
      this.again = true;
      return;
    }
    this.working = true;
    this.send()
      .catch((error: Error) => this.damaged(error.message))
      .finally(() => {
        this.working = false;
        if (!this.again) return;
        this.again = false;
        this.news();
      });
  }

  /** The newest tick counts; ticks that come fast, or while the connection is full, are left out. */
  tick(tick: ProgressTick): void {
    if (this.stopped || this.outlet.full) return;
    clearTimeout(this.waitingTick);
    const wait = this.lastTick + TICK_MS - Date.now();
    if (wait > 0) {
      this.waitingTick = setTimeout(() => this.tick(tick), wait);
      this.waitingTick.unref();
      return;
    }
    this.lastTick = Date.now();
    this.outlet.notify('run.progress', { run: this.name, tick });
  }

  /** The run has ended: told after its last entry. */
  end(ended: NotificationParams<'run.ended'>): void {
    clearTimeout(this.waitingTick);
    this.ending = ended;
    this.news();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.waitingTick);
    this.run.unfollow(this);
  }

  private async send(): Promise<void> {
    await this.run.catchUp();
    for (;;) {
      if (this.stopped || !this.outlet.open) return;
      if (this.outlet.full) {
        this.wasFull = true;
        this.outlet.onRoom(() => this.news());
        return;
      }
      if (this.wasFull) await this.run.catchUp();
      const behind = this.run.position - this.position;
      const tooFar = behind > (this.wasFull ? SLOW_BEHIND : FAR_BEHIND);
      // Below zero: the client knows entries that this run does not have; it is another run under the old name.
      if (tooFar || behind < 0) {
        const snapshot = await this.snapshot();
        this.position = snapshot.state.seq;
        this.outlet.notify('run.snapshot', { run: this.name, reason: this.wasFull ? 'slow' : 'far-behind', snapshot });
        this.wasFull = false;
        continue;
      }
      this.wasFull = false;
      const lines = await this.run.lines(this.position);
      if (lines.length === 0) break;
      for (const line of lines) {
        if (this.stopped || !this.outlet.open) return;
        this.outlet.notify('run.journal', { run: this.name, line });
        this.position++;
        if (this.outlet.full) break;
      }
    }
    if (this.run.damage !== undefined) this.damaged(this.run.damage);
    else if (this.ending) {
      this.outlet.notify('run.ended', this.ending);
      this.ending = undefined;
    }
  }

  private damaged(message: string): void {
    if (this.stopped) return;
    this.stop();
    if (this.outlet.open) this.outlet.notify('run.damaged', { run: this.name, message });
  }
}
