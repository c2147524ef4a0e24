/** What a kill between two writes leaves behind, and how the next life puts it right. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { JournalEvent, JournalLine } from '../../protocol/journal.ts';
import { ProcessRoster } from '../../trainer-daemon/rollouts/index.ts';
import { train } from '../../trainer-daemon/training/index.ts';
import { filesOf, journalOf, quick, quickConfig, temporaryFolder } from './quick-run.ts';

/** Cuts the journal off before the last event that is wanted (or behind it), as if the run had been killed there. */
function cutJournal(run: string, wanted: (event: JournalEvent) => boolean, keep = 0): void {
  const path = join(run, 'journal.jsonl');
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  const at = lines.findLastIndex((line) => wanted((JSON.parse(line) as JournalLine).event));
  expect(at).toBeGreaterThan(0);
  writeFileSync(path, `${lines.slice(0, at + keep).join('\n')}\n`);
}

it('an episode whose record came before its journal entry gets the entry; it is not played again', async () => {
  const folder = temporaryFolder();
  const run = join(folder, 'run');
  await train({ config: quick(), configFolder: folder, runDirectory: run, stages: ['teacher'] });
  const episodes = readFileSync(join(run, 'teacher', 'episodes.jsonl'), 'utf8');
  const told = () =>
    journalOf(run)
      .flatMap((event) => (event.type === 'episode-finished' ? [event.episode] : []))
      .sort();
  const before = told();
  cutJournal(run, (event) => event.type === 'episode-finished');
  expect(told().length).toBe(before.length - 1);
  await train({ configFolder: folder, resume: run });
  expect(told()).toEqual(before);
  expect(readFileSync(join(run, 'teacher', 'episodes.jsonl'), 'utf8')).toBe(episodes);
});

it('an update that was finished is not taken again when the kill came in its validation', async () => {
  const folder = temporaryFolder();
  const run = join(folder, 'run');
  await train({ config: quick(), configFolder: folder, runDirectory: run });
  const rlSteps = () => journalOf(run).filter((event) => event.type === 'step' && event.record.stage === 'rl').length;
  const before = rlSteps();
  expect(before).toBeGreaterThan(0);
  const weights = filesOf(join(run, 'policies', 'v0002'))['model.safetensors'];
  cutJournal(run, (event) => event.type === 'checkpoint' && event.stage === 'rl', 1);
  expect(await train({ configFolder: folder, resume: run })).toMatchObject({ state: 'finished' });
  expect(rlSteps()).toBe(before);
  // Not even written again.
  expect(filesOf(join(run, 'policies', 'v0002'))['model.safetensors']).toBe(weights);
});

it('moments that a kill left behind are removed; those that are gone are missed aloud', async () => {
  const folder = temporaryFolder();
  const run = join(folder, 'run');
  await train({ config: quick(), configFolder: folder, runDirectory: run });
  const moments = (version: string) => join(run, 'policies', version, 'optimizer');
  // As if killed between the end of the round and the removal.
  mkdirSync(moments('v0001'));
  await train({ configFolder: folder, resume: run, rounds: 2 });
  expect([existsSync(moments('v0001')), existsSync(moments('v0002')), existsSync(moments('v0003'))]).toEqual([
    false,
    false,
    true,
  ]);
  const warned = () =>
    journalOf(run).some((event) => event.type === 'warning' && /fresh optimizer moments/.test(event.message));
  expect(warned()).toBe(false);
  rmSync(moments('v0003'), { recursive: true });
  await train({ configFolder: folder, resume: run, rounds: 3 });
  expect(warned()).toBe(true);
});

it.skipIf(process.platform !== 'linux')('a harness that outlived its run is ended before the run goes on', async () => {
  const folder = temporaryFolder();
  const run = join(folder, 'run');
  await train({ config: quick(), configFolder: folder, runDirectory: run, stages: ['teacher'] });
  // Nothing is noted of a run that ended well.
  expect(existsSync(join(run, 'run.processes'))).toBe(false);
  const orphan = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
  const ended = new Promise((resolve) => orphan.on('exit', (_code, signal) => resolve(signal)));
  new ProcessRoster(join(run, 'run.processes')).add(orphan.pid as number);
  await train({ configFolder: folder, resume: run, stages: ['sft'] });
  expect(await ended).toBe('SIGKILL');
  expect(journalOf(run)).toContainEqual({
    type: 'warning',
    message: '1 process of an earlier life of this run had outlived it and ended now',
  });
  expect(existsSync(join(run, 'run.processes'))).toBe(false);
});

it.skipIf(process.platform !== 'linux')('files of finished sections are closed while the run goes on', async () => {
  const folder = temporaryFolder();
  const run = join(folder, 'run');
  const open = () =>
    readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        const path = readlinkSync(join('/proc/self/fd', fd));
        return path.startsWith(`${run}/`) ? [path.slice(run.length + 1)] : [];
      } catch {
        return []; // the one that reads the folder
      }
    });
  const held: string[][] = [];
  await train({
    config: quick({ rl: { ...quickConfig.rl, rounds: 2, validateEvery: 1 } }),
    configFolder: folder,
    runDirectory: run,
    stages: ['teacher', 'sft', 'rl'],
    onEvent: (event) => {
      if (event.kind === 'journal' && event.line.event.type === 'round-finished') held.push(open());
    },
  });
  expect(held).toHaveLength(2);
  expect(held[1]).toContain('journal.jsonl');
  expect(held[1].some((path) => path.startsWith('rounds/0002/'))).toBe(true);
  expect(held[1].filter((path) => /^(teacher|sft|rounds\/0001|evaluations)\//.test(path))).toEqual([]);
});
