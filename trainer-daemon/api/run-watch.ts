/** Notices runs that appear, begin, end and go, also those that a command line writes, while somebody is there to hear it. */
import type { RunSummary } from '../../protocol/daemon.ts';

/** How often the folder of runs is looked at. */
const LOOK_MS = 3000;

export class RunWatch {
  private readonly list: () => Promise<RunSummary[]>;
  private readonly summary: (directory: string) => Promise<RunSummary>;
  private readonly changed: (summary: RunSummary) => void;
  private readonly removed: (directory: string) => void;
  private readonly told = new Map<string, string>();
  private timer: NodeJS.Timeout | undefined;
  private looking = false;
  private first = true;

  constructor(
    list: () => Promise<RunSummary[]>,
    summary: (directory: string) => Promise<RunSummary>,
    changed: (summary: RunSummary) => void,
    removed: (directory: string) => void,
  ) {
    this.list = list;
    this.summary = summary;
    this.changed = changed;
    this.removed = removed;
  }

  start(): void {
    if (this.timer !== undefined) return;
    // What is there now, clients ask for themselves.
    this.first = true;
    void this.lookAll();
    this.timer = setInterval(() => void this.lookAll(), LOOK_MS);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** One run has surely changed. */
  async look(directory: string): Promise<void> {
    const summary = await this.summary(directory).catch(() => undefined);
    if (summary) this.tell(summary);
  }

  private async lookAll(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    try {
      const there = await this.list();
      for (const directory of [...this.told.keys()]) {
        if (there.some((summary) => summary.directory === directory)) continue;
        this.told.delete(directory);
        if (!this.first) this.removed(directory);
      }
      for (const summary of there) {
        if (this.first) this.told.set(summary.directory, keyOf(summary));
        else this.tell(summary);
      }
      this.first = false;
    } catch {
      // The next look may see more.
    } finally {
      this.looking = false;
    }
  }

  private tell(summary: RunSummary): void {
    const key = keyOf(summary);
    if (this.told.get(summary.directory) === key) return;
    this.told.set(summary.directory, key);
    this.changed(summary);
  }
}

/** Every journal entry changes `seq`, and ticks come all the time; neither is news about the run as a whole. */
function keyOf({ state, writer, stopping, stage, problem, unread }: RunSummary): string {
  return JSON.stringify([state, writer, stopping, stage, problem, unread]);
}
