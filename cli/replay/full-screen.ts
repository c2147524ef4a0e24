/**
 * The whole screen of a terminal: lines are drawn at their places, keys come one by one, and the terminal is given back as
 * it was however the program ends. Every text becomes harmless here, whoever wrote it.
 */
import { emitKeypressEvents } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import { shown } from '../../recordings/replay/index.ts';
import { EXIT } from '../exit.ts';
import type { Painter } from '../output/terminal.ts';
import { clipTo, widthOf } from './columns.ts';

export type Style = keyof Painter | 'plain';
export interface Span {
  text: string;
  style?: Style;
}
/** One line of the screen, from left to right. */
export type Line = readonly Span[];

export interface Key {
  /** `left`, `return`, `escape`, ...; empty for a character. */
  name: string;
  /** The character that was typed; empty for other keys. */
  text: string;
  ctrl: boolean;
}

/** What is shown on the screen, and what keys do. */
export interface View<R> {
  frame(rows: number, columns: number): Promise<Line[]>;
  /** @returns the result that ends the view, if it does. */
  key(key: Key): Promise<R | undefined>;
  /** A further key came while one is being worked on. */
  interrupt?(): void;
  /** Looks for news; true when there are any. */
  refresh?(): Promise<boolean>;
}

/** Screen and keyboard as far as they are used: those of the process, or a test's. */
export interface Devices {
  input: Pick<ReadStream, 'setRawMode' | 'resume' | 'pause' | 'on' | 'off'>;
  output: Pick<WriteStream, 'write' | 'on' | 'off'> & { rows?: number; columns?: number };
  paint: Painter;
}

/** Another buffer, no cursor, no wrapping of long lines: what is too long cannot scroll the screen. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const LEAVE = '\u001b[0m\u001b[?7h\u001b[?25h\u001b[?1049l';
/** How often files are looked at for news. Milliseconds. */
const PACE = 700;
const SMALLEST = { rows: 8, columns: 40 };

interface Keypress {
  name?: string;
  ctrl?: boolean;
  meta?: boolean;
  sequence?: string;
}

/**
 * Shows a view until a key ends it.
 * @returns its result; `interrupted` after Ctrl-C or when the terminal is gone.
 * @throws what the view throws, after the terminal was given back.
 */
export async function showFullScreen<R>(view: View<R>, devices: Devices): Promise<R | 'interrupted'> {
  const screen = new FullScreen(devices);
  screen.enter();
  try {
    return await new Promise<R | 'interrupted'>((done, fail) => drive(view, screen, done, fail));
  } finally {
    screen.leave();
  }
}

/** One key after the other; what is shown is drawn when no key waits. */
function drive<R>(
  view: View<R>,
  screen: FullScreen,
  done: (result: R | 'interrupted') => void,
  fail: (error: unknown) => void,
): void {
  let waiting = 0;
  let over = false;
  let chain = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const end = (how: () => void) => {
    over = true;
    clearTimeout(timer);
    how();
  };
  const work = (task: () => Promise<boolean>) => {
    if (waiting++ > 0) view.interrupt?.();
    chain = chain.then(async () => {
      waiting--;
      if (over) return;
      try {
        const news = await task();
        if (!over && news && waiting === 0) screen.draw(await view.frame(screen.rows, screen.columns));
      } catch (error) {
        end(() => fail(error));
      }
    });
  };
  screen.onResize = () => work(async () => true);
  screen.onEnd = () => end(() => done('interrupted'));
  screen.onKey = (key) => {
    if (key.ctrl && key.name === 'c') {
      view.interrupt?.();
      end(() => done('interrupted'));
      return;
    }
    work(async () => {
      const result = await view.key(key);
      if (result !== undefined) end(() => done(result));
      return true;
    });
  };
  const look = () => {
    timer = setTimeout(() => {
      chain.then(() => {
        if (over) return;
        work(async () => (await view.refresh?.()) ?? false);
        chain.then(look);
      });
    }, PACE);
  };
  work(async () => true);
  if (view.refresh) look();
}

class FullScreen {
  onKey: (key: Key) => void = () => {};
  onResize: () => void = () => {};
  onEnd: () => void = () => {};
  private readonly devices: Devices;
  private inside = false;

