// The evidence of learning as a page: rates, exact paired tests, curves and controls, read from the runs themselves.
import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, relative } from 'node:path';
import { isFinished, json, read } from './runs.mjs';

/** @returns Markdown; parts whose runs are not finished are said to be missing. */
export async function learningReport({ root, runs, config, seeds }) {
  const whole = seeds.filter((seed) => isFinished(join(runs, `main-${seed}`)));
  const reports = new Map(whole.map((seed) => [seed, json('report', join(runs, `main-${seed}`))]));
  const missing = seeds.filter((seed) => !whole.includes(seed));
  return [
    '# Does the planner learn?',
    '',
    `\`npm run learning\` trains the planner of \`${relative(root, config)}\` with seeds ${seeds.join(', ')} and compares every`,
    'stage on held-out initial states, in pairs of the same task, state and attempt (exact two-sided sign test; Wilson',
    'intervals of 95 %). This page is written by that command from the run directories.',
    '',
    ...(missing.length > 0 ? [`Not finished yet: ${missing.map((seed) => `seed ${seed}`).join(', ')}.`, ''] : []),
    '## Stages',
    '',
    ...table(
      ['seed', 'base', 'SFT', 'RL', 'SFT - base', 'RL - SFT', 'pairs', 'won', 'lost', 'p', 'hours'],
      whole.map((seed) => stageRow(runs, seed, reports.get(seed))),
    ),
    '',
    '## Fine-tuning ends where it no longer gains',
    '',
    'Success on the validation states after each checkpoint:',
    '',
    ...table(
      ['seed', 'checkpoints'],
      whole.map((seed) => [seed, checkpoints(join(runs, `main-${seed}`)).join(', ')]),
    ),
    '',
    '## Reinforcement learning by round',
    '',
    'Success on the validation states after each round, with its interval; the chosen round is marked.',
    '',
    ...table(['round', ...whole.map((seed) => `seed ${seed}`)], rounds(whole.map((seed) => reports.get(seed)))),
    '',
    '## What rounds tell, by tensor',
    '',
    ...agreements(runs, seeds),
    '',
    '## Controls',
    '',
    ...controls(runs, whole),
    '',
    '## Suites',
    '',
    ...whole.flatMap((seed) => ['```', `seed ${seed}`, suites(runs, seed), '```', '']),
    `Measured on ${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.version}.`,
    '',
  ].join('\n');
}

function stageRow(runs, seed, report) {
  const directory = join(runs, `main-${seed}`);
  const [base, sft, rl] = evaluations(report);
  const first = compare(directory, base, directory, sft);
  const second = compare(directory, sft, directory, rl);
  return [
    seed,
    rate(first.a),
    rate(first.b),
    rate(second.b),
    points(first),
    points(second),
    second.pairs,
    second.wins,
    second.losses,
    probability(second.p),
    (report.seconds / 3600).toFixed(1),
  ];
}

/** Evaluation ids of the base, the fine-tuned and the chosen reinforced planner. */
function evaluations(report) {
  const sft = report.policies.find((policy) => policy.stage === 'sft')?.version;
  return [0, sft, report.chosen.at(-1)].map((version) => `evaluation-v${String(version).padStart(4, '0')}`);
}

function compare(directoryA, a, directoryB, b) {
  return json('compare', directoryA, directoryB, '--a', a, '--b', b).comparison.overall;
}

function checkpoints(directory) {
  const found = [];
  for (let k = 1; ; k++) {
    const file = join(directory, `evaluations/validation-v0001-k${String(k).padStart(2, '0')}/summary.json`);
    if (!existsSync(file)) return found;
    const { total } = JSON.parse(readFileSync(file, 'utf8'));
    found.push(percent(total.successes, total.episodes - total.invalid));
  }
}

