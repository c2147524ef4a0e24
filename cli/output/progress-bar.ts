/**
 * One progress bar on the last line of the screen, with lines of text above it. cli-progress draws the bar itself; its
 * own cursor handling restores a place that has scrolled away once lines were printed above, so lines are kept here.
 */
import { Format, type Options } from 'cli-progress';
import { shownInLine } from '../../recordings/replay/index.ts';
import { clip, duration, whole } from './format.ts';

const WIDEST = 80;
const WIDEST_BAR = 30;
const REDRAW_MS = 120;
const ERASE = '\r\u001b[K';

export class ProgressBar {
  readonly #stream: NodeJS.WriteStream;
  readonly #label: string;
  readonly #started = performance.now();
  #first: number | undefined;
  #line = '';
  #drawnAt = Number.NEGATIVE_INFINITY;
  #pending: NodeJS.Timeout | undefined;

  constructor(stream: NodeJS.WriteStream, label: string) {
    this.#stream = stream;
    this.#label = label;
  }

  /** @param beside a few words after the count. */
  update(done: number, total: number, beside: string): void {
    this.#first ??= done;
    const gone = done - this.#first;
    const seconds = (performance.now() - this.#started) / 1000;
    const left = gone > 0 && done < total ? `${duration((seconds / gone) * (total - done))} left` : '';
    const columns = Math.min(WIDEST, this.#stream.columns || WIDEST) - 1;
    this.#line = barLine(this.#label, done, total, [beside, left].filter(Boolean).join(', '), columns);
    // Events may come by the thousand a second; the last one is always drawn.
    const wait = this.#drawnAt + REDRAW_MS - performance.now();
    if (wait <= 0 || done >= total) this.#draw();
    else this.#pending ??= setTimeout(() => this.#draw(), wait).unref();
  }

  /** Writes text where the bar stands and draws the bar again beneath it. */
  above(write: () => void): void {
    this.#stream.write(ERASE);
    write();
    this.#draw();
  }

  /** Takes the bar off the screen. */
  clear(): void {
    clearTimeout(this.#pending);
    this.#pending = undefined;
    this.#stream.write(ERASE);
  }

  #draw(): void {
    clearTimeout(this.#pending);
    this.#pending = undefined;
    this.#drawnAt = performance.now();
    this.#stream.write(`\r${this.#line}\u001b[K`);
  }
}

/** `label ███░░░ 12/40  beside`, never longer than the columns. */
export function barLine(label: string, done: number, total: number, tail: string, columns: number): string {
  const rest = ` ${whole(done)}/${whole(total)}${tail ? `  ${shownInLine(tail)}` : ''}`;
  const name = clip(shownInLine(label), Math.max(12, columns - rest.length - 14));
  const width = Math.max(4, Math.min(WIDEST_BAR, columns - name.length - rest.length - 1));
  const style: Options = {
    barsize: width,
    barCompleteString: '█'.repeat(width),
    barIncompleteString: '░'.repeat(width),
    barGlue: '',
  };
  const share = total > 0 ? Math.min(1, Math.max(0, done / total)) : 0;
  return clip(`${name} ${Format.BarFormat(share, style)}${rest}`, columns);
}
