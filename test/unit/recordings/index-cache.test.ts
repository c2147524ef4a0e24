/** Indexes of large files that are kept between programs, and when they are not believed. */
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { appendFile, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import {
  indexCacheFolder,
  keepIndex,
  loadIndex,
  type ScannedLines,
  WORTH_KEEPING,
} from '../../../recordings/index-cache.ts';
import { hashKey } from '../../../recordings/place-table.ts';
import { RecordIndex } from '../../../recordings/record-index.ts';

const KIND = {
  schema: z.object({ id: z.string(), episode: z.string(), text: z.string() }),
  id: 'id',
  episode: 'episode',
};
const FIELDS = { id: 'id', episode: 'episode' };
const LINES = 4400;
const lineOf = (number: number, letter = 'x') =>
  `{"id":"c${number}","episode":"e${Math.floor(number / 10)}","text":"${letter.repeat(4000)}"}\n`;

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kept ü-'));
  vi.stubEnv('XDG_CACHE_HOME', join(folder, 'cache'));
  file = join(folder, 'calls.jsonl');
  writeFileSync(file, Array.from({ length: LINES }, (_, k) => lineOf(k)).join(''));
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });
});

const kept = () => readdirSync(indexCacheFolder());

async function opened(): Promise<RecordIndex<z.output<typeof KIND.schema>>> {
  const index = await RecordIndex.open(folder, file, KIND);
  onTestFinished(() => index.close());
  return index;
}

/** Opens the file, so that its index is kept. */
async function openOnce(): Promise<void> {
  const index = await RecordIndex.open(folder, file, KIND);
  expect(index.length).toBe(LINES);
  await index.close();
  expect(kept()).toHaveLength(1);
}

async function loaded(): Promise<ScannedLines | undefined> {
  const handle = await open(file);
  try {
    return await loadIndex(file, FIELDS, handle);
  } finally {
    await handle.close();
  }
}

/** What a program that finds no index that fits, or one, sees in any case. */
async function expectWhole(lines = LINES): Promise<void> {
  const index = await RecordIndex.open(folder, file, KIND);
  expect(index.length).toBe(lines);
  for (const number of [0, 1, 2345, lines - 1])
    expect(await index.byId(`c${number}`)).toMatchObject({ id: `c${number}`, episode: `e${Math.floor(number / 10)}` });
  expect(await index.forEpisode('e100')).toHaveLength(10);
  await index.close();
}

