/**
 * The host's side of one stage: the cursor is the truth, the page shows where it stands and asks for moves. Knows nothing
 * of VS Code.
 */
import { shownInLine } from '../../../recordings/replay/index.ts';
import { type StageRestore, type ToHost, type ToPage, toHostSchema } from './messages.ts';
import type { StageSource } from './source.ts';
import type { StageWords } from './wording.ts';

/** What the stage's surroundings do for it. */
export interface Surroundings {
  post(message: ToPage): void;
  log(text: string): void;
}

/** An episode that is being written is shown anew at most so often. Milliseconds. */
const PACE = 500;
/** Bytes of an image that is shown. */
const LARGEST_IMAGE = 32 * 1024 * 1024;
/** Characters of what went wrong, which names of the recording may be in. */
const LONGEST_PROBLEM = 1999;

export class StageConversation {
  private readonly source: StageSource;
  private readonly words: StageWords;
  private readonly surroundings: Surroundings;
  private readonly listening: { dispose(): void }[];
  /** Episode that the page shows; undefined while there is no page that listens. */
  private shown: string | undefined;
  private waiting: NodeJS.Timeout | undefined;
  /** Messages go out in the order of what they are about. */
  private working: Promise<void> = Promise.resolve();
  private over = false;

  constructor(source: StageSource, words: StageWords, surroundings: Surroundings) {
    this.source = source;
    this.words = words;
    this.surroundings = surroundings;
    this.listening = [source.onDidMove(() => this.moved()), source.onDidChange(() => this.changed())];
  }

  /** The page was hidden and with it its script. It says `ready` again when it is back. */
  gone(): void {
    this.shown = undefined;
    clearTimeout(this.waiting);
    this.waiting = undefined;
  }

  /** Takes what a page sent, whatever it is. @returns when it was done. */
  hear(sent: unknown): Promise<void> {
    const read = toHostSchema.safeParse(sent);
    if (!read.success) {
      this.surroundings.log(`the stage sent something that is no message: ${read.error.message.slice(0, 500)}`);
      return Promise.resolve();
    }
    return this.do(() => this.answer(read.data));
  }

  dispose(): void {
    this.over = true;
    this.gone();
    for (const one of this.listening) one.dispose();
  }

  private async answer(message: ToHost): Promise<void> {
    const { source } = this;
    switch (message.type) {
      case 'ready':
        return this.snapshot();
      case 'goto':
        // What a page that shows another episode still asks for is not meant for this one.
        if (message.episode === source.place().episode) await source.goto(message);
        return;
      case 'attempt':
        return source.enter(message.episode);
      case 'scene':
        return this.scene(message.episode);
      case 'image':
        return this.image(message.sha);
      case 'trouble':
        this.surroundings.log(`stage: ${message.message}`);
    }
  }

  private moved(): void {
    if (this.shown === undefined) return;
    void this.do(async () => {
      const { episode, position } = this.source.place();
      if (episode !== this.shown) return this.snapshot();
      this.post({ type: 'position', episode, position, restore: this.restore() });
    });
  }

  private changed(): void {
    if (this.shown === undefined || this.waiting) return;
    this.waiting = setTimeout(() => {
      this.waiting = undefined;
      if (this.shown !== undefined) void this.do(() => this.snapshot());
    }, PACE);
    this.waiting.unref();
  }

  private async snapshot(): Promise<void> {
    for (;;) {
      const episode = await this.source.snapshot();
      const place = this.source.place();
      // The cursor went to another attempt meanwhile.
      if (place.episode !== episode.id) continue;
      this.shown = episode.id;
      const { position } = place;
      this.post({ type: 'snapshot', episode, position, words: this.words, restore: this.restore() });
      return;
    }
  }

  private async scene(episode: string): Promise<void> {
    try {
      this.post({ type: 'scene', episode, scene: await this.source.scene(episode), problem: null });
    } catch (error) {
      this.post({ type: 'scene', episode, scene: null, problem: saidBy(error) });
    }
  }

  private async image(sha: string): Promise<void> {
    try {
      const { mediaType, bytes } = await this.source.image(sha);
      if (bytes.length > LARGEST_IMAGE) throw new Error(`the image is too large to be shown (${bytes.length} bytes)`);
      this.post({ type: 'image', sha, mediaType, base64: Buffer.from(bytes).toString('base64'), problem: null });
    } catch (error) {
      this.post({ type: 'image', sha, mediaType: '', base64: null, problem: saidBy(error) });
    }
  }

  private restore(): StageRestore {
    return this.source.restore();
  }

  private post(message: ToPage): void {
    if (!this.over) this.surroundings.post(message);
  }

  private do(work: () => Promise<void>): Promise<void> {
    this.working = this.working.then(work).catch((error: Error) => {
      this.surroundings.log(`stage: ${error.stack ?? error.message}`);
      if (this.shown === undefined) return;
      this.post({ type: 'refused', message: saidBy(error) });
      const { episode, position } = this.source.place();
      // Where the page went ahead, it comes back.
      if (episode === this.shown) this.post({ type: 'position', episode, position, restore: this.restore() });
    });
    return this.working;
  }
}

function saidBy(error: unknown): string {
  return shownInLine((error as Error).message, LONGEST_PROBLEM);
}
