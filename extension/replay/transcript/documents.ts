/** What the texts of replay show: transcripts and parts of them, and code that a planner wrote. files.ts gives them to the editor. */
import { type Disposable, EventEmitter, l10n, type TextDocument, Uri, workspace } from 'vscode';
import { isDamaged } from '../../../recordings/index.ts';
import {
  parseTranscriptUri,
  type ReplayEpisode,
  shown,
  TRANSCRIPT_SCHEME,
  type Transcript,
  type TranscriptTarget,
  transcriptUri,
} from '../../../recordings/replay/index.ts';
import type { ReplaySession } from '../session.ts';
import type { ReplaySessions } from '../sessions.ts';
import type { PromptRenderer } from './prompts.ts';
import { blockText, promptText, sampledText } from './texts.ts';

/** A document with what it shows. */
export interface OpenTranscript {
  target: TranscriptTarget;
  session: ReplaySession;
  episode: ReplayEpisode;
  /** Of the episode, in the session's cursor. */
  thread: number;
  /** Undefined for code and for single texts. */
  transcript: Transcript | undefined;
}

/** Longer than this nobody waits for a text. Milliseconds. */
const MOMENT = 400;

/** A text that was read and is no open document after so long is let go. Milliseconds. */
const UNOPENED = 60_000;

interface Entry {
  target: TranscriptTarget;
  /** Keeps the episode open as long as the document is. */
  held: Promise<ReplaySession>;
  shows: OpenTranscript | undefined;
  /** What the text depends on, as it was when it was made. */
  made: string;
  /** The text was made anew before the editor had opened the document. */
  late?: boolean;
}

export class TranscriptDocuments implements Disposable {
  private readonly sessions: ReplaySessions;
  private readonly renderer: PromptRenderer;
  private readonly log: (text: string) => void;
  private readonly entries = new Map<string, Entry>();
  private readonly listening = new Map<ReplaySession, Disposable[]>();
  private readonly textChanged = new EventEmitter<Uri>();
  private readonly newsEmitter = new EventEmitter<ReplaySession>();
  private readonly movedEmitter = new EventEmitter<ReplaySession>();
  private readonly subscriptions: Disposable[];
  /** The text of an address is another one than it was. */
  readonly onDidChange = this.textChanged.event;
  /** Something about the episodes of a session is known that was not. */
  readonly onNews = this.newsEmitter.event;
  /** The cursor of a session has moved. */
  readonly onMoved = this.movedEmitter.event;

  constructor(sessions: ReplaySessions, renderer: PromptRenderer, log: (text: string) => void) {
    this.sessions = sessions;
    this.renderer = renderer;
    this.log = log;
    const followed = sessions.onDidChangeCurrent(() => this.followCurrent());
    this.subscriptions = [
      this.textChanged,
      this.newsEmitter,
      this.movedEmitter,
      { dispose: () => followed.dispose() },
      workspace.onDidOpenTextDocument((document) => this.opened(document)),
      workspace.onDidCloseTextDocument((document) => this.closed(document)),
    ];
  }

  /** What a document shows; undefined where it is none of ours, or could not be read. */
  of(document: TextDocument | undefined): OpenTranscript | undefined {
    return document?.uri.scheme === TRANSCRIPT_SCHEME ? this.entries.get(document.uri.toString())?.shows : undefined;
  }

  /** The address of another text of an episode. */
  addressOf(target: TranscriptTarget, language?: string): Uri {
    return Uri.parse(transcriptUri(target, language), true);
  }

  /** The text of an address, made from nothing but the address where it is not open yet; why there is none in its place. */
  async textOf(uri: Uri): Promise<string> {
    const target = parseTranscriptUri(uri.toString());
    if (!target) return l10n.t('This address names no recorded episode.');
    const key = uri.toString();
    let entry = this.entries.get(key);
    try {
      if (!entry) {
        entry = { target, held: this.sessions.acquire(target), shows: undefined, made: '' };
        this.entries.set(key, entry);
      }
      const { text, shows } = await this.read(entry);
      // The document may have been closed meanwhile.
      if (this.entries.get(key) === entry) entry.shows = shows;
      this.letGoUnopened(key, entry);
      return text;
    } catch (error) {
      this.log(`replay: ${key}: ${(error as Error).stack}`);
      if (entry && this.entries.get(key) === entry && !entry.shows) this.entries.delete(key);
      return `${l10n.t('This cannot be shown: {0}', shown((error as Error).message))}\n`;
    }
  }

  /** Writes out whole requests of a call, or only what is new. */
  showWhole({ session, thread }: OpenTranscript, call: number, whole: boolean): void {
    session.showWhole(thread, call, whole);
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
    for (const listeners of this.listening.values()) for (const listener of listeners) listener.dispose();
    const { entries } = this;
    for (const [key, entry] of [...entries]) this.release(key, entry);
  }

