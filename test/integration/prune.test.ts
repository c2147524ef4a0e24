/** `prune`: what goes, what stays, and that a pruned run lives on as if nothing had happened. */
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JournalLine } from '../../protocol/journal.ts';
import { openRun } from '../../trainer-daemon/store/index.ts';
import { train } from '../../trainer-daemon/training/index.ts';
import { pruneRun } from '../../trainer-daemon/training/prune.ts';
import { cli } from './cli-process.ts';
import { filesOf, quick, quickConfig } from './quick-run.ts';

let folder: string;
let original: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'arrl prune ü-'));
  original = join(folder, 'original');
  const rl = { ...quickConfig.rl, rounds: 3 };
  await train({
    config: quick({ rl, serving: { deterministic: true } }),
    configFolder: folder,
    runDirectory: original,
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function copyOf(name: string): string {
  const run = join(folder, name);
  cpSync(original, run, { recursive: true });
  return run;
}

const isRecord = (name: string) =>
  /(^|\/)([a-z-]+\.jsonl|run\.json|plan\.json|summary\.json|policy\.json)$|^blobs/.test(name) &&
  !name.includes('/output/') &&
  !name.includes('/checkpoints/');
const recordsOf = (run: string) =>
  Object.fromEntries(Object.entries(filesOf(run)).filter(([name, text]) => isRecord(name) && text !== 'folder'));
function sizeOf(run: string): number {
  return readdirSync(run, { recursive: true, encoding: 'utf8' })
    .map((name) => lstatSync(join(run, name)))
    .reduce((sum, entry) => sum + (entry.isDirectory() ? 0 : entry.size), 0);
}
const report = async (run: string) => {
  const { directory: _, ...rest } = JSON.parse((await cli(folder, ['report', run, '--json'])).out);
  return rest as object;
};

it('says what it would remove, removes just that, and the run goes on as an unpruned one', async () => {
  const run = copyOf('pruned');
  const other = copyOf('unpruned');
  // What kills leave behind.
  mkdirSync(join(run, 'policies', 'v0003', 'optimizer'));
  writeFileSync(join(run, 'policies', 'v0003', 'optimizer', 'optimizer.safetensors'), Buffer.alloc(1000));
  mkdirSync(join(run, 'policies', 'v0009.partial'));
  writeFileSync(join(run, 'rounds', '0001', 'plan.json.tmp-77-0'), 'half');
  const [files, records, told] = [filesOf(run), recordsOf(run), await report(run)];
  expect(Object.keys(records).length).toBeGreaterThan(20);

  const dry = await cli(folder, ['prune', 'pruned', '--dry-run', '--json']);
  expect(dry.code).toBe(0);
  const plan = JSON.parse(dry.out) as { dryRun: boolean; items: { path: string; bytes: number }[]; bytes: number };
  expect(plan.dryRun).toBe(true);
  expect(plan.items.map(({ path }) => path).sort()).toEqual([
    'policies/v0003/optimizer',
    'policies/v0009.partial',
    'rounds/0001/plan.json.tmp-77-0',
    'sft/checkpoints/01',
    'sft/checkpoints/02',
  ]);
  expect(plan.items.find(({ path }) => path === 'policies/v0003/optimizer')?.bytes).toBe(1000);
  expect(filesOf(run)).toEqual(files);

  const before = sizeOf(run);
  const done = await cli(folder, ['prune', 'pruned']);
  expect([done.code, done.err]).toEqual([0, '']);
  expect(done.out).toContain('sft/checkpoints/01');
  expect(done.out).toMatch(/5 items, .* freed in /);
  expect(before - sizeOf(run)).toBe(plan.bytes);
  expect(recordsOf(run)).toEqual(records);
  expect(await report(run)).toEqual(told);
  expect((await cli(folder, ['prune', 'pruned'])).out).toMatch(/^nothing to remove in /);

  // Finished, it stays so; asked for more, it ends with the very weights of the run that was never pruned.
  expect(await train({ configFolder: folder, resume: run })).toMatchObject({ alreadyFinished: true });
  for (const each of [run, other]) await train({ configFolder: folder, resume: each, rounds: 4 });
  const weights = (each: string) => readFileSync(join(each, 'policies', 'v0005', 'model.safetensors'));
  expect(weights(run).equals(weights(other))).toBe(true);
  expect((await cli(folder, ['evaluate', 'pruned/policies/v0003', '--json'])).code).toBe(0);
});

it('removes weights and outputs when asked, and keeps what tells of them', async () => {
  const run = copyOf('slim');
  const [records, told] = [recordsOf(run), await report(run)];
  const { items } = await pruneRun(run, { policies: true, outputs: true });
  const paths = items.map(({ path }) => path);
  // v2 is the choice, v4 the newest.
  expect(paths.filter((path) => path.startsWith('policies'))).toEqual(['policies/v0003']);
  expect(readdirSync(join(run, 'policies', 'v0003'))).toEqual(['policy.json']);
  expect(paths).toContain('teacher/output');
  expect(paths).toContain('rounds/0003/output');
  expect(existsSync(join(run, 'rounds', '0003', 'output'))).toBe(false);
  expect(recordsOf(run)).toEqual(records);
  expect(await report(run)).toEqual(told);
  expect((await pruneRun(run, { policies: true, outputs: true })).items).toEqual([]);
  expect(await train({ configFolder: folder, resume: run, rounds: 4 })).toMatchObject({ state: 'finished' });
  const gone = await cli(folder, ['evaluate', 'slim/policies/v0003']);
  expect([gone.code, gone.err]).toEqual([1, expect.stringContaining('v0003')]);
});

it('leaves checkpoints of which one is still to be chosen', async () => {
  const run = copyOf('unchosen');
  const path = join(run, 'journal.jsonl');
  const lines = readFileSync(path, 'utf8').split('\n');
  const at = lines.findIndex((line) => (JSON.parse(line) as JournalLine).event.type === 'checkpoint-chosen');
  writeFileSync(path, `${lines.slice(0, at).join('\n')}\n`);
  mkdirSync(join(run, 'sft', 'checkpoints', '01', 'optimizer'));
  const { items } = await pruneRun(run, { policies: true });
  expect(items.map(({ path }) => path)).toEqual(['sft/checkpoints/01/optimizer']);
  expect(await train({ configFolder: folder, resume: run, stages: ['sft'] })).toMatchObject({ state: 'finished' });
});

it('refuses a run that is being written to, and a journal it cannot read', async () => {
  const run = copyOf('live');
  const store = await openRun(run);
  const before = filesOf(run);
  const refused = await cli(folder, ['prune', 'live']);
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(`being written by process ${process.pid}`)]);
  expect(filesOf(run)).toEqual(before);
  await store.close();
  writeFileSync(join(run, 'journal.jsonl'), '{"seq":1}\n');
  const damaged = await cli(folder, ['prune', 'live']);
  expect([damaged.code, damaged.err]).toEqual([2, expect.stringContaining('line 1 is damaged')]);
  expect((await cli(folder, ['prune', 'nothing'])).code).toBe(2);
});

it('never follows a link', async () => {
  const run = copyOf('linked');
  const outside = join(folder, 'outside');
  cpSync(join(run, 'sft', 'checkpoints'), outside, { recursive: true });
  writeFileSync(join(outside, 'precious'), 'mine');
  rmSync(join(run, 'sft', 'checkpoints'), { recursive: true });
  symlinkSync(outside, join(run, 'sft', 'checkpoints'));
  symlinkSync(outside, join(run, 'policies', 'v0002', 'optimizer'));
  // A link inside of what goes: the link goes, not what it leads to.
  symlinkSync(outside, join(run, 'teacher', 'output', 'link'));
  const before = filesOf(outside);
  const { code, err } = await cli(folder, ['prune', 'linked', '--outputs']);
  expect([code, err]).toEqual([0, expect.stringMatching(/left: sft\/checkpoints\/01: checkpoints is a symbolic link/)]);
  expect(err).toMatch(/left: policies\/v0002\/optimizer: optimizer is a symbolic link/);
  expect(existsSync(join(run, 'teacher', 'output'))).toBe(false);
  expect(filesOf(outside)).toEqual(before);
});