function rounds(reports) {
  const most = Math.max(0, ...reports.map((report) => report.rounds.length));
  return Array.from({ length: most }, (_, i) => [
    i + 1,
    ...reports.map((report) => {
      const policy = report.policies.find((one) => one.stage === 'rl' && one.round === i + 1);
      if (!policy?.validation) return '';
      const { successes, episodes, interval } = policy.validation;
      const chosen = report.chosen.at(-1) === policy.version ? ' chosen' : '';
      return `${percent(successes, episodes)} (${(100 * interval.low).toFixed(0)}-${(100 * interval.high).toFixed(0)})${chosen}`;
    }),
  ]);
}

function controls(runs, seeds) {
  const rows = [];
  const teacher = join(runs, 'teacher');
  if (isFinished(teacher)) {
    const episodes = readFileSync(join(teacher, 'teacher/episodes.jsonl'), 'utf8').trim().split('\n').map(JSON.parse);
    const valid = episodes.filter((episode) => episode.valid);
    const solved = valid.filter((episode) => episode.reward > 0).length;
    rows.push([
      'the scripted teacher on the same states',
      '',
      percent(solved, valid.length),
      '',
      `${valid.length} episodes`,
    ]);
  }
  for (const seed of seeds) {
    const main = join(runs, `main-${seed}`);
    const [, sft] = evaluations(json('report', main));
    for (const [name, meaning] of [
      ['blank', 'SFT planner, observations blank'],
      ['permuted', 'RL with advantages permuted'],
    ]) {
      const control = join(runs, `${name}-${seed}`);
      if (!isFinished(control)) continue;
      const report = json('report', control);
      const version = name === 'blank' ? 0 : report.chosen.at(-1);
      const paired = compare(main, sft, control, `evaluation-v${String(version).padStart(4, '0')}`);
      rows.push([meaning, seed, rate(paired.b), points(paired), `p ${probability(paired.p)}, ${paired.pairs} pairs`]);
    }
  }
  return table(['control', 'seed', 'success', 'against SFT', ''], rows);
}

/** Which tensors a round has something to tell of, beyond the noise of its sampling. */
function agreements(runs, seeds) {
  const file = seeds.map((seed) => join(runs, `agreement-${seed}.json`)).find(existsSync);
  if (file === undefined) return ['Not measured.'];
  const { rounds, found } = JSON.parse(readFileSync(file, 'utf8'));
  return [
    `Gradients of rounds ${rounds.join(', ')} (each of other states) under the weights that the first began with. The mean cosine`,
    "between two of them is the share of a round's squared gradient that is signal; the rest is noise of the sampling.",
    '',
    ...table(
      ['tensors', 'parameters', 'cosine', 'of all signal'],
      found.map(({ tensors, parameters, cosine, signal }) => [
        tensors,
        parameters,
        cosine.toFixed(3),
        `${(100 * signal).toFixed(1)} %`,
      ]),
    ),
  ];
}

function suites(runs, seed) {
  const text = read('report', join(runs, `main-${seed}`));
  return text.slice(text.indexOf('Held-out states')).trim();
}

const percent = (successes, n) => (n > 0 ? `${((100 * successes) / n).toFixed(1)} %` : '-');
const rate = ({ successes, episodes }) => percent(successes, episodes);
const points = ({ a, b }) => {
  const difference = 100 * (b.successes / b.episodes - a.successes / a.episodes);
  return `${difference < 0 ? '' : '+'}${difference.toFixed(1)}`;
};
const probability = (p) => (p < 0.001 ? '< 0.001' : p.toFixed(3));

/** A Markdown table, its columns aligned. */
function table(columns, rows) {
  const cells = [columns, ...rows].map((row) => row.map(String));
  const widths = columns.map((_, i) => Math.max(3, ...cells.map((row) => row[i].length)));
  const line = (row) => `| ${row.map((cell, i) => cell.padEnd(widths[i])).join(' | ')} |`;
  return [line(cells[0]), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...cells.slice(1).map(line)];
}