  constructor(devices: Devices) {
    this.devices = devices;
  }

  get rows(): number {
    return this.devices.output.rows || 24;
  }

  get columns(): number {
    return this.devices.output.columns || 80;
  }

  enter(): void {
    const { input, output } = this.devices;
    emitKeypressEvents(input as ReadStream);
    input.on('keypress', this.keypress);
    input.on('end', this.ended);
    output.on('resize', this.resized);
    output.on('error', this.ended);
    // Before the message of a crash is written, so that it can be read afterwards.
    process.on('uncaughtExceptionMonitor', this.restore);
    process.on('exit', this.restore);
    for (const signal of SIGNALS) process.on(signal, this.killed);
    process.on('SIGCONT', this.continued);
    this.take();
    input.resume();
  }

  leave(): void {
    const { input, output } = this.devices;
    input.off('keypress', this.keypress);
    input.off('end', this.ended);
    output.off('resize', this.resized);
    output.off('error', this.ended);
    process.off('uncaughtExceptionMonitor', this.restore);
    process.off('exit', this.restore);
    for (const signal of SIGNALS) process.off(signal, this.killed);
    process.off('SIGCONT', this.continued);
    this.restore();
    input.pause();
  }

  draw(lines: readonly Line[]): void {
    const { rows, columns } = this;
    if (!this.inside) return;
    const small = rows < SMALLEST.rows || columns < SMALLEST.columns;
    const drawn = small ? [[{ text: `${SMALLEST.columns} x ${SMALLEST.rows} at least` }]] : lines;
    let text = '';
    for (let row = 0; row < rows; row++)
      text += `\u001b[${row + 1};1H${this.painted(drawn[row] ?? [], columns)}\u001b[0m\u001b[K`;
    this.devices.output.write(text);
  }

  private painted(line: Line, columns: number): string {
    let left = columns;
    let text = '';
    for (const { text: raw, style = 'plain' } of line) {
      if (left <= 0) break;
      // Nothing that moves the cursor or changes colours gets past here.
      const safe = clipTo(shown(raw).replaceAll('\n', '␊').replaceAll('\t', ' '), left);
      left -= widthOf(safe);
      text += style === 'plain' ? safe : this.devices.paint[style](safe);
    }
    return text;
  }

  private take(): void {
    this.inside = true;
    this.devices.input.setRawMode(true);
    this.devices.output.write(ENTER);
  }

  private readonly restore = (): void => {
    if (!this.inside) return;
    this.inside = false;
    this.devices.output.write(LEAVE);
    try {
      this.devices.input.setRawMode(false);
    } catch {
      // the terminal is gone
    }
  };

  private readonly keypress = (
    text: string | undefined,
    { name = '', ctrl = false, meta, sequence }: Keypress,
  ): void => {
    if (ctrl && name === 'z' && process.platform !== 'win32') {
      this.restore();
      process.kill(process.pid, 'SIGTSTP');
      return;
    }
    if (meta && sequence?.length === 2 && sequence.startsWith(ESCAPE)) {
      // Escape and the key after it, typed faster than they are told apart.
      this.onKey({ name: 'escape', text: '', ctrl: false });
      this.onKey(keyOf(sequence.slice(1)));
      return;
    }
    const typed = text !== undefined && !ctrl && !meta && !/\p{Cc}/u.test(text) ? text : '';
    const known = name !== '' && name !== 'undefined' ? name : sequence === ESCAPE ? 'escape' : '';
    this.onKey({ name: typed === '' || typed === ' ' ? known : '', text: typed, ctrl });
  };

  private readonly resized = (): void => this.onResize();
  private readonly ended = (): void => this.onEnd();

  private readonly killed = (): void => {
    this.restore();
    process.exit(EXIT.interrupted);
  };

  private readonly continued = (): void => {
    if (!this.inside) this.take();
    this.onResize();
  };
}

const ESCAPE = '\u001b';
const RETURNS = ['\r', '\n'];

/** A single byte as a key. */
function keyOf(character: string): Key {
  if (character === '\u0003') return { name: 'c', text: '', ctrl: true };
  if (RETURNS.includes(character)) return { name: 'return', text: '', ctrl: false };
  return { name: '', text: /\p{Cc}/u.test(character) ? '' : character, ctrl: false };
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
