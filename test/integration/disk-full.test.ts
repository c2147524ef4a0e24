/** A run on a small disk of its own that fills up, again and again, and goes on once there is space. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JournalEvent } from '../../protocol/journal.ts';
import { readCheckpoint } from '../../trainer-daemon/planner/checkpoint.ts';
import { lockRun } from '../../trainer-daemon/store/index.ts';
import { RunFailed, train } from '../../trainer-daemon/training/index.ts';
import { cli } from './cli-process.ts';
import { journalOf, quick } from './quick-run.ts';

const disk = mkdtempSync(join(tmpdir(), 'arrl small disk-'));
const mount = (...words: string[]) => spawnSync('mount', words).status === 0;
const mounted = process.platform === 'linux' && mount('-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk);
if (!mounted) console.warn('the tests on a full disk are left out: this user cannot mount one');

const ballast = join(disk, 'ballast');
const freeBytes = () => {
  const { bavail, bsize } = statfsSync(disk);
  return bavail * bsize;
};

/** Leaves so many bytes free. */
function fill(left: number): void {
  const file = openSync(ballast, 'a');
  const chunk = Buffer.alloc(4096, 1);
  while (freeBytes() >= left + chunk.length) writeSync(file, chunk);
  closeSync(file);
}

describe.skipIf(!mounted)('a disk that fills up', () => {
  const run = join(disk, 'run');
  const config = quick();
  beforeAll(() => mkdirSync(run, { recursive: true }));
  afterAll(() => {
    spawnSync('umount', [disk]);
    rmSync(disk, { recursive: true, force: true });
  });

  /** When it fills, what stays free, and what cannot be written then. */
  const moments: [string, (event: JournalEvent) => boolean, number, RegExp][] = [
    ['as the teacher begins', (e) => e.type === 'stage-started' && e.stage === 'teacher', 0, /teacher|journal/],
    ['in the middle of the episodes', (e) => e.type === 'episode-finished', 30_000, /teacher|messages|journal/],
    ['before the fresh planner', (e) => e.type === 'stage-started' && e.stage === 'sft', 12_000, /the fresh planner/],
    ['before a checkpoint', (e) => e.type === 'targets-built', 60_000, /checkpoint 1 of the fine-tuning/],
    ['before the second checkpoint', (e) => e.type === 'checkpoint', 60_000, /checkpoint 2 of the fine-tuning/],
    ['before policy v1', (e) => e.type === 'checkpoint-chosen', 60_000, /the chosen checkpoint as policy v1/],
    ['before the policy of a round', (e) => e.type === 'samples-built', 60_000, /the policy of round 1/],
    ['in an evaluation', (e) => e.type === 'stage-started' && e.stage === 'evaluate', 0, /evaluation|journal/],
  ];

  it('fails the run each time in one sentence; with space again it goes on and ends as any other', async () => {
    for (const [when, at, left, what] of moments) {
      let filled = false;
      const options = journalExists(run)
        ? { configFolder: disk, resume: run }
        : { config, configFolder: disk, runDirectory: run };
      const failure = await train({
        ...options,
        onEvent: (event) => {
          if (filled || event.kind !== 'journal' || !at(event.line.event)) return;
          filled = true;
          fill(left);
        },
      }).catch((error: unknown) => error);
      expect([when, filled]).toEqual([when, true]);
      expect(failure).toBeInstanceOf(RunFailed);
      const { message } = failure as Error;
      expect(message).toMatch(what);
      expect(message).toMatch(
        new RegExp(`^${run}\\S*: could not .*: the disk is full: .*\\(ENOSPC; [0-9,]+ bytes are free\\); then: `),
      );
      expect(message.endsWith(` train --resume '${run}'`)).toBe(true);
      expect(message).not.toContain('\n');
      // Asked to go on too early it says the same, with the exit code of a run that failed or could not begin.
      if (left === 0) {
        const early = await cli(disk, ['train', '--resume', 'run']);
        expect([1, 2]).toContain(early.code);
        expect(early.err).toMatch(/the disk is full/);
      }
      rmSync(ballast);
      expect(halves(run)).toEqual([]);
    }
    const result = await train({ configFolder: disk, resume: run });
    expect(result).toMatchObject({ state: 'finished', warnings: [] });
    const played = journalOf(run).flatMap((event) => (event.type === 'episode-finished' ? [event] : []));
    // Nothing that was finished was played again, and nothing counts as invalid for want of space.
    expect(new Set(played.map((event) => event.episode)).size).toBe(played.length);
    expect(played.every((event) => event.valid)).toBe(true);
    for (const version of ['v0000', 'v0001', 'v0002'])
      expect((await readCheckpoint(join(run, 'policies', version))).weights.flat.every(Number.isFinite)).toBe(true);

    // What frees space needs none, not even for the lock; and that counts for others.
    fill(0);
    expect(freeBytes()).toBe(0);
    const release = await lockRun(run);
    const refused = await cli(disk, ['prune', 'run']);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(`written by process ${process.pid}`)]);
    await release();
    const pruned = await cli(disk, ['prune', 'run', '--json']);
    expect([pruned.code, pruned.err]).toEqual([0, '']);
    expect(JSON.parse(pruned.out)).toMatchObject({ left: [] });
    expect(freeBytes()).toBeGreaterThan(10_000);
    expect(readdirSync(run).filter((name) => name.includes('lock'))).toEqual([]);
    rmSync(ballast);
  });

  it('says so when the disk becomes read-only', async () => {
    const other = join(disk, 'read only');
    const failure = await train({
      config,
      configFolder: disk,
      runDirectory: other,
      stages: ['teacher'],
      onEvent: (event) => {
        if (event.kind === 'journal' && event.line.event.type === 'run-started') writable(false);
      },
    }).catch((error: unknown) => error);
    writable(true);
    expect((failure as Error).message).toMatch(/read-only: mount it writable and go on \(EROFS\); then: .*--resume '/);
    expect(await train({ configFolder: disk, resume: other })).toMatchObject({ state: 'finished' });
  });
});

function writable(yes: boolean): void {
  // Files that are open for writing keep a disk writable; a bind mount over the folder does not ask them.
  if (yes) spawnSync('umount', [join(disk, 'read only', 'teacher')]);
  else {
    const folder = join(disk, 'read only', 'teacher');
    mkdirSync(folder, { recursive: true });
    mount('-t', 'tmpfs', '-o', 'ro', 'tmpfs', folder);
  }
}

function journalExists(folder: string): boolean {
  return readdirSync(folder).includes('run.json');
}

/** Files and folders that are named as unfinished. */
function halves(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(partial|tmp)/.test(name));
}
