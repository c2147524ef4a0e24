// Does the planner really learn? `npm run learning` trains it with several seeds and checks the claim with controls.
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseDocument } from 'yaml';
import { bundle } from '../bundle.mjs';
import { readArguments } from './arguments.mjs';
import { finish, hasRounds, isFinished, json } from './runs.mjs';

/** Rounds whose gradients are compared: early ones, whose policies hardly differ. */
const AGREEING = [1, 2, 3, 4];
/** Runs of a seed. */
const KINDS = ['main', 'blank', 'permuted', 'longer'];
/** Epochs that the control of longer fine-tuning has beyond the config's. */
const FURTHER_EPOCHS = 4;

const { root, runs, config, seeds, does } = readArguments();
const text = await readFile(config, 'utf8');
const written = parseDocument(text).toJS();
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

const evidence = join(root, 'bench/results/learning');
const planners = (seed) => join(evidence, `planners/${seed}`);

/** The fine-tuned planner of a seed, from this machine's run or, where there is none, the one that was kept. */
function fineTuned(seed) {
  const own = join(runs, `main-${seed}`, 'policies/v0001');
  const checkpoint = existsSync(own) ? own : join(planners(seed), 'sft');
  if (!existsSync(checkpoint)) throw new Error(`seed ${seed} has no fine-tuned planner: begin with --only main`);
  return { seed, planner: { checkpoint } };
}

if (does('main'))
  for (const seed of seeds) await finish(join(runs, `main-${seed}`), await variant(`main-${seed}`, { seed }));
if (does('controls')) {
  const { states } = written.evaluation;
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
      'harness.adapter': `${written.harness.adapter}-blank`,
    });
    await finish(join(runs, `blank-${seed}`), blank, 'evaluate');
    const permuted = await variant(`permuted-${seed}`, { ...fineTuned(seed), 'rl.advantage': 'permuted-control' });
    await finish(join(runs, `permuted-${seed}`), permuted, 'rl,evaluate');
  }
}
// The rate falls to its end over all epochs, so what further ones are worth is told by a fine-tuning that has them from its start.
if (does('longer'))
  for (const seed of seeds) {
    const epochs = written.sft.epochs + FURTHER_EPOCHS;
    const longer = await variant(`longer-${seed}`, { seed, 'sft.epochs': epochs, 'sft.checkpoints': 1 });
    await finish(join(runs, `longer-${seed}`), longer, 'teacher,sft,evaluate');
  }
await mkdir(evidence, { recursive: true });
const keep = (name, value) => writeFile(join(evidence, `${name}.json`), `${JSON.stringify(value, null, 1)}\n`);
const built = join(root, 'dist/bench');
const program = async (name) => {
  await bundle(built, [{ in: join(import.meta.dirname, `${name}.ts`), out: name }]);
  return import(pathToFileURL(join(built, `${name}.mjs`)).href);
};

if (does('agreement')) {
  const { default: agreement } = await program('agreement');
  const seed = seeds.find((one) => hasRounds(join(runs, `main-${one}`), AGREEING));
  if (seed === undefined) console.error(`\nno run here has rounds ${AGREEING.join(', ')} to compare`);
  else {
    console.error(`\n== comparing the gradients of ${AGREEING.length} rounds of main-${seed}`);
    const found = await agreement(join(runs, `main-${seed}`), AGREEING, availableParallelism());
    await keep('agreement', { rounds: AGREEING, seed, found });
  }
}

async function kept() {
  const files = (await readdir(evidence)).filter((name) => name.endsWith('.json'));
  const read = async (file) => [
    file.slice(0, -'.json'.length),
    JSON.parse(await readFile(join(evidence, file), 'utf8')),
  ];
  return new Map(await Promise.all(files.map(read)));
}

// Runs of this machine are added to what is known of the others.
const earlier = await kept();
const { gatherEvidence } = await program('evidence');
for (const name of ['teacher', ...seeds.flatMap((seed) => KINDS.map((kind) => `${kind}-${seed}`))]) {
  const directory = join(runs, name);
  if (!isFinished(directory)) continue;
  const report = json('report', directory);
  const { createdAt, ...found } = await gatherEvidence(directory, report);
  // What a person wrote of how this very run came about stays.
  const before = earlier.get(name);
  const remark = before?.createdAt === createdAt ? before.remark : undefined;
  await keep(name, { name, createdAt, remark, ...found });
  if (!name.startsWith('main')) continue;
  // Anyone can play the held-out states with these again, and the controls need no second training.
  const [sft, rl] = report.chosen;
  for (const [stage, version] of Object.entries({ sft, rl }))
    await cp(
      join(directory, `policies/v${String(version).padStart(4, '0')}`),
      join(planners(found.config.seed), stage),
      {
        recursive: true,
        filter: (path) => !/optimizer|policy\.json$/.test(path),
      },
    );
}
const { learningReport } = await program('report');
const known = await kept();
const agreement = known.get('agreement');
known.delete('agreement');
const out = join(root, 'bench/results/learning.md');
await writeFile(out, learningReport({ config: relative(root, config), seeds, evidence: known, agreement }));
console.error(`\nwritten: ${out}`);
