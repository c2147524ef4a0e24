/** Disks that are full, break, or lose their power. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isDamaged, openRecording } from '../../../../recordings/index.ts';
import { AppendFile } from '../../../../trainer-daemon/store/append-file.ts';
import { StoreError } from '../../../../trainer-daemon/store/contract.ts';
import { type FileLayer, nodeFiles, type OpenFile } from '../../../../trainer-daemon/store/files.ts';
import { createRun, openRun } from '../../../../trainer-daemon/store/index.ts';
import { call, episode, linesOf, runInfo, temporaryFolder } from './runs.ts';

/** A disk that fails on request; everything else goes to the real one. */
class FailingDisk implements FileLayer {
  /** Bytes that may still be written; then writes are cut short and fail. */
  space = Number.POSITIVE_INFINITY;
  failing = new Set<'datasync' | 'truncate' | 'rename'>();
  syncs = 0;
  writes = 0;

  fill(space: number): void {
    this.space = space;
  }

  async open(path: string, flags: number): Promise<OpenFile> {
    const file = await nodeFiles.open(path, flags);
    const disk = this;
    return new Proxy(file, {
      get(target, name: keyof OpenFile) {
        if (name === 'write') {
          return async (buffer: Uint8Array, offset: number, length: number, position: number) => {
            disk.writes++;
            if (disk.space === 0) throw failure('ENOSPC');
            const most = Math.min(length, disk.space);
            disk.space -= most;
            return target.write(buffer, offset, most, position);
          };
        }
        if (name === 'datasync') {
          return async () => {
            disk.syncs++;
            if (disk.failing.has('datasync')) throw failure('EIO');
            await target.datasync();
          };
        }
        if (name === 'truncate' && disk.failing.has('truncate')) return () => Promise.reject(failure('EIO'));
        const value = target[name];
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  async rename(from: string, to: string): Promise<void> {
    if (this.failing.has('rename')) throw failure('EIO');
    await nodeFiles.rename(from, to);
  }
}

function failure(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: of the test`), { code });
}

describe('an append-only file', () => {
  it('shares one write and one flush between appends of the same time', async () => {
    const disk = new FailingDisk();
    const file = await AppendFile.open(join(temporaryFolder(), 'a.jsonl'), disk);
    await Promise.all(Array.from({ length: 100 }, (_, i) => file.append(`${i}\n`)));
    expect([disk.writes, disk.syncs]).toEqual([1, 1]);
    // While a flush is under way further appends gather for the next one.
    const first = file.append('100\n');
    const later = new Promise((done) => setImmediate(done)).then(() =>
      Promise.all([file.append('101\n'), file.append('102\n')]),
    );
    await Promise.all([first, later]);
    expect(disk.syncs).toBeLessThanOrEqual(3);
    await file.close();
    expect(readFileSync(file.path, 'utf8')).toBe(Array.from({ length: 103 }, (_, i) => `${i}\n`).join(''));
  });

  it.each([
    ['a full disk', (disk: FailingDisk) => disk.fill(3), /disk is full.*ENOSPC/],
    ['a flush that fails', (disk: FailingDisk) => void disk.failing.add('datasync'), /EIO/],
    [
      'a write that cannot be undone at once',
      (disk: FailingDisk) => {
        disk.fill(3);
        disk.failing.add('truncate');
      },
      /ENOSPC/,
    ],
  ])('is as it was after %s, and goes on when that is over', async (_, fail, said) => {
    const disk = new FailingDisk();
    const file = await AppendFile.open(join(temporaryFolder(), 'a.jsonl'), disk);
    await file.append('"first"\n');
    fail(disk);
    const results = await Promise.allSettled([file.append('"second"\n'), file.append('"third"\n')]);
    for (const result of results) {
      expect(result.status === 'rejected' && result.reason).toBeInstanceOf(StoreError);
      expect(String(result.status === 'rejected' && result.reason)).toMatch(said);
    }
    disk.space = Number.POSITIVE_INFINITY;
    disk.failing.clear();
    await file.append('"fourth"\n');
    await file.close();
    expect(readFileSync(file.path, 'utf8')).toBe('"first"\n"fourth"\n');
  });

  it('holds what was acknowledged and nothing else, whatever fails when', async () => {
    const faults = fc.constantFrom('none', 'none', 'full', 'sync', 'truncate');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(faults, fc.nat(20), fc.integer({ min: 1, max: 4 })), { maxLength: 10 }),
        async (rounds) => {
          const disk = new FailingDisk();
          const file = await AppendFile.open(join(temporaryFolder(), 'a.jsonl'), disk);
          const kept: string[] = [];
          let n = 0;
          for (const [fault, space, count] of rounds) {
            disk.space = fault === 'none' ? Number.POSITIVE_INFINITY : space;
            disk.failing = new Set(fault === 'sync' ? ['datasync'] : fault === 'truncate' ? ['truncate'] : []);
            const lines = Array.from({ length: count }, () => `${n++}\n`);
            const results = await Promise.allSettled(lines.map((line) => file.append(line)));
            kept.push(...lines.filter((_, i) => results[i].status === 'fulfilled'));
          }
          disk.failing.clear();
          disk.space = Number.POSITIVE_INFINITY;
          await file.append('end\n');
          expect(readFileSync(file.path, 'utf8')).toBe(`${kept.join('')}end\n`);
          await file.close();
        },
      ),
      { numRuns: 60, seed: 5 },
    );
  });
});

describe('a run on a disk that fails', () => {
  it('keeps its order of numbers, its calls and its files', async () => {
    const folder = temporaryFolder();
    const disk = new FailingDisk();
    const run = await createRun(folder, runInfo, { files: disk });
    const section = run.section('teacher');
    await section.appendCall(call({ promptTokenIds: [1] }));
    await section.writeJson('notes.json', 'old');
    await run.journal({ type: 'warning', message: '1' });

    disk.space = 0;
    await expect(section.appendCall(call({ turn: 1, promptTokenIds: [1, 2] }))).rejects.toThrow(/disk is full/);
    await expect(section.appendEpisode(episode('e0'))).rejects.toThrow(StoreError);
    const entries = [run.journal({ type: 'warning', message: 'x' }), run.journal({ type: 'warning', message: 'y' })];
    for (const entry of entries) await expect(entry).rejects.toThrow(StoreError);
    await expect(section.writeJson('notes.json', 'new')).rejects.toThrow(/disk is full/);
    await expect(section.replaceLines('steps.jsonl', [{ any: 1 }])).rejects.toThrow(StoreError);
    disk.space = Number.POSITIVE_INFINITY;
    disk.failing.add('rename');
    await expect(section.writeJson('notes.json', 'new')).rejects.toThrow(/EIO/);
    disk.failing.clear();

    // The lost call is nobody's base.
    await section.appendCall(call({ turn: 2, promptTokenIds: [1, 2, 3] }));
    expect((await run.journal({ type: 'warning', message: '2' })).seq).toBe(2);
    await section.appendEpisode(episode('e0'));
    await run.close();
    expect(linesOf(folder, 'teacher/calls.jsonl').map((line) => [line.id, line.prompt])).toEqual([
      ['e0.c0', { base: null, shared: 0, suffix: [1], length: 1 }],
      ['e0.c2', { base: 'e0.c0', shared: 1, suffix: [2, 3], length: 3 }],
    ]);
    expect(JSON.parse(readFileSync(join(folder, 'teacher/notes.json'), 'utf8'))).toBe('old');
    expect(readdirSync(join(folder, 'teacher')).sort()).toEqual(['calls.jsonl', 'episodes.jsonl', 'notes.json']);
    expect(linesOf(folder, 'journal.jsonl')).toHaveLength(2);
  });

  it('that is really full goes on once there is space', async ({ skip }) => {
    const mount = temporaryMount();
    if (mount === undefined) return skip('this user may not mount a small disk');
    try {
      const run = await createRun(join(mount, 'run'), runInfo);
      const section = run.section('teacher');
      const kept: string[] = [];
      const large = (turn: number) =>
        call({
          turn,
          request: { messages: [{ role: 'user', content: `${turn} ${'x'.repeat(20_000)}` }], tools: null, other: {} },
        });
      writeFileSync(join(mount, 'ballast'), Buffer.alloc(700_000));
      let error: unknown;
      for (let turn = 0; turn < 100 && !error; turn++) {
        await section.appendCall(large(turn)).then(
          () => kept.push(`e0.c${turn}`),
          (reason: unknown) => {
            error = reason;
          },
        );
      }
      expect(error).toBeInstanceOf(StoreError);
      expect(String(error)).toMatch(/disk is full: free some space/);
      expect(kept.length).toBeGreaterThan(3);
      rmSync(join(mount, 'ballast'));
      await section.appendCall(large(200));
      await run.close();
      expect(linesOf(mount, 'run/teacher/calls.jsonl').map((line) => line.id)).toEqual([...kept, 'e0.c200']);
    } finally {
      spawnSync('umount', [mount]);
    }
  });
});

/** A file system of one megabyte, where this user may mount one. */
function temporaryMount(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined;
  const folder = temporaryFolder();
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]).status !== 0) return undefined;
  return folder;
}

describe('a writer killed in the middle', () => {
  it('leaves every acknowledged record, and a run that goes on', async () => {
    const folder = temporaryFolder();
    const program = join(folder, 'writer.mjs');
    await build({
      entryPoints: [resolve(import.meta.dirname, 'writer-process.ts')],
      outfile: program,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'error',
    });
    const directory = join(folder, 'run');
    await (await createRun(directory, runInfo)).close();
    const acknowledged: string[] = [];
    for (let life = 0; life < 3; life++) {
      const writer = spawn(process.execPath, [program, directory, String(life)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      onTestFinished(() => void writer.kill('SIGKILL'));
      acknowledged.push(...(await idsUntilKilled(writer, 120 + 37 * life)));
      // The lock of the dead writer is no obstacle.
      const run = await openRun(directory);
      await run.section('teacher').appendEpisode(episode(`life${life}`));
      await run.close();
    }
    expect(acknowledged.length).toBeGreaterThan(360);
    const recording = await openRecording(directory);
    const calls = await recording.calls('teacher');
    for (const id of acknowledged) {
      const record = await calls.byId(id);
      if (!record || isDamaged(record)) throw new Error(`${id} is lost`);
      expect(await recording.resolveCall(record)).toMatchObject({ id, promptTokenIds: expect.any(Array) });
    }
    for await (const record of calls) expect(isDamaged(record)).toBe(false);
    expect((await (await recording.episodes('teacher')).read()).every((record) => !isDamaged(record))).toBe(true);
    await recording.close();
  });
});

/** Kills the writer once it has acknowledged so many calls; returns all that it acknowledged. */
async function idsUntilKilled(writer: ChildProcess, count: number): Promise<string[]> {
  let text = '';
  writer.stdout?.on('data', (data: Buffer) => {
    text += data.toString();
    if (text.split('\n').length > count) writer.kill('SIGKILL');
  });
  const [code, signal] = (await once(writer, 'close')) as [number | null, string | null];
  expect([code, signal]).toEqual([null, 'SIGKILL']);
  return text.split('\n').slice(0, -1);
}
