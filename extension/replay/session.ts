/**
 * One replay: a run's recording, the episodes of it that are loaded, and the cursor in them. Debug adapter, transcript and
 * stage show the same session. Knows nothing of VS Code.
 */
import { isDamaged, openRecording, type Recording } from '../../recordings/index.ts';
import {
  EpisodeCursor,
  headOfTranscript,
  type Move,
  openReplayEpisode,
  type Position,
  type ReplayCall,
  type ReplayEpisode,
  readTranscript,
  shownInLine,
  Transcript,
  type TranscriptSection,
  type TranscriptView,
  threadOf,
} from '../../recordings/replay/index.ts';
import { type Disposable, Emitter } from '../daemon/emitter.ts';
import { withoutTimes } from './compared-text.ts';

export interface ReplayTarget {
  /** The run's directory. */
  directory: string;
  section: string;
  episode: string;
}

/** How often files are looked at for news while a run is being written. Milliseconds. */
const PACE = 1000;

export class ReplaySession {
  readonly target: ReplayTarget;
  readonly recording: Recording;
  readonly cursor: EpisodeCursor;
  private readonly loaded: ReplayEpisode[];
  private readonly moved: Emitter<Move>;
  private readonly changed: Emitter<undefined>;
  private readonly closed: Emitter<undefined>;
  private readonly log: (text: string) => void;
  /** By thread and view; forgotten when something new was written. */
  private readonly transcripts = new Map<string, Promise<Transcript>>();
  /** By thread: sections of a transcript that is being read. */
  private readonly reading = new Map<number, TranscriptSection[]>();
  /** By thread: calls whose whole request is written out in the transcript. */
  private readonly whole = new Map<number, Set<number>>();
  private watching: NodeJS.Timeout | undefined;
  private refreshing: Promise<boolean> | undefined;
  private ended = false;

  private constructor(target: ReplayTarget, first: ReplayEpisode, log: (text: string) => void) {
    this.target = target;
    this.recording = first.recording;
    this.log = log;
    const failed = (error: Error) => log(`replay: ${error.stack ?? error.message}`);
    this.moved = new Emitter(failed);
    this.changed = new Emitter(failed);
    this.closed = new Emitter(failed);
    this.loaded = [first];
    this.cursor = new EpisodeCursor(threadOf(0, first));
    this.cursor.onMove((move) => this.moved.fire(move));
    this.watch();
  }

  /**
   * Opens an episode of a run's section.
   * @throws RecordingError when there is no such run, section or episode.
   */
  static async open(target: ReplayTarget, log: (text: string) => void): Promise<ReplaySession> {
    const recording = await openRecording(target.directory);
    try {
      return new ReplaySession(target, await openReplayEpisode(recording, target.section, target.episode), log);
    } catch (error) {
      await recording.close();
      throw error;
    }
  }

  /** Loaded episodes; their places are the threads of the cursor. */
  get episodes(): readonly ReplayEpisode[] {
    return this.loaded;
  }

  /** The episode that the cursor stands in. */
  get episode(): ReplayEpisode {
    return this.loaded[this.cursor.position.thread];
  }

  /** The call that the cursor stands at; undefined in an episode that has none (yet). */
  current(position: Position = this.cursor.position): Promise<ReplayCall> | undefined {
    const episode = this.loaded[position.thread];
    return position.call < episode.length ? episode.call(position.call) : undefined;
  }

  /**
   * The text of a loaded episode, the same for all who show it or point into it.
   * @param view without one, only what is new in each request. @throws RangeError for views that are no transcript.
   */
  transcript(thread: number, view?: TranscriptView): Promise<Transcript> {
    const key = keyOf(thread, view);
    let transcript = this.transcripts.get(key);
    if (!transcript) {
      transcript = view ? readView(this.loaded[thread], view) : this.readTranscript(thread);
      this.transcripts.set(key, transcript);
      transcript.catch(() => this.transcripts.delete(key));
    }
    return transcript;
  }

  /** As much of a transcript as is read already, with a word about how many calls are still to come. */
  transcriptSoFar(thread: number): Transcript {
    const episode = this.loaded[thread];
    const read = this.reading.get(thread) ?? [];
    const note = `reading, ${episode.length - read.length} calls are to come`;
    return new Transcript([...headOfTranscript(episode).slice(0, -1), note, ''], read);
  }

  /** Whether a call's whole request is written out in the transcript. */
  isWhole(thread: number, call: number): boolean {
    return this.whole.get(thread)?.has(call) ?? false;
  }

