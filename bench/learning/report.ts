/** The evidence of learning as a page: rates, exact paired tests, curves and controls. */
import { parseTaskId } from '../../protocol/ids.ts';
import { signTest, wilson } from '../../protocol/statistics.ts';
import type { Agreement } from './agreement.ts';
import type { Count, Evidence, Outcomes } from './evidence.ts';

export interface Found {
  /** Path of the config, as a person would type it. */
  config: string;
  seeds: number[];
  /** By name: `main-0`, `blank-0`, `permuted-0`, `longer-0`, `teacher`. */
  evidence: ReadonlyMap<string, Evidence>;
  agreement?: { rounds: number[]; seed: number; found: Agreement[] };
}

/** @returns Markdown; parts that are not there yet are said to be missing. */
export function learningReport({ config, seeds, evidence, agreement }: Found): string {
  const whole = seeds.flatMap((seed) => evidence.get(`main-${seed}`) ?? []);
  const missing = seeds.filter((seed) => !evidence.has(`main-${seed}`));
  return [
    '# Does the planner learn?',
    '',
    `\`npm run learning\` trains the planner of \`${config}\` with seeds ${seeds.join(', ')} and compares every stage on`,
    'held-out initial states, in pairs of the same task, state and attempt (exact two-sided sign test; Wilson intervals of',
    '95 %). That command writes this page from the outcomes of single episodes beside it, in `learning/`, where the trained',
    'planners are kept too:',
    '',
    '```sh',
    `npx agentic-robo-rl evaluate ${config} --checkpoint bench/results/learning/planners/0/rl`,
    '```',
    '',
    'plays the held-out states with one of them again, in a few minutes: as the base of a run of its own, so under that name',
    'and with other random numbers, which moves the rate by a point or two. Hours are those of a seed without its controls.',
    'What was tried before on the same states is told in [learning-notes.md](learning-notes.md).',
    '',
    ...whole.flatMap(({ config: { seed }, remark }) => (remark === undefined ? [] : [`Seed ${seed}: ${remark}`, ''])),
    ...(missing.length > 0 ? [`Not finished yet: ${missing.map((seed) => `seed ${seed}`).join(', ')}.`, ''] : []),
    '## Stages',
    '',
    ...table(
      ['seed', 'base', 'SFT', 'RL', 'SFT - base', 'RL - SFT', 'pairs', 'won', 'lost', 'p', 'hours'],
      whole.map(stageRow),
    ),
    '',
    '## When fine-tuning ends',
    '',
    'Success on the validation states after each checkpoint, and what an epoch gained between the last two. The aim is less than',
    '2 points, so that the rounds are not given what fine-tuning left lying:',
    '',
    ...table(
      ['seed', 'epochs', 'checkpoints', 'gain of an epoch'],
      whole.map(({ config: { seed, sft }, checkpoints }) => [
        seed,
        sft.epochs,
        checkpoints.map(percent).join(', '),
        lastGain(checkpoints, sft.epochs / checkpoints.length),
      ]),
    ),
    '',
    'The rate falls to its end over all epochs, so the last ones always gain something. What further epochs are worth is told by a',
    'fine-tuning that has them from its start, on the held-out states (won, lost and p: longer against shorter fine-tuning; RL',
    'against it: the rounds after the shorter one against the longer one alone):',
    '',
    ...furtherEpochs(evidence, whole),
    '',
    '## Reinforcement learning by round',
    '',
    'Success of the episodes that a round was trained on, then on the validation states after it, both with intervals; round 0 is',
    'the fine-tuned planner, and the chosen round is marked.',
    '',
    ...rounds(whole),
    '',
    ...permutedRounds(evidence, whole),
    '## What rounds tell, by tensor',
    '',
    ...agreements(agreement),
    '',
    '## Controls',
    '',
    ...controls(evidence, whole),
    '',
    '## Suites',
    '',
    ...whole.flatMap((one) => [`Seed ${one.config.seed}:`, '', ...suites(one), '']),
    ...[...new Set(whole.map(({ machine }) => `Measured on ${machine}.`))],
    '',
  ].join('\n');
}

