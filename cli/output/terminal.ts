/** Where commands write: results to standard output, progress and complaints to standard error. */
import { safeText } from './safe-text.ts';

export interface Terminal {
  /**
   * One line of the result (or several, joined by line feeds). Unseen characters in it become marks: JSON is made by
   * `jsonText`, which is read back as it was.
   */
  out(text: string): void;
  /** One line of progress or of a complaint. */
  err(text: string): void;
  /** Whether standard error is a screen that progress bars may be drawn on. */
  readonly screen: NodeJS.WriteStream | undefined;
  /** Columns that a result may use. */
  readonly columns: number;
  readonly paint: Painter;
  readonly paintErr: Painter;
  /** Exit code the command will end with; the worst one told counts. */
  exitCode: number;
}

export interface Painter {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  yellow(text: string): string;
  green(text: string): string;
}

const plain = (text: string) => text;
const NO_COLOURS: Painter = { bold: plain, dim: plain, red: plain, yellow: plain, green: plain };
const style = (open: number, close: number) => (text: string) => `\u001b[${open}m${text}\u001b[${close}m`;
const COLOURS: Painter = {
  bold: style(1, 22),
  dim: style(2, 22),
  red: style(31, 39),
  yellow: style(33, 39),
  green: style(32, 39),
};

/** Colours only on a screen, and never against the person's wish (https://no-color.org). */
export function painterFor(isScreen: boolean, environment: Record<string, string | undefined>): Painter {
  return isScreen && !environment.NO_COLOR && environment.TERM !== 'dumb' ? COLOURS : NO_COLOURS;
}

const WIDEST = 80;

/** The terminal of this process. Output that cannot be written (`| head`, a full disk) ends the output, not the work. */
export function processTerminal(): Terminal {
  const gone = new Set<NodeJS.WriteStream>();
  let lost = false;
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      gone.add(stream);
      // A reader that has seen enough is no failure.
      if (error.code === 'EPIPE' || lost) return;
      lost = true;
      const name = stream === process.stdout ? 'standard output' : 'standard error';
      write(process.stderr, `error: ${name} cannot be written any more (${error.message}); the work itself goes on`);
      process.on('exit', () => {
        process.exitCode ||= 1;
      });
    });
  const write = (stream: NodeJS.WriteStream, text: string) => {
    if (!gone.has(stream)) stream.write(`${text}\n`);
  };
  const dumb = process.env.TERM === 'dumb';
  const [paint, paintErr] = [process.stdout, process.stderr].map(({ isTTY }) =>
    painterFor(isTTY === true, process.env),
  );
  return {
    out: (text) => write(process.stdout, safeText(text, paint === COLOURS)),
    err: (text) => write(process.stderr, safeText(text, paintErr === COLOURS)),
    screen: process.stderr.isTTY && !dumb ? process.stderr : undefined,
    columns: Math.min(WIDEST, process.stdout.isTTY ? process.stdout.columns || WIDEST : WIDEST),
    paint,
    paintErr,
    exitCode: 0,
  };
}
