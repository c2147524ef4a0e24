/** A terminal that keeps what is written, without a screen. */
import { painterFor, type Terminal } from '../../../cli/output/terminal.ts';

export interface MemoryTerminal extends Terminal {
  readonly output: string[];
  readonly errors: string[];
}

export function memoryTerminal(): MemoryTerminal {
  const output: string[] = [];
  const errors: string[] = [];
  const paint = painterFor(false, {});
  return {
    output,
    errors,
    out: (text) => output.push(text),
    err: (text) => errors.push(text),
    screen: undefined,
    columns: 80,
    paint,
    paintErr: paint,
    exitCode: 0,
  };
}
