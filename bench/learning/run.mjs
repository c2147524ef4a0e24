// Does the planner really learn? `npm run learning` trains it with several seeds and checks the claim with controls.
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseDocument } from 'yaml';
import { bundle } from '../bundle.mjs';
import { readArguments } from './arguments.mjs';
import { learningReport } from './report.mjs';
import { finish, hasRounds } from './runs.mjs';

/** Rounds whose gradients are compared: early ones, whose policies hardly differ. */
const AGREEING = [1, 2, 3, 4];

const { root, runs, config, seeds, does } = readArguments();
const text = await readFile(config, 'utf8');
await mkdir(join(runs, 'configs'), { recursive: true });

/** The config with some keys set otherwise, as a file beside the runs. */
async function variant(name, changes) {
  const document = parseDocument(text);
  document.set('name', name);
  for (const [path, value] of Object.entries(changes)) {
    const keys = path.split('.');
    document.setIn(keys, value);
  }
  const file = join(runs, 'configs', `${name}.training.yaml`);
  // A run that goes on keeps the config it began with.
  if (!existsSync(join(runs, name))) await writeFile(file, document.toString());
  return file;
}

const fineTuned = (seed) => ({ seed, planner: { checkpoint: join(runs, `main-${seed}`, 'policies/v0001') } });

if (does('main'))
  for (const seed of seeds) await finish(join(runs, `main-${seed}`), await variant(`main-${seed}`, { seed }));
if (does('controls')) {
  const states = parseDocument(text).toJS().evaluation.states;
  const count = String(states)
    .split(',')
    .map((part) => part.split('-').map(Number))
    .reduce((sum, [first, last = first]) => sum + last - first + 1, 0);
  const teacher = await variant('teacher', {
    // The teacher stage plays training states, so for once these are the held-out ones; nothing is trained.
    splits: { memory: 0, evaluation: 49, training: states, validation: 48 },
    evaluation: { states: 49, selectionStates: 48 },
    'teacher.episodesPerTask': count,
  });
  await finish(join(runs, 'teacher'), teacher, 'teacher');
  for (const seed of seeds) {
    const blank = await variant(`blank-${seed}`, {
      ...fineTuned(seed),
      'harness.adapter': `${parseDocument(text).toJS().harness.adapter}-blank`,
    });
    await finish(join(runs, `blank-${seed}`), blank, 'evaluate');
    const permuted = await variant(`permuted-${seed}`, { ...fineTuned(seed), 'rl.advantage': 'permuted-control' });
    await finish(join(runs, `permuted-${seed}`), permuted, 'rl,evaluate');
  }
}
if (does('agreement')) {
  const built = join(root, 'dist/bench');
  await bundle(built, [{ in: join(import.meta.dirname, 'agreement.ts'), out: 'agreement' }]);
  const { default: agreement } = await import(pathToFileURL(join(built, 'agreement.mjs')).href);
  for (const seed of seeds) {
    const file = join(runs, `agreement-${seed}.json`);
    if (existsSync(file) || !hasRounds(join(runs, `main-${seed}`), AGREEING)) continue;
    console.error(`\n== comparing the gradients of ${AGREEING.length} rounds of main-${seed}`);
    const found = await agreement(join(runs, `main-${seed}`), AGREEING, availableParallelism());
    await writeFile(file, JSON.stringify({ rounds: AGREEING, found }, null, 2));
  }
}
const out = join(root, 'bench/results/learning.md');
await mkdir(join(root, 'bench/results'), { recursive: true });
await writeFile(out, await learningReport({ root, runs, config, seeds }));
console.error(`\nwritten: ${out}`);