  private async read(entry: Entry): Promise<{ text: string; shows: OpenTranscript }> {
    const { target } = entry;
    const session = this.holderOf(target) ?? (await entry.held);
    const thread = await session.load(target.episode);
    this.listen(session);
    const episode = session.episodes[thread];
    entry.made = madeOf(session, thread);
    const shows: OpenTranscript = { target, session, episode, thread, transcript: undefined };
    const { view, cell } = target;
    if (cell) {
      const told = await episode.call(cell.call);
      const code = isDamaged(told.call) ? undefined : told.toolCalls[cell.action]?.code;
      return { text: shown(code ?? l10n.t('There is no code in this call.')), shows };
    }
    if (view === undefined) shows.transcript = await this.soon(entry, session, thread);
    else if (view.mode === 'full' || view.mode === 'from') shows.transcript = await session.transcript(thread, view);
    else if (view.mode === 'sampled') shows.transcript = await sampledText(episode, view.call);
    else if (view.mode === 'prompt') shows.transcript = await promptText(episode, view.call, view.again, this.renderer);
    else return { text: await blockText(episode, view), shows };
    return { text: shows.transcript.text, shows };
  }

  /** The transcript; of a long episode what is read after a moment, and the whole as soon as it is there. */
  private async soon(entry: Entry, session: ReplaySession, thread: number): Promise<Transcript> {
    const whole = session.transcript(thread);
    const moment = new Promise<undefined>((resolve) => setTimeout(resolve, MOMENT, undefined));
    const found = await Promise.race([whole, moment]);
    if (found) return found;
    const tell = () => {
      for (const [key, one] of this.entries) if (one === entry) this.tellText(key, entry);
    };
    whole.then(tell, (error: Error) => this.log(`replay: ${entry.target.episode}: ${error.stack}`));
    return session.transcriptSoFar(thread);
  }

  /** The editor does not hear of a change before it has opened the document. */
  private tellText(key: string, entry: Entry): void {
    entry.late = !isOpen(key);
    if (!entry.late) this.textChanged.fire(Uri.parse(key, true));
  }

  /** Not all that reads a file opens it as a document, and only documents are closed. */
  private letGoUnopened(key: string, entry: Entry): void {
    setTimeout(() => {
      if (this.entries.get(key) === entry && !isOpen(key)) this.release(key, entry);
    }, UNOPENED).unref();
  }

  private opened({ uri }: TextDocument): void {
    const entry = this.entries.get(uri.toString());
    if (entry?.late) this.tellText(uri.toString(), entry);
  }

  /** What a person looks at now, where the episode is part of it: its cursor is the one that counts. */
  private holderOf({ directory, section, episode }: TranscriptTarget): ReplaySession | undefined {
    const { current } = this.sessions;
    if (!current || current.target.directory !== directory || current.target.section !== section) return undefined;
    return current.episodes.some(({ id }) => id === episode) ? current : undefined;
  }

  private followCurrent(): void {
    for (const [key, { target, shows }] of this.entries) {
      const holder = this.holderOf(target);
      if (shows && holder && holder !== shows.session) this.textChanged.fire(Uri.parse(key, true));
    }
    const { current } = this.sessions;
    if (current) this.movedEmitter.fire(current);
  }

  private listen(session: ReplaySession): void {
    if (this.listening.has(session)) return;
    this.listening.set(session, [
      session.onDidMove(() => this.movedEmitter.fire(session)),
      session.onDidChange(() => this.changed(session)),
      session.onDidClose(() => {
        for (const listener of this.listening.get(session) ?? []) listener.dispose();
        this.listening.delete(session);
        // Who holds the episode by itself shows it on.
        for (const [key, { shows }] of this.entries)
          if (shows?.session === session) this.textChanged.fire(Uri.parse(key, true));
      }),
    ]);
  }

  private changed(session: ReplaySession): void {
    for (const [key, entry] of this.entries) {
      const { shows, made } = entry;
      if (shows?.session === session && madeOf(session, shows.thread) !== made) this.tellText(key, entry);
    }
    this.newsEmitter.fire(session);
  }

  private closed({ uri }: TextDocument): void {
    const entry = this.entries.get(uri.toString());
    if (entry) this.release(uri.toString(), entry);
  }

  private release(key: string, { held }: Entry): void {
    this.entries.delete(key);
    held.then((session) => this.sessions.release(session)).catch(() => {});
  }
}

function isOpen(key: string): boolean {
  return workspace.textDocuments.some(({ uri }) => uri.toString() === key);
}

/** A run is written all the time, mostly elsewhere: the text is made anew when its own episode has changed. */
function madeOf(session: ReplaySession, thread: number): string {
  const episode = session.episodes[thread];
  const whole = Array.from({ length: episode.length }, (_, call) => (session.isWhole(thread, call) ? call : -1));
  return JSON.stringify([episode.length, episode.outcome, whole.filter((call) => call >= 0)]);
}
