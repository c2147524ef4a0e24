/** One progress bar at the bottom of the screen, with lines of text above it. */
import { Format, SingleBar } from 'cli-progress';
import { clip, duration, whole } from './format.ts';

const WIDEST = 80;

export class ProgressBar {
  readonly #stream: NodeJS.WriteStream;
  readonly #label: string;
  readonly #bar: SingleBar;
  readonly #started = performance.now();
  #first: number | undefined;
  #total: number;

  constructor(stream: NodeJS.WriteStream, label: string, total: number) {
    this.#stream = stream;
    this.#label = label;
    this.#total = total;
    this.#bar = new SingleBar({
      stream,
      hideCursor: true,
      clearOnComplete: true,
      stopOnComplete: false,
      gracefulExit: false,
      fps: 8,
      format: (options, parameters, payload: { beside: string; left: string }) => {
        const columns = Math.min(WIDEST, stream.columns || WIDEST) - 1;
        const count = ` ${whole(parameters.value)}/${whole(parameters.total)}`;
        const tail = [payload.beside, payload.left].filter(Boolean).join(', ');
        const rest = count + (tail ? `  ${tail}` : '');
        const name = clip(this.#label, Math.max(12, columns - rest.length - 14));
        const width = Math.max(4, Math.min(30, columns - name.length - rest.length - 1));
        const drawn = Format.BarFormat(parameters.progress, {
          ...options,
          barsize: width,
          barCompleteString: '█'.repeat(width),
          barIncompleteString: '░'.repeat(width),
        });
        return clip(`${name} ${drawn}${rest}`, columns);
      },
    });
    this.#bar.start(total, 0, { beside: '', left: '' });
  }

  update(done: number, total: number, beside: string): void {
    this.#first ??= done;
    if (total !== this.#total) {
      this.#total = total;
      this.#bar.setTotal(total);
    }
    const gone = done - this.#first;
    const seconds = (performance.now() - this.#started) / 1000;
    const left = gone > 0 && done < total ? `${duration((seconds / gone) * (total - done))} left` : '';
    this.#bar.update(done, { beside, left });
  }

  /** Writes text where the bar stands and draws the bar again beneath it. */
  above(write: () => void): void {
    this.#erase();
    write();
    this.#bar.render();
  }

  /** Takes the bar off the screen. */
  clear(): void {
    this.#bar.stop();
    this.#erase();
  }

  #erase(): void {
    this.#stream.write('\r\u001b[K');
  }
}
