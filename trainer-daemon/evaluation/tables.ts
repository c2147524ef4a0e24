/** The final table: success by suite and planner, with intervals and paired tests, as text and as data. */
import Table from 'cli-table3';
import { plural } from '../../protocol/counting.ts';
import { parseTaskId } from '../../protocol/ids.ts';
import { succeeded } from '../../protocol/outcome.ts';
import type { EpisodeRecord, EvaluationSummary } from '../../protocol/records.ts';
import { type Comparison, type Paired, pairEpisodes } from './compare.ts';
import { finalTries, invalidEpisodes, type NamedEpisode, type Rate, rateOf } from './outcomes.ts';

/** Columns of a terminal that every table fits in. */
export const TABLE_WIDTH = 80;
const LABEL_WIDTH = 24;
const NAMED_AT_MOST = 5;

/**
 * Tallies of an evaluation. `episodes` counts every (task, init, attempt) once, invalid ones included; rates are
 * successes / (episodes - invalid).
 */
export function summarise(episodes: readonly EpisodeRecord[]): Pick<EvaluationSummary, 'total' | 'suites'> {
  const total = { episodes: 0, successes: 0, invalid: 0 };
  const suites: EvaluationSummary['suites'] = {};
  for (const episode of finalTries(episodes).values()) {
    const { suite } = parseTaskId(episode.task);
    suites[suite] ??= { episodes: 0, successes: 0, invalid: 0 };
    for (const tally of [total, suites[suite]]) {
      tally.episodes++;
      if (!episode.valid) tally.invalid++;
      if (succeeded(episode)) tally.successes++;
    }
  }
  return { total, suites };
}

/** The rate of a tally over its valid episodes. */
export function tallyRate(tally: EvaluationSummary['total']): Rate {
  return rateOf(tally.successes, tally.episodes - tally.invalid);
}

export interface EvaluationRow {
  /** Head of the column, for example `base`, `SFT`, `RL`. */
  label: string;
  episodes: readonly EpisodeRecord[];
}

export interface EvaluationTable {
  /** At most {@link TABLE_WIDTH} columns. */
  text: string;
  json: {
    planners: { label: string; overall: Rate; suites: Record<string, Rate>; invalid: NamedEpisode[] }[];
    /** Each planner with the one before it, and the last with the first. */
    comparisons: ({ a: string; b: string } & { comparison: Comparison })[];
  };
}

/**
 * One line a suite, one column a planner, then the overall rate with its 95% Wilson interval, and below the paired
 * tests and the episodes left out as invalid, by name.
 */
export function evaluationTable(rows: readonly EvaluationRow[]): EvaluationTable {
  const planners = rows.map(({ label, episodes }) => {
    const { total, suites } = summarise(episodes);
    return {
      label,
      overall: tallyRate(total),
      suites: Object.fromEntries(Object.entries(suites).map(([suite, tally]) => [suite, tallyRate(tally)])),
      invalid: invalidEpisodes(finalTries(episodes).values()),
    };
  });
  const pairs = rows.slice(1).map((_, index) => [index, index + 1]);
  if (rows.length > 2) pairs.push([0, rows.length - 1]);
  const comparisons = pairs.map(([one, two]) => ({
    a: rows[one].label,
    b: rows[two].label,
    comparison: pairEpisodes(rows[one].episodes, rows[two].episodes),
  }));

  const suites = [...new Set(planners.flatMap((planner) => Object.keys(planner.suites)))].sort();
  const short = shortLabels(suites);
  const columns = planners.map((planner) => [
    clip(planner.label, LABEL_WIDTH),
    ...suites.map((suite) => (planner.suites[suite] ? cell(planner.suites[suite]) : '-')),
    cell(planner.overall),
    intervalCell(planner.overall),
  ]);
  const lines = stackedTables(['suite', ...short, 'overall', '95% interval'], columns);
  if (comparisons.length > 0) {
    lines.push('');
    for (const { a, b, comparison } of comparisons) lines.push(...comparisonLines(a, b, comparison));
    lines.push('p: exact two-sided sign test on pairs of the same task, state and attempt.');
  }
  for (const { label, invalid } of planners) lines.push(...invalidLines(label, invalid));
  return { text: lines.join('\n'), json: { planners, comparisons } };
}

