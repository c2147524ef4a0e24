/** The page's plots as tables: what is drawn, what stands beside it, and what goes into a CSV file are the same rows. */
import type { PageData, PageRate, RoundRow, StepRow } from './data.ts';

export const PLOT_IDS = [
  'success',
  'reward',
  'invalid',
  'sftLoss',
  'sftGradNorm',
  'rlLoss',
  'rlGradNorm',
  'clipping',
  'importance',
  'kl',
  'lengths',
] as const;
export type PlotId = (typeof PLOT_IDS)[number];

/** Names of columns; their words are in wording.ts. */
export type ColumnName =
  | ('round' | 'step')
  | ('rollouts' | 'rolloutsLow' | 'rolloutsHigh' | 'solved' | 'valid')
  | ('validation' | 'validationLow' | 'validationHigh' | 'validationSolved' | 'validationEpisodes')
  | ('meanReward' | 'invalidShare' | 'invalidEpisodes' | 'episodes')
  | ('loss' | 'gradNorm' | 'learningRate')
  | ('clipLow' | 'clipHigh' | 'clipDual' | 'importanceMean' | 'cappedShare' | 'kl' | 'meanLength' | 'maxLength');

export interface Column {
  name: ColumnName;
  /** `share`: from 0 to 1, shown in percent. */
  kind: 'count' | 'share' | 'figure';
  /** `line`: a curve; `low` and `high`: ends of the interval of the curve before; without: in tables only. */
  draw?: 'line' | 'low' | 'high';
}

export interface PlotTable {
  id: PlotId;
  /** The first is x: rounds or optimizer steps. */
  columns: Column[];
  /** One value a column; null where there is none. x is increasing. */
  rows: (number | null)[][];
}

/** One column and where its value comes from. */
type Source<R> = [Column, (row: R) => number | null];

const line = (name: ColumnName, kind: Column['kind'] = 'figure'): Column => ({ name, kind, draw: 'line' });
const only = (name: ColumnName, kind: Column['kind'] = 'count'): Column => ({ name, kind });
const ends = (low: ColumnName, high: ColumnName): [Column, Column] => [
  { name: low, kind: 'share', draw: 'low' },
  { name: high, kind: 'share', draw: 'high' },
];

function rateSources(
  names: [rate: ColumnName, low: ColumnName, high: ColumnName, successes: ColumnName, episodes: ColumnName],
  of: (row: RoundRow) => PageRate | null,
): Source<RoundRow>[] {
  const known = (row: RoundRow) => {
    const rate = of(row);
    return rate === null || rate.rate === null ? null : rate;
  };
  const [low, high] = ends(names[1], names[2]);
  return [
    [line(names[0], 'share'), (row) => known(row)?.rate ?? null],
    [low, (row) => known(row)?.low ?? null],
    [high, (row) => known(row)?.high ?? null],
    [only(names[3]), (row) => of(row)?.successes ?? null],
    [only(names[4]), (row) => of(row)?.episodes ?? null],
  ];
}

const byRound: Partial<Record<PlotId, Source<RoundRow>[]>> = {
  success: [
    ...rateSources(['rollouts', 'rolloutsLow', 'rolloutsHigh', 'solved', 'valid'], (row) => row.rollouts),
    ...rateSources(
      ['validation', 'validationLow', 'validationHigh', 'validationSolved', 'validationEpisodes'],
      (row) => row.validation,
    ),
  ],
  reward: [
    [line('meanReward'), (row) => row.meanReward],
    [only('valid'), (row) => row.rollouts?.episodes ?? null],
  ],
  invalid: [
    [
      line('invalidShare', 'share'),
      (row) => {
        const all = (row.rollouts?.episodes ?? 0) + row.invalid;
        return all === 0 ? null : row.invalid / all;
      },
    ],
    [only('invalidEpisodes'), (row) => (row.rollouts ? row.invalid : null)],
    [only('episodes'), (row) => (row.rollouts ? row.rollouts.episodes + row.invalid : null)],
  ],
};

const loss: Source<StepRow>[] = [
  [line('loss'), (row) => row.loss],
  [only('learningRate', 'figure'), (row) => row.learningRate],
];
const gradNorm: Source<StepRow>[] = [[line('gradNorm'), (row) => row.gradNorm]];

const byStep: Partial<Record<PlotId, { stage: StepRow['stage']; sources: Source<StepRow>[] }>> = {
  sftLoss: { stage: 'sft', sources: loss },
  sftGradNorm: { stage: 'sft', sources: gradNorm },
  rlLoss: { stage: 'rl', sources: loss },
  rlGradNorm: { stage: 'rl', sources: gradNorm },
  clipping: {
    stage: 'rl',
    sources: [
      [line('clipLow', 'share'), (row) => row.clipLow],
      [line('clipHigh', 'share'), (row) => row.clipHigh],
      [line('clipDual', 'share'), (row) => row.clipDual],
    ],
  },
  importance: {
    stage: 'rl',
    sources: [
      [line('importanceMean'), (row) => row.importance],
      [line('cappedShare', 'share'), (row) => row.capped],
    ],
  },
  kl: { stage: 'rl', sources: [[line('kl'), (row) => row.kl]] },
  lengths: {
    stage: 'rl',
    sources: [
      [line('meanLength'), (row) => row.meanLength],
      [line('maxLength', 'count'), (row) => row.maxLength],
    ],
  },
};

/** The rows of a plot; those in which no curve has a value are left out. */
export function plotTable(data: Pick<PageData, 'rounds' | 'steps'>, id: PlotId): PlotTable {
  const rounds = byRound[id];
  if (rounds) return table(id, 'round', data.rounds, (row) => row.round, rounds);
  const steps = byStep[id];
  if (!steps) throw new Error(`no plot is called ${id}`);
  const rows = data.steps.filter((row) => row.stage === steps.stage);
  return table(id, 'step', rows, (row) => row.step, steps.sources);
}

function table<R>(id: PlotId, x: 'round' | 'step', rows: R[], xOf: (row: R) => number, sources: Source<R>[]) {
  const columns: Column[] = [{ name: x, kind: 'count' }, ...sources.map(([column]) => column)];
  const drawn = sources.flatMap(([{ draw }], index) => (draw === 'line' ? [index + 1] : []));
  const values = rows.map((row) => [xOf(row), ...sources.map(([, value]) => value(row))]);
  return { id, columns, rows: values.filter((row) => drawn.some((index) => row[index] !== null)) };
}
