/** Shows a run while it goes on: bars on a screen, plain lines elsewhere, JSON Lines on request. */
import type { JournalLine, ProgressTick, RunEvent } from '../../protocol/journal.ts';
import { duration, whole } from './format.ts';
import { ProgressBar } from './progress-bar.ts';
import { RunStory } from './run-story.ts';
import { jsonText } from './safe-text.ts';
import type { Terminal } from './terminal.ts';

export interface RunPresenter {
  show(event: RunEvent): void;
  /** A line that is not part of the run, for example about Ctrl-C. */
  note(text: string): void;
  close(): void;
}

/** Plain lines: at most one this often while a unit of work goes on ... */
const PLAIN_SECONDS = 15;
/** ... or this often when this share of it was done since the last. */
const PLAIN_LEAST_SECONDS = 2;
const PLAIN_SHARE = 0.25;
const JSON_TICK_MS = 1000;

/** @param now milliseconds; replaced in tests. */
export function runPresenter(terminal: Terminal, options: { json?: boolean; now?: () => number }): RunPresenter {
  const now = options.now ?? (() => performance.now());
  if (options.json) return jsonPresenter(terminal, now);
  const story = new RunStory();
  const view = terminal.screen ? new BarView(terminal) : new PlainView(terminal, now);
  return {
    show(event) {
      if (event.kind === 'progress') {
        view.tick(event.tick, story.beside(event.tick));
        return;
      }
      // The command's own error says it, with what to do.
      if (event.line.event.type === 'run-failed') return;
      // The past is not told again, but later sentences may build on it.
      const sentence = story.tell(event.line.event);
      if (sentence && !event.past) view.line(clock(event.line), sentence);
    },
    note: (text) => view.line('', { text }),
    close: () => view.close(),
  };
}

interface View {
  tick(tick: ProgressTick, beside: string): void;
  line(time: string, sentence: { text: string; severity?: 'warning' | 'error' | 'good' }): void;
  close(): void;
}

function clock(line: JournalLine): string {
  return new Date(line.at).toLocaleTimeString('en-GB');
}

function painted(terminal: Terminal, time: string, sentence: Parameters<View['line']>[1]): string {
  const { paintErr } = terminal;
  const colour = { warning: paintErr.yellow, error: paintErr.red, good: paintErr.green };
  const text = sentence.severity ? colour[sentence.severity](sentence.text) : sentence.text;
  return time ? `${paintErr.dim(time)} ${text}` : text;
}

class BarView implements View {
  readonly #terminal: Terminal;
  #bar: ProgressBar | undefined;
  #label = '';

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  tick(tick: ProgressTick, beside: string): void {
    if (this.#label !== tick.label || !this.#bar) {
      this.#bar?.clear();
      this.#bar = new ProgressBar(this.#terminal.screen as NodeJS.WriteStream, tick.label);
      this.#label = tick.label;
    }
    this.#bar.update(tick.done, tick.total, beside);
  }

  line(time: string, sentence: Parameters<View['line']>[1]): void {
    this.#bar?.above(() => this.#terminal.err(painted(this.#terminal, time, sentence)));
    if (!this.#bar) this.#terminal.err(painted(this.#terminal, time, sentence));
  }

  close(): void {
    this.#bar?.clear();
    this.#bar = undefined;
  }
}

class PlainView implements View {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  #label = '';
  #started = { at: 0, done: 0 };
  #told = { at: 0, done: 0 };

  constructor(terminal: Terminal, now: () => number) {
    this.#terminal = terminal;
    this.#now = now;
  }

  tick(tick: ProgressTick, beside: string): void {
    const at = this.#now();
    const fresh = tick.label !== this.#label;
    if (fresh) {
      this.#label = tick.label;
      this.#started = { at, done: tick.done };
    } else {
      const share = (tick.done - this.#told.done) / Math.max(1, tick.total);
      const seconds = (at - this.#told.at) / 1000;
      const due = seconds >= PLAIN_SECONDS ? share > 0 : seconds >= PLAIN_LEAST_SECONDS && share >= PLAIN_SHARE;
      const complete = tick.done >= tick.total && this.#told.done < tick.total;
      if (!due && !complete) return;
    }
    this.#told = { at, done: tick.done };
    const left = remaining(this.#started, { at, done: tick.done }, tick.total);
    const parts = [
      `${tick.label} ${whole(tick.done)}/${whole(tick.total)} ${tick.unit}`,
      beside,
      left && `${left} left`,
    ];
    this.#terminal.err(`${new Date().toLocaleTimeString('en-GB')} ${parts.filter(Boolean).join(', ')}`);
  }

  line(time: string, sentence: Parameters<View['line']>[1]): void {
    this.#terminal.err(painted(this.#terminal, time, sentence));
  }

  close(): void {}
}

/** Time left at the speed so far; empty while nothing can be said. */
function remaining(from: { at: number; done: number }, to: { at: number; done: number }, total: number): string {
  const done = to.done - from.done;
  if (done <= 0 || to.done >= total) return '';
  return duration(((to.at - from.at) / 1000 / done) * (total - to.done));
}

function jsonPresenter(terminal: Terminal, now: () => number): RunPresenter {
  let label = '';
  let at = Number.NEGATIVE_INFINITY;
  return {
    show(event) {
      if (event.kind === 'progress') {
        const { tick } = event;
        // Ticks may come by the thousand; one a second, the first and the last of each kind say enough.
        if (tick.label === label && tick.done < tick.total && now() - at < JSON_TICK_MS) return;
        label = tick.label;
        at = now();
      }
      terminal.out(jsonText(event));
    },
    note: (text) => terminal.err(text),
    close: () => {},
  };
}
