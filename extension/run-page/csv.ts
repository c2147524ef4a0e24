/** CSV files (RFC 4180) of what the page shows. */
import type { PageData } from './data.ts';
import type { ExportTable } from './messages.ts';
import { plotTable } from './plots.ts';

type Cell = string | number | null;

/** The table whole, with names of columns in the first line: made for programs, so in plain names and numbers. */
export function csvOf(data: PageData, table: ExportTable): string {
  if (table === 'samples') return csv(samples(data));
  if (table === 'evaluations') return csv(evaluations(data));
  const { columns, rows } = plotTable(data, table);
  return csv([columns.map(({ name }) => name), ...rows]);
}

function samples({ rounds }: PageData): Cell[][] {
  const rows = rounds.flatMap(({ round, samples: byStatus }) =>
    Object.entries(byStatus).map(([status, calls]): Cell[] => [round, status, calls]),
  );
  return [['round', 'status', 'calls'], ...rows];
}

function evaluations({ evaluations: told }: PageData): Cell[][] {
  const head = ['suite', 'planner', 'successes', 'episodes', 'rate', 'low', 'high'];
  const pairedHead = ['against', 'pairs', 'won', 'lost', 'p'];
  const rows: Cell[][] = [];
  for (const { label, overall, suites } of told?.planners ?? [])
    for (const [suite, rate] of [...Object.entries(suites), ['overall', overall] as const])
      rows.push([
        ...[suite, label, rate.successes, rate.episodes, rate.rate],
        // Without an episode there is nothing that an interval could be of.
        ...(rate.rate === null ? [null, null] : [rate.low, rate.high]),
        ...pairedHead.map(() => null),
      ]);
  for (const { a, b, overall, suites } of told?.comparisons ?? [])
    for (const [suite, { pairs, wins, losses, p }] of [...Object.entries(suites), ['overall', overall] as const])
      rows.push([suite, b, null, null, null, null, null, a, pairs, wins, losses, p]);
  return [[...head, ...pairedHead], ...rows];
}

function csv(rows: Cell[][]): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

function cell(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  // A spreadsheet would take a name that begins so for a formula and run it.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
