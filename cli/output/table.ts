/** Tables that fit the terminal: the widest text columns wrap first. */
import Table from 'cli-table3';
import { shown } from '../../recordings/replay/index.ts';
import type { Terminal } from './terminal.ts';
import { wrap } from './wrap.ts';

export interface Column {
  title: string;
  align?: 'left' | 'right';
  /** May be wrapped onto several lines; numbers may not. */
  wrap?: boolean;
}

const NARROWEST = 8;
/** A cell's padding of one space on each side, and the line between two cells. */
const FRAME = 3;

/** @param told one text a column, without colours: those of columns that wrap are broken by their length. */
export function table(terminal: Pick<Terminal, 'columns' | 'paint'>, columns: Column[], told: string[][]): string {
  // As wide as they will be seen.
  const rows = told.map((row) => row.map(shown));
  const widths = columns.map((column, i) => Math.max(column.title.length, ...rows.map((row) => longestLine(row[i]))));
  let excess = widths.reduce((sum, width) => sum + width + FRAME, 1) - terminal.columns;
  while (excess > 0) {
    const widest = widths.reduce(
      (best, width, i) => (columns[i].wrap && width > NARROWEST && (best < 0 || width > widths[best]) ? i : best),
      -1,
    );
    if (widest < 0) break;
    widths[widest]--;
    excess--;
  }
  const drawn = new Table({
    head: columns.map((column) => terminal.paint.bold(column.title)),
    colWidths: widths.map((width) => width + 2),
    colAligns: columns.map((column) => column.align ?? 'left'),
    style: { head: [], border: [], compact: true },
  });
  drawn.push(...rows.map((row) => row.map((text, i) => (columns[i].wrap ? wrap(text, widths[i]) : text))));
  return drawn.toString();
}

function longestLine(text: string): number {
  return Math.max(0, ...text.split('\n').map((line) => line.length));
}