function stageRow({ config: { seed }, outcomes: { base, sft, rl }, hours }: Evidence): Cells {
  const [first, second] = [compare(base, sft), compare(sft, rl)];
  return [
    seed,
    percent(first.a),
    percent(first.b),
    percent(second.b),
    points(first),
    points(second),
    second.pairs,
    second.wins,
    second.losses,
    probability(second.p),
    hours.toFixed(1),
  ];
}

interface Paired {
  pairs: number;
  a: Count;
  b: Count;
  wins: number;
  losses: number;
  p: number;
}

/** Pairs of which both are valid. @throws Error when the two are not of the same tasks and states. */
export function compare(a: Outcomes, b: Outcomes): Paired {
  let [pairs, both, wins, losses] = [0, 0, 0, 0];
  for (const task of new Set([...Object.keys(a), ...Object.keys(b)])) {
    if (a[task]?.length !== b[task]?.length) throw new Error(`${task}: the two have other episodes`);
    for (let i = 0; i < a[task].length; i++) {
      const pair = a[task][i] + b[task][i];
      if (pair.includes('-')) continue;
      pairs++;
      if (pair === '11') both++;
      else if (pair === '01') wins++;
      else if (pair === '10') losses++;
    }
  }
  return {
    pairs,
    a: { successes: both + losses, episodes: pairs },
    b: { successes: both + wins, episodes: pairs },
    wins,
    losses,
    p: signTest(wins, losses),
  };
}

function lastGain(checkpoints: Count[], epochs: number): string {
  const [before, last] = checkpoints.slice(-2);
  return last === undefined ? '' : signed((share(last) - share(before)) / epochs);
}

/** Fine-tuning with more epochs than the main run's, against that. */
function furtherEpochs(evidence: Found['evidence'], whole: Evidence[]): string[] {
  const rows = whole.map(({ config: { seed, sft }, outcomes }): Cells => {
    const longer = evidence.get(`longer-${seed}`);
    if (longer === undefined) return [seed, sft.epochs, percent(tally(outcomes.sft)), '', '', '', 'not measured', ''];
    const paired = compare(outcomes.sft, longer.outcomes.sft);
    const { epochs } = longer.config.sft;
    const gain = (share(paired.b) - share(paired.a)) / (epochs - sft.epochs);
    const rl = compare(longer.outcomes.sft, outcomes.rl);
    return [
      ...[seed, sft.epochs, percent(paired.a), epochs, percent(paired.b), signed(gain)],
      ...[wonAndLost(paired), `${points(rl)}; ${wonAndLost(rl)}`],
    ];
  });
  const columns = ['seed', 'epochs', 'success', 'epochs', 'success', 'gain an epoch', 'all of it', 'RL against it'];
  return table(columns, rows);
}

function rounds(runs: Evidence[]): string[] {
  const most = Math.max(0, ...runs.map((run) => run.rounds.length));
  const rows = Array.from({ length: most }, (_, i) => [
    i + 1,
    ...runs.map((run) => {
      if (run.rounds[i] === undefined) return '';
      const { collected, validation, chosen } = run.rounds[i];
      return `${withInterval(collected)}${validation ? `; ${withInterval(validation)}` : ''}${chosen ? ' chosen' : ''}`;
    }),
  ]);
  const fineTuned = runs.map(({ checkpoints }) => checkpoints.at(-1));
  if (fineTuned.some((count) => count !== undefined))
    rows.unshift([0, ...fineTuned.map((count) => (count ? `; ${withInterval(count)}` : ''))]);
  return table(['round', ...runs.map(({ config: { seed } }) => `seed ${seed}`)], rows);
}

/** The same of the control whose advantages say nothing; validation states and fine-tuned planners are those of the main runs. */
function permutedRounds(evidence: Found['evidence'], whole: Evidence[]): string[] {
  const permuted = whole.flatMap(({ config: { seed } }) => evidence.get(`permuted-${seed}`) ?? []);
  if (permuted.length === 0) return [];
  return [
    'With advantages permuted within each round, from the same fine-tuned planners:',
    '',
    ...rounds(permuted),
    '',
  ];
}