  /** Writes out a call's whole request in the transcript, or only what is new in it. */
  showWhole(thread: number, call: number, whole: boolean): void {
    const calls = this.whole.get(thread) ?? new Set();
    this.whole.set(thread, calls);
    if (whole) calls.add(call);
    else calls.delete(call);
    this.transcripts.delete(keyOf(thread));
    this.changed.fire(undefined);
  }

  private async readTranscript(thread: number): Promise<Transcript> {
    const read: TranscriptSection[] = [];
    this.reading.set(thread, read);
    try {
      return await readTranscript(
        this.loaded[thread],
        this.whole.get(thread),
        {},
        (section) => void read.push(section),
      );
    } finally {
      if (this.reading.get(thread) === read) this.reading.delete(thread);
    }
  }

  /** The cursor has moved, or said that there is nothing further. */
  onDidMove(listener: (move: Move) => void): Disposable {
    return this.moved.on(listener);
  }

  /** Something new was written, a further episode was loaded, or a transcript has other lines. */
  onDidChange(listener: () => void): Disposable {
    return this.changed.on(listener);
  }

  /** The session was closed; nothing of it can be read any longer. */
  onDidClose(listener: () => void): Disposable {
    return this.closed.on(listener);
  }

  /** Loads another episode of the section, unless it is loaded. @returns its thread. @throws RecordingError */
  async load(episode: string): Promise<number> {
    const known = () => this.loaded.findIndex(({ id }) => id === episode);
    if (known() >= 0) return known();
    const opened = await openReplayEpisode(this.recording, this.target.section, episode);
    if (known() >= 0) return known();
    this.loaded.push(opened);
    this.cursor.addThread(threadOf(this.loaded.length - 1, opened));
    this.changed.fire(undefined);
    return this.loaded.length - 1;
  }

  /** Loads every attempt of the episode's group. @returns which of them lack or are damaged, and why, in words. */
  async loadGroup(): Promise<string[]> {
    const problems: string[] = [];
    const { group, lacking } = this.loaded[0];
    const failed = (error: Error) => void problems.push(error.message);
    for (const { id } of group) await this.load(id).catch(failed);
    for (const { id, attempt, reason } of lacking) {
      const which = `attempt ${attempt ?? '?'} of the group`;
      problems.push(id === null ? `${which} lacks: ${reason}` : `${which} (${shownInLine(id)}) is damaged: ${reason}`);
      // Its calls can be looked at all the same.
      if (id !== null) await this.load(id).catch(failed);
    }
    return problems;
  }

  /** Takes up what was written since. True when there was anything. */
  refresh(): Promise<boolean> {
    this.refreshing ??= this.refreshNow().finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  async close(): Promise<void> {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.watching);
    this.cursor.pause();
    this.closed.fire(undefined);
    await this.refreshing?.catch(() => {});
    await this.recording.close();
  }

  private async refreshNow(): Promise<boolean> {
    if (this.ended) return false;
    const news = await this.recording.refresh();
    if (!news || this.ended) return false;
    for (const episode of this.loaded) await episode.reload();
    this.transcripts.clear();
    this.changed.fire(undefined);
    await this.cursor.grown();
    return true;
  }

  /** Looks for news again and again, until the run has ended for good. */
  private watch(): void {
    this.watching = setTimeout(async () => {
      try {
        await this.refresh();
        if (await this.isOver()) return;
      } catch (error) {
        this.log(`replay: looking for news in ${this.target.directory}: ${(error as Error).message}`);
      }
      if (!this.ended) this.watch();
    }, PACE);
    this.watching.unref();
  }

  /** What is finished is not written any more; what was stopped or has failed can be resumed. */
  private async isOver(): Promise<boolean> {
    if (this.ended) return true;
    const journal = await this.recording.journal();
    if (journal.length === 0) return false;
    const last = await journal.get(journal.length - 1);
    return !isDamaged(last) && last.event.type === 'run-finished';
  }
}

function keyOf(thread: number, view?: TranscriptView): string {
  return JSON.stringify([thread, view]);
}

async function readView(episode: ReplayEpisode, view: TranscriptView): Promise<Transcript> {
  switch (view.mode) {
    case 'full':
      return readTranscript(episode, 'all');
    case 'from':
      return withoutTimes(episode, await readTranscript(episode, undefined, { from: view.call }));
    default:
      throw new RangeError('this text is of one part of a call, and no transcript');
  }
}