/** A paired comparison of two runs: by suite, then overall. */
export function comparisonTable(a: string, b: string, comparison: Comparison): string {
  const suites = Object.keys(comparison.suites).sort();
  const all = [...suites.map((suite) => comparison.suites[suite]), comparison.overall];
  const column = (head: string, value: (paired: Paired) => string) => [clip(head, LABEL_WIDTH), ...all.map(value)];
  const lines = stackedTables(
    ['suite', ...shortLabels(suites), 'overall'],
    [
      column(a, (paired) => cell(paired.a)),
      column(b, (paired) => cell(paired.b)),
      column('won', (paired) => String(paired.wins)),
      column('lost', (paired) => String(paired.losses)),
      column('p', (paired) => pText(paired.p).replace(/^= /, '')),
    ],
  );
  lines.push('', ...comparisonLines(a, b, comparison));
  lines.push('p: exact two-sided sign test on pairs of the same task, state and attempt.');
  lines.push(...invalidLines(a, comparison.invalid.a), ...invalidLines(b, comparison.invalid.b));
  return lines.join('\n');
}

/** Puts as many columns side by side as fit and the rest below, under the same row heads. */
function stackedTables(heads: string[], columns: string[][]): string[] {
  const width = (cells: string[]) => Math.max(...cells.map((text) => text.length));
  const lines: string[] = [];
  for (let start = 0; start < columns.length || start === 0; ) {
    let end = start;
    let used = width(heads);
    while (end < columns.length && (end === start || used + 2 + width(columns[end]) <= TABLE_WIDTH)) {
      used += 2 + width(columns[end++]);
    }
    if (lines.length > 0) lines.push('');
    lines.push(...plainTable(heads, columns.slice(start, end)));
    start = Math.max(end, start + 1);
  }
  return lines;
}

/** Lines of a table without borders, a rule below the heads. */
function plainTable(heads: string[], columns: string[][]): string[] {
  const bare = ['top', 'bottom', 'left', 'mid', 'right'].flatMap((side) =>
    ['', '-mid', '-left', '-right'].map((place) => [side + place, '']),
  );
  const table = new Table({
    chars: { ...Object.fromEntries(bare), middle: '  ' },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
    colAligns: ['left', ...columns.map(() => 'right' as const)],
  });
  heads.forEach((head, row) => {
    table.push([head, ...columns.map((column) => column[row])]);
  });
  const lines = table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
  lines.splice(1, 0, '-'.repeat(Math.max(...lines.map((line) => line.length))));
  return lines;
}

const percent = (share: number) => (100 * share).toFixed(1);
const cell = ({ rate, successes, episodes }: Rate) =>
  rate === null ? '-' : `${percent(rate)}% ${`${successes}/${episodes}`.padStart(7)}`;
const intervalCell = ({ rate, low, high }: Rate) => (rate === null ? '-' : `${percent(low)}-${percent(high)}%`);
const clip = (text: string, width: number) => (text.length <= width ? text : `${text.slice(0, width - 3)}...`);
const pText = (p: number) => (p.toFixed(3) === '0.000' ? '< 0.001' : `= ${p.toFixed(3)}`);

function comparisonLines(a: string, b: string, { overall, invalid, missing }: Comparison): string[] {
  const title = `${clip(b, LABEL_WIDTH)} against ${clip(a, LABEL_WIDTH)}:`;
  if (overall.pairs === 0) return [title, '  no pair of valid episodes'];
  const points = 100 * ((overall.b.rate ?? 0) - (overall.a.rate ?? 0));
  const lines = [
    title,
    `  ${points < 0 ? '' : '+'}${points.toFixed(1)} points on ${plural(overall.pairs, 'pair')}, ${overall.wins} won, ${overall.losses} lost, p ${pText(overall.p)}`,
  ];
  const left = [
    [invalid.a.length + invalid.b.length, 'invalid'],
    [missing.a.length + missing.b.length, 'without a counterpart'],
  ] as const;
  const told = left.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  if (told.length > 0) lines.push(`  left out: ${told.join(', ')}`);
  return lines;
}

function invalidLines(label: string, invalid: NamedEpisode[]): string[] {
  if (invalid.length === 0) return [];
  const lines = [
    '',
    `${clip(label, LABEL_WIDTH)}: ${plural(invalid.length, 'invalid episode')} left out (infrastructure)`,
  ];
  for (const { task, init, attempt, reason } of invalid.slice(0, NAMED_AT_MOST)) {
    lines.push(clip(`  ${task} init ${init} attempt ${attempt}: ${reason.replace(/\s+/g, ' ')}`, TABLE_WIDTH));
  }
  if (invalid.length > NAMED_AT_MOST) lines.push(`  and ${invalid.length - NAMED_AT_MOST} more`);
  return lines;
}

/** Suite names without what they all begin with up to a "_", so that eight of them stay readable in 80 columns. */
function shortLabels(suites: readonly string[]): string[] {
  let shared = 0;
  if (suites.length > 1) {
    const [first] = suites;
    let length = 0;
    while (length < first.length && suites.every((suite) => suite[length] === first[length])) length++;
    shared = first.slice(0, length).lastIndexOf('_') + 1;
  }
  return suites.map((suite) => clip(suite.slice(shared), LABEL_WIDTH));
}
