// Makes examples/sample-run: trains a small planner on eight tasks, then records a run that goes on from it, and takes of
// that run what replay shows. `npm run sample-run`; some five minutes on two cores.

import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, hostname, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { startTeacher } from './teacher.mjs';

const root = resolve(import.meta.dirname, '../..');
const target = join(root, 'examples', 'sample-run');
/** The port that the configs name. */
const PORT = 41807;
const LARGEST = 3_000_000;

/** Of a run, what is shipped; weights, optimizer states, locks and logs are not. */
const SHIPPED = [
  /^(?:run\.json|journal\.jsonl|messages\.jsonl)$/,
  /^blobs\//,
  /^(?:teacher|rounds\/\d+|evaluations\/[^/]+)\/[\w.-]+\.jsonl?$/,
  /^sft\/(?:targets|steps)\.jsonl$/,
  /^(?:teacher|rounds\/\d+|evaluations\/[^/]+)\/output\/[^/]+\/(?:trajectory|result)\.json$/,
  /^policies\/v\d+\/policy\.json$/,
  // One tokenizer serves all policies.
  /^policies\/v0000\/(?:tokenizer\.json|tokenizer_config\.json|chat_template\.jinja)$/,
];

const work = mkdtempSync(join(tmpdir(), 'sample-run-'));
const end = await startTeacher(join(root, 'dist'), PORT);
try {
  for (const name of ['planner', 'sample-run'])
    cpSync(join(import.meta.dirname, `${name}.training.yaml`), join(work, `${name}.training.yaml`));
  const first = join(work, 'planner-run');
  await train('planner', first, ['--stages', 'teacher,sft']);
  cpSync(join(first, 'policies', 'v0001'), join(work, 'planner'), {
    recursive: true,
    filter: (path) => !/[\\/](?:optimizer|policy\.json)$/.test(path),
  });
  const run = join(work, 'run');
  await train('sample-run', run, []);
  ship(run);
} finally {
  await end();
  rmSync(work, { recursive: true, force: true });
}

/** Trains by the command line, as everybody does. */
async function train(name, run, options) {
  const words = [join(root, 'dist', 'cli.mjs'), 'train', join(work, `${name}.training.yaml`), '--run', run, ...options];
  const child = spawn(process.execPath, words, { cwd: work, stdio: ['ignore', 'inherit', 'inherit'] });
  const code = await new Promise((done) => child.once('exit', done));
  if (code !== 0) throw new Error(`training by ${name}.training.yaml ended with code ${code}`);
}

/** Puts what is shipped of a run in place of what was there. */
function ship(run) {
  const files = filesOf(run).filter((path) => SHIPPED.some((pattern) => pattern.test(path)));
  const texts = files.map((path) => [path, readFileSync(join(run, path))]);
  const at = texts.findIndex(([path]) => path === 'run.json');
  // The checkpoint is not shipped, so its folder is nobody's.
  const info = { ...JSON.parse(texts[at][1].toString()), configFolder: '.' };
  texts[at][1] = Buffer.from(`${JSON.stringify(info, null, 2)}\n`);
  const size = texts.reduce((sum, [, bytes]) => sum + bytes.length, 0);
  for (const [what, bytes] of sizes(texts)) console.log(`${what}: ${bytes} bytes`);
  if (size > LARGEST) throw new Error(`the run takes ${size} bytes, more than ${LARGEST}`);
  for (const [path, bytes] of texts)
    for (const secret of [work, root, homedir(), hostname().length > 3 ? hostname() : work])
      if (secret.length > 1 && bytes.includes(secret)) throw new Error(`${path} tells of this machine: ${secret}`);
  for (const name of readdirSync(target)) if (name !== 'README.md') rmSync(join(target, name), { recursive: true });
  for (const [path, bytes] of texts) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), bytes);
  }
  console.log(`${files.length} files, ${size} bytes, in ${target}`);
}

/** Bytes by kind of file. */
function sizes(texts) {
  const kinds = new Map();
  for (const [path, bytes] of texts) {
    const kind = /^(?:blobs|policies)/.exec(path)?.[0] ?? basename(path);
    kinds.set(kind, (kinds.get(kind) ?? 0) + bytes.length);
  }
  return kinds;
}

function filesOf(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
}