function controls(evidence: Found['evidence'], whole: Evidence[]): string[] {
  const rows: Cells[] = [];
  const teacher = evidence.get('teacher')?.outcomes.teacher;
  if (teacher) {
    const all = tally(teacher);
    rows.push(['the scripted teacher on the same states', '', percent(all), '', '', `${all.episodes} episodes`]);
  }
  for (const { config, outcomes } of whole)
    for (const [name, meaning, planner] of [
      ['blank', 'SFT planner, observations blank', 'base'],
      ['permuted', 'RL with advantages permuted', 'rl'],
    ]) {
      const control = evidence.get(`${name}-${config.seed}`)?.outcomes[planner];
      if (control === undefined) {
        rows.push([meaning, config.seed, '', '', '', 'not measured']);
        continue;
      }
      const paired = compare(outcomes.sft, control);
      const rl = points(compare(control, outcomes.rl));
      rows.push([meaning, config.seed, percent(paired.b), points(paired), rl, tested(paired)]);
    }
  return table(['control', 'seed', 'success', 'against SFT', 'RL against it', 'against SFT: p'], rows);
}

/** Which tensors a round has something to tell of, beyond the noise of its sampling. */
function agreements(agreement: Found['agreement']): string[] {
  if (agreement === undefined) return ['Not measured.'];
  return [
    `Gradients of rounds ${agreement.rounds.join(', ')} of seed ${agreement.seed} (each of other states) under the weights that the first began with. The mean`,
    "cosine between two of them is the share of a round's squared gradient that is signal; the rest is noise of the sampling.",
    '',
    ...table(
      ['tensors', 'parameters', 'cosine', 'of all signal'],
      agreement.found.map(({ tensors, parameters, cosine, signal }) => [
        tensors,
        parameters,
        cosine.toFixed(3),
        `${(100 * signal).toFixed(1)} %`,
      ]),
    ),
  ];
}

function suites({ outcomes: { base, sft, rl } }: Evidence): string[] {
  const names = [...new Set(Object.keys(base).map((task) => parseTaskId(task).suite))];
  const of = (all: Outcomes, suite: string) =>
    tally(Object.fromEntries(Object.entries(all).filter(([task]) => parseTaskId(task).suite === suite)));
  return table(
    ['suite', 'base', 'SFT', 'RL'],
    [
      ...names.map((suite) => [suite, ...[base, sft, rl].map((all) => percent(of(all, suite)))]),
      ['all', ...[base, sft, rl].map((all) => withInterval(tally(all)))],
    ],
  );
}

function tally(outcomes: Outcomes): Count {
  const marks = Object.values(outcomes).join('').replaceAll('-', '');
  return { successes: marks.replaceAll('0', '').length, episodes: marks.length };
}

type Cells = (string | number)[];

const share = ({ successes, episodes }: Count) => (100 * successes) / episodes;
const percent = (count: Count) => (count.episodes > 0 ? `${share(count).toFixed(1)} %` : '-');
const signed = (value: number) => `${value < 0 ? '' : '+'}${value.toFixed(1)}`;
const points = ({ a, b }: Paired) => signed(share(b) - share(a));
const probability = (p: number) => (p < 0.001 ? '< 0.001' : p.toFixed(3));
const wonAndLost = ({ wins, losses, p }: Paired) => `${wins} won, ${losses} lost, p ${probability(p)}`;
const tested = ({ p, pairs }: Paired) => `p ${probability(p)}, ${pairs} pairs`;

function withInterval(count: Count): string {
  const { low, high } = wilson(count.successes, count.episodes);
  return `${percent(count)} (${(100 * low).toFixed(0)}-${(100 * high).toFixed(0)})`;
}

/** A Markdown table, its columns aligned. */
function table(columns: string[], rows: Cells[]): string[] {
  const cells = [columns, ...rows].map((row) => row.map(String));
  const widths = columns.map((_, i) => Math.max(3, ...cells.map((row) => row[i].length)));
  const line = (row: string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i])).join(' | ')} |`;
  return [line(cells[0]), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...cells.slice(1).map(line)];
}