describe('a kept index', () => {
  it('holds what the scan found, for its user alone', async () => {
    await openOnce();
    const found = await loaded();
    expect(found?.starts).toHaveLength(LINES);
    expect(found?.end).toBe(statSync(file).size);
    expect(found?.ids[17]).toBe(hashKey('c17'));
    expect(found?.episodes[17]).toBe(hashKey('e1'));
    const [name] = kept();
    expect(statSync(join(indexCacheFolder(), name)).mode & 0o077).toBe(0);
    expect(readFileSync(join(indexCacheFolder(), name)).includes('e1"')).toBe(false);
    await expectWhole();
  });

  it('is what the next program begins with', async () => {
    await openOnce();
    const found = await loaded();
    if (!found) throw new Error('nothing was kept');
    // A line that no probe looks at is given another key: who scanned the file would know better.
    found.ids[1001] = hashKey('somebody');
    const handle = await open(file);
    await keepIndex(file, FIELDS, handle, found, statSync(file));
    await handle.close();
    expect(await (await opened()).byId('c1001')).toBeUndefined();
  });

  it('is gone on with where the file has grown', async () => {
    await openOnce();
    await appendFile(file, lineOf(LINES) + lineOf(LINES + 1).slice(0, 10));
    expect((await loaded())?.starts).toHaveLength(LINES);
    const index = await opened();
    expect(index.length).toBe(LINES + 2);
    expect(await index.byId(`c${LINES}`)).toMatchObject({ id: `c${LINES}` });
    expect(await index.get(LINES + 1)).toMatchObject({ torn: true });
  });

  it('is not believed of a file that was cut, replaced or changed', async () => {
    await openOnce();
    const whole = readFileSync(file);
    const { atime, mtime } = statSync(file);
    truncateSync(file, whole.length - lineOf(LINES - 1).length);
    expect(await loaded()).toBeUndefined();
    await expectWhole(LINES - 1);

    // The same size, written at another time.
    writeFileSync(file, whole);
    rmSync(indexCacheFolder(), { recursive: true });
    await openOnce();
    utimesSync(file, atime, new Date(mtime.getTime() + 5000));
    expect(await loaded()).toBeUndefined();

    // Longer, with another end of what was scanned.
    writeFileSync(file, `${lineOf(LINES)}${whole}`);
    expect(await loaded()).toBeUndefined();

    // Another file in its place.
    writeFileSync(file, whole);
    rmSync(indexCacheFolder(), { recursive: true });
    await openOnce();
    expect(await loaded()).toBeDefined();
    copyFileSync(file, `${file}.2`);
    rmSync(file);
    copyFileSync(`${file}.2`, file);
    rmSync(`${file}.2`);
    expect(await loaded()).toBeUndefined();
    await expectWhole();
  });

  it('is not believed when lines are elsewhere or have other keys', async () => {
    const handle = await open(file);
    const good: ScannedLines = {
      starts: Float64Array.from({ length: LINES }, (_, k) => k).map((_, k) => offsetOf(k)),
      ids: Float64Array.from({ length: LINES }, (_, k) => hashKey(`c${k}`)),
      episodes: Float64Array.from({ length: LINES }, (_, k) => hashKey(`e${Math.floor(k / 10)}`)),
      end: statSync(file).size,
    };
    const judged = async (change: Partial<ScannedLines>) => {
      await keepIndex(file, FIELDS, handle, { ...good, ...change }, statSync(file));
      return (await loadIndex(file, FIELDS, handle)) !== undefined;
    };
    expect(await judged({})).toBe(true);
    expect(await judged({ starts: good.starts.map((start, k) => (k === 0 ? 0 : start + 1)) })).toBe(false);
    expect(await judged({ starts: good.starts.toReversed() })).toBe(false);
    expect(await judged({ ids: good.ids.map((key) => key + 1) })).toBe(false);
    expect(await judged({ episodes: good.episodes.subarray(1) })).toBe(false);
    await handle.close();
  });

  it('is not believed when it is damaged, or lies where others can write', async () => {
    await openOnce();
    const place = join(indexCacheFolder(), kept()[0]);
    const bytes = readFileSync(place);
    for (const change of [
      () => bytes.subarray(0, bytes.length - 8),
      () => Buffer.concat([bytes.subarray(0, -1), Buffer.from([bytes[bytes.length - 1] ^ 1])]),
      () => Buffer.from('no index'),
      () => Buffer.alloc(0),
    ]) {
      writeFileSync(place, change());
      expect(await loaded()).toBeUndefined();
    }
    writeFileSync(place, bytes);
    expect(await loaded()).toBeDefined();
    if (process.platform !== 'win32') {
      chmodSync(indexCacheFolder(), 0o777);
      expect(await loaded()).toBeUndefined();
    }
    await expectWhole();
  });

  it('is not kept of a file that was written anew while it was scanned', async () => {
    await openOnce();
    const found = await loaded();
    if (!found) throw new Error('nothing was kept');
    rmSync(indexCacheFolder(), { recursive: true });
    const before = statSync(file);
    utimesSync(file, before.atime, new Date(before.mtimeMs + 5000));
    const handle = await open(file);
    await keepIndex(file, FIELDS, handle, found, before);
    await handle.close();
    expect(await loaded()).toBeUndefined();
  });

  it('is kept of large files only, and nowhere where that is impossible', async () => {
    truncateSync(file, 4040 * 100);
    await (await RecordIndex.open(folder, file, KIND)).close();
    expect(readdirSync(folder)).not.toContain('cache');
    writeFileSync(file, lineOf(1).repeat(Math.ceil(WORTH_KEEPING / 4000)));
    // A file where the folder should be.
    writeFileSync(join(folder, 'cache'), '');
    const index = await opened();
    expect(index.length).toBe(Math.ceil(WORTH_KEEPING / 4000));
    await index.close();
  });
});

function offsetOf(number: number): number {
  let offset = 0;
  for (let k = 0; k < number; k++) offset += lengths[k];
  return offset;
}
const lengths = Array.from({ length: LINES }, (_, k) => lineOf(k).length);
