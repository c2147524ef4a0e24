/** A run being read: its recording, its journal folded as far as it is on disk, and those who follow it. */
import type { JournalLine } from '../../protocol/journal.ts';
import { applyJournal, emptyRunState, type RunState } from '../../protocol/run-state.ts';
import { isDamaged, openRecording, type RecordIndex, type Recording } from '../../recordings/index.ts';
import { journalDamage } from './journal-damage.ts';

/** Journal entries read at a time. */
export const JOURNAL_PAGE = 64;
/** How often the journal of a run that somebody follows is looked at, besides when this daemon wrote to it. */
const LOOK_MS = 500;

/** Is told that the journal has grown, or that the run has ended. */
export interface Follower {
  news(): void;
}

export class OpenRun {
  readonly recording: Recording;
  readonly state: RunState = emptyRunState();
  /** Lines of the journal that went into the state, which is the number of the last of them: they begin at 1 and have no gaps. */
  position = 0;
  /** Why the journal cannot be read past `position`. */
  damage: string | undefined;
  lastUsed = Date.now();
  private readonly journal: RecordIndex<JournalLine>;
  private readonly followers = new Set<Follower>();
  private looking: NodeJS.Timeout | undefined;
  private folding: Promise<void> = Promise.resolve();

  private constructor(recording: Recording, journal: RecordIndex<JournalLine>) {
    this.recording = recording;
    this.journal = journal;
  }

  /** @throws RecordingError when the folder holds no run. */
  static async open(directory: string): Promise<OpenRun> {
    const recording = await openRecording(directory);
    const run = new OpenRun(recording, await recording.journal());
    await run.catchUp();
    return run;
  }

  get followed(): boolean {
    return this.followers.size > 0;
  }

  follow(follower: Follower): void {
    this.followers.add(follower);
    if (this.looking === undefined) {
      this.looking = setInterval(() => this.tellFollowers(), LOOK_MS);
      this.looking.unref();
    }
  }

  unfollow(follower: Follower): void {
    this.followers.delete(follower);
    if (this.followers.size > 0) return;
    clearInterval(this.looking);
    this.looking = undefined;
  }

  tellFollowers(): void {
    for (const follower of this.followers) follower.news();
  }

  /** Folds what is new in the journal. Entries are read in order; one caller at a time. */
  catchUp(): Promise<void> {
    this.lastUsed = Date.now();
    const result = this.folding.then(() => this.foldNew());
    this.folding = result.catch(() => {});
    return result;
  }

  /** Whole, sound entries from a line on, as far as they are folded. */
  async lines(from: number, limit = JOURNAL_PAGE): Promise<JournalLine[]> {
    const read = await this.journal.read(from, Math.min(from + limit, this.position));
    const broken = read.findIndex(isDamaged);
    return (broken < 0 ? read : read.slice(0, broken)) as JournalLine[];
  }

  async close(): Promise<void> {
    clearInterval(this.looking);
    await this.folding;
    await this.recording.close();
  }

  private async foldNew(): Promise<void> {
    await this.journal.refresh();
    if (this.journal.length < this.position) {
      // The run was removed and another one made in its place.
      this.position = 0;
      Object.assign(this.state, emptyRunState());
    }
    this.damage = undefined;
    while (this.position < this.journal.length) {
      const page = await this.journal.read(this.position, this.position + JOURNAL_PAGE);
      for (const line of page) {
        this.damage = journalDamage(line, this.position + 1) ?? undefined;
        // An unfinished last line is being written, or was torn and will be cut off by who goes on.
        if (isDamaged(line) || this.damage !== undefined) return;
        applyJournal(this.state, line);
        this.position++;
      }
      if (page.length === 0) return;
    }
  }
}
