/** A config as the services share it: read once for each version of its text. */
import { type ConfigReading, readConfigText } from '../../../protocol/config-text.ts';
import { LineIndex } from '../../../protocol/line-index.ts';
import type { Position, Range } from '../contract.ts';

export interface ConfigText {
  /** Without a byte-order mark; all offsets count in it. */
  text: string;
  json: boolean;
  reading: ConfigReading;
  position(offset: number): Position;
  range(start: number, end: number): Range;
  offset(position: Position): number;
}

/** Never throws. @param fileName one that ends in `.json` is held to JSON's grammar. */
export function openConfig(written: string, fileName = 'training.yaml'): ConfigText {
  const mark = written.startsWith('\uFEFF') ? 1 : 0;
  const text = mark ? written.slice(1) : written;
  const lines = new LineIndex(text);
  // Editors take the mark away; where one is left it counts as a column of the first line.
  const shift = (line: number) => (line === 0 ? mark : 0);
  const position = (offset: number): Position => {
    const { line, column } = lines.position(offset);
    return { line: line - 1, character: column - 1 + shift(line - 1) };
  };
  return {
    text,
    json: /\.json$/i.test(fileName),
    reading: readConfigText(written, fileName),
    position,
    range: (start, end) => ({ start: position(start), end: position(Math.max(start, Math.min(end, text.length))) }),
    offset: ({ line, character }) => lines.offset(line + 1, character + 1 - shift(line)),
  };
}
