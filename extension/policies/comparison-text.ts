/** The comparison of two evaluations as a text to read and copy. Knows nothing of VS Code. */
import type { DaemonResult } from '../../protocol/daemon.ts';
import type { EvaluationSummary } from '../../protocol/records.ts';

type Comparison = DaemonResult<'evaluations.compare'>;
type Paired = Comparison['comparison']['overall'];

/** What words are fetched with: `l10n` of VS Code. */
export interface Language {
  t(text: string, ...values: (string | number)[]): string;
}

/** `31/50 solved, 2 invalid` */
export function evaluationWords(l10n: Language, { total }: Pick<EvaluationSummary, 'total'>): string {
  const { successes, episodes, invalid } = total;
  const words = l10n.t('{0}/{1} solved', successes, episodes);
  return invalid > 0 ? l10n.t('{0}, {1} invalid', words, invalid) : words;
}

/** @param names of A and B. */
export function comparisonText(l10n: Language, { a, b, comparison }: Comparison, names: [string, string]): string {
  const heads = ['', l10n.t('pairs'), 'A', 'B', l10n.t('A won'), l10n.t('B won'), 'p'];
  const rows = Object.entries(comparison.suites)
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([suite, paired]) => [suite, ...cells(paired)]);
  rows.push([l10n.t('overall'), ...cells(comparison.overall)]);
  const { invalid, missing } = comparison;
  const notes = [
    l10n.t('A: {0}, policy version {1} ({2})', names[0], a.policyVersion, a.directory),
    l10n.t('B: {0}, policy version {1} ({2})', names[1], b.policyVersion, b.directory),
    '',
    ...table([heads, ...rows]),
    '',
    l10n.t(
      'In brackets: 95% interval (Wilson). p: exact two-sided sign test on pairs of the same task, state and attempt.',
    ),
  ];
  for (const side of ['a', 'b'] as const) {
    const name = side.toUpperCase();
    if (invalid[side].length > 0)
      notes.push(l10n.t('{0} has {1} invalid episodes, which are left out.', name, invalid[side].length));
    if (missing[side].length > 0)
      notes.push(l10n.t('{0} lacks {1} episodes that the other has played.', name, missing[side].length));
  }
  return `${notes.join('\n')}\n`;
}

function cells({ pairs, a, b, wins, losses, p }: Paired): string[] {
  // The daemon counts from B's side: `wins` are pairs that only B solved.
  return [String(pairs), rateCell(a), rateCell(b), String(losses), String(wins), p < 0.001 ? '< 0.001' : p.toFixed(3)];
}

function rateCell({ rate, low, high }: Paired['a']): string {
  const percent = (share: number) => `${(share * 100).toFixed(1)}`;
  return rate === null ? '–' : `${percent(rate)}% [${percent(low)}, ${percent(high)}]`;
}

/** Columns side by side; the first to the left, the others to the right. */
function table(rows: string[][]): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
      .join('  ')
      .trimEnd(),
  );
}
