/**
 * The host's side of one page: tells it everything when it is ready, later only what has changed, and does what it asks
 * for. Knows nothing of VS Code.
 */
import { changeBetween } from './changes.ts';
import { csvOf } from './csv.ts';
import type { PageData } from './data.ts';
import { type PageRestore, type ToPage, toHostSchema } from './messages.ts';
import type { RunPageModel } from './model.ts';
import type { PageWords } from './wording.ts';

/** What the page's surroundings do for it. */
export interface Surroundings {
  post(message: ToPage): void;
  /** Offers a file to be saved. @param name without a folder. */
  save(name: string, bytes: Uint8Array): void;
  log(text: string): void;
}

/** Changes that come fast are sent together. Milliseconds. */
const PACE = 400;
/** Estimates go on while nothing else happens. Milliseconds. */
const BEAT = 5000;

export class Conversation {
  private readonly model: RunPageModel;
  private readonly words: PageWords;
  private readonly restore: PageRestore;
  private readonly surroundings: Surroundings;
  /** What the page shows; undefined while there is none that listens. */
  private shown: PageData | undefined;
  private waiting: NodeJS.Timeout | undefined;
  private readonly beat: NodeJS.Timeout;

  constructor(model: RunPageModel, words: PageWords, restore: PageRestore, surroundings: Surroundings) {
    this.model = model;
    this.words = words;
    this.restore = restore;
    this.surroundings = surroundings;
    this.beat = setInterval(() => this.changed(), BEAT);
    this.beat.unref();
  }

  /** The model knows more, or time has passed. */
  changed(): void {
    if (!this.shown || this.waiting) return;
    this.waiting = setTimeout(() => {
      this.waiting = undefined;
      this.send();
    }, PACE);
    this.waiting.unref();
  }

  /** The page was hidden and with it its script. It says `ready` again when it is back. */
  gone(): void {
    this.shown = undefined;
    clearTimeout(this.waiting);
    this.waiting = undefined;
  }

  /** Takes what a page sent, whatever it is. */
  hear(sent: unknown): void {
    const read = toHostSchema.safeParse(sent);
    if (!read.success) {
      this.surroundings.log(`the run page sent something that is no message: ${read.error.message.slice(0, 500)}`);
      return;
    }
    const message = read.data;
    switch (message.type) {
      case 'ready':
        this.snapshot();
        return;
      case 'export-csv':
        this.surroundings.save(
          `${this.fileName}-${message.table}.csv`,
          new TextEncoder().encode(csvOf(this.data(), message.table)),
        );
        return;
      case 'export-png':
        this.surroundings.save(`${this.fileName}-${message.plot}.png`, Buffer.from(message.base64, 'base64'));
        return;
      case 'trouble':
        this.surroundings.log(`run page: ${message.message}`);
        return;
    }
  }

  dispose(): void {
    this.gone();
    clearInterval(this.beat);
  }

  private snapshot(): void {
    // What happened until now is in the snapshot.
    this.model.takeNews();
    this.shown = this.data();
    this.surroundings.post({ type: 'snapshot', data: this.shown, words: this.words, restore: this.restore });
  }

  private send(): void {
    if (!this.shown) return;
    const next = this.data();
    const change = changeBetween(this.shown, next, this.model.takeNews());
    if (!change) return;
    this.shown = next;
    this.surroundings.post(change);
  }

  private data(): PageData {
    return this.model.data(Date.now());
  }

  /** The last part of the run's name; a path's separators and what file systems refuse become dashes. */
  private get fileName(): string {
    const name = this.data().head.run.split('/').at(-1) ?? '';
    return name.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^[.-]+/, '') || 'run';
  }
}
