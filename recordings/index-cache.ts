/**
 * What a scan of a large file of records has found, kept in the user's cache folder for the next program that opens it, so
 * that only what was appended since must be scanned. Nothing is written into run directories. A kept index is believed only
 * where it fits the file: the same file, not shorter, the same bytes at its start and before the end of what was scanned,
 * and lines where the index says that there are some.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, lstat, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { HEAD_BYTES, headKeys, LinePlace, readBytes } from './lines.ts';

/** Smaller files are scanned in no time. Bytes. */
export const WORTH_KEEPING = 8 * 1024 * 1024;
const FORMAT = 1;
/** Bytes at the start and at the end of the scanned part that must be the same. */
const EDGE = 64 * 1024;
/** Lines that are looked at before an index is believed. */
const PROBES = 32;
/** Kept indexes; of more the oldest go. */
const MOST_FILES = 128;

/** What a scan found: for each line where it starts and the hashes of its id and episode (NaN for none). */
export interface ScannedLines {
  starts: Float64Array;
  /** Empty where the records have no such field. */
  ids: Float64Array;
  episodes: Float64Array;
  /** End of the last whole line. */
  end: number;
}

/** Names of the fields whose hashes are kept. */
export interface KeyFields {
  id?: string;
  episode?: string;
}

/** What tells whether a file was written to. */
export interface FileState {
  size: number;
  mtimeMs: number;
}

const count = z.number().int().nonnegative();
const headerSchema = z.strictObject({
  format: z.literal(FORMAT),
  fields: z.tuple([z.string().nullable(), z.string().nullable()]),
  device: z.number(),
  inode: z.number(),
  size: count,
  modified: z.number(),
  end: count,
  lines: count,
  ids: count,
  episodes: count,
  head: z.string(),
  tail: z.string(),
  /** Of the numbers that follow. */
  sum: z.string(),
});

/** The folder of kept indexes. */
export function indexCacheFolder(env: Record<string, string | undefined> = process.env): string {
  const absolute = (path: string | undefined) => (path !== undefined && isAbsolute(path) ? path : undefined);
  const system = {
    darwin: join(homedir(), 'Library', 'Caches'),
    win32: absolute(env.LOCALAPPDATA) ?? join(homedir(), 'AppData', 'Local'),
  }[process.platform as string];
  const base = absolute(env.XDG_CACHE_HOME) ?? system ?? join(homedir(), '.cache');
  return join(base, 'agentic-robo-rl', 'indexes');
}

/** The kept index of a file, or undefined where there is none that fits it. Never throws. */
export async function loadIndex(path: string, fields: KeyFields, file: FileHandle): Promise<ScannedLines | undefined> {
  try {
    const { size, dev, ino, mtimeMs } = await file.stat();
    if (size < WORTH_KEEPING || !(await isOurs(indexCacheFolder()))) return undefined;
    const bytes = await readFile(placeOf(path, fields));
    const newline = bytes.indexOf(10);
    const header = headerSchema.parse(JSON.parse(bytes.toString('utf8', 0, newline)));
    const { end, lines } = header;
    if (!mayBe({ size: header.size, mtimeMs: header.modified }, { size, mtimeMs })) return undefined;
    if (header.device !== dev || header.inode !== ino || end > size) return undefined;
    if (header.fields[0] !== (fields.id ?? null) || header.fields[1] !== (fields.episode ?? null)) return undefined;
    const body = bytes.subarray(newline + 1);
    if (body.length !== 8 * (lines + header.ids + header.episodes) || sumOf(body) !== header.sum) return undefined;
    // Numbers of eight bytes begin at multiples of eight in memory.
    const numbers = new Float64Array(new Uint8Array(body).buffer);
    const found = {
      starts: numbers.subarray(0, lines),
      ids: numbers.subarray(lines, lines + header.ids),
      episodes: numbers.subarray(lines + header.ids),
      end,
    };
    const edges = await edgesOf(file, end);
    if (edges.head !== header.head || edges.tail !== header.tail) return undefined;
    return isSound(found) && (await fits(found, fields, file)) ? found : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Keeps an index. Where that is impossible, the next program scans again. Never throws.
 * @param before the file as it was before it was scanned: one that was written anew meanwhile is not what was scanned.
 */
export async function keepIndex(
  path: string,
  fields: KeyFields,
  file: FileHandle,
  found: ScannedLines,
  before: FileState,
): Promise<void> {
  const folder = indexCacheFolder();
  const place = placeOf(path, fields);
  const unfinished = `${place}.${process.pid}.partial`;
  try {
    const { size, dev, ino, mtimeMs } = await file.stat();
    if (!mayBe(before, { size, mtimeMs })) return;
    const parts = [found.starts, found.ids, found.episodes];
    const body = Buffer.concat(
      parts.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
    );
    const header: z.output<typeof headerSchema> = {
      ...{ format: FORMAT, fields: [fields.id ?? null, fields.episode ?? null], device: dev, inode: ino, size },
      ...{ modified: mtimeMs, end: found.end, lines: found.starts.length, ids: found.ids.length },
      ...{ episodes: found.episodes.length, ...(await edgesOf(file, found.end)), sum: sumOf(body) },
    };
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (!(await isOurs(folder))) return;
    await writeFile(unfinished, Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), body]), { mode: 0o600 });
    await rename(unfinished, place);
    await forgetOldest(folder);
  } catch {
    await rm(unfinished, { force: true }).catch(() => {});
  }
}

/** A file of the same size that was written to is another one; one that is longer may have grown. */
function mayBe(before: FileState, now: FileState): boolean {
  return now.size === before.size ? now.mtimeMs === before.mtimeMs : now.size > before.size;
}

function placeOf(path: string, { id, episode }: KeyFields): string {
  return join(indexCacheFolder(), `${sumOf(Buffer.from(JSON.stringify([path, id, episode]))).slice(0, 32)}.index`);
}

function sumOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Nobody else could have put an index there. */
async function isOurs(folder: string): Promise<boolean> {
  const status = await lstat(folder);
  if (!status.isDirectory()) return false;
  return process.getuid === undefined || (status.uid === process.getuid() && (status.mode & 0o022) === 0);
}

async function edgesOf(file: FileHandle, end: number): Promise<{ head: string; tail: string }> {
  const length = Math.min(EDGE, end);
  const head = await readBytes(file, 0, length);
  const tail = await readBytes(file, end - length, length);
  return { head: sumOf(head), tail: sumOf(tail) };
}

function isSound({ starts, ids, episodes, end }: ScannedLines): boolean {
  if (starts.length === 0 || starts[0] !== 0 || starts[starts.length - 1] >= end) return false;
  for (let line = 1; line < starts.length; line++) if (!(starts[line] > starts[line - 1])) return false;
  return [ids, episodes].every(({ length }) => length === 0 || length === starts.length);
}

/** Looks at some lines, the first and the last among them: each begins after a newline and has the keys it is said to have. */
async function fits(found: ScannedLines, fields: KeyFields, file: FileHandle): Promise<boolean> {
  const { starts, ids, episodes } = found;
  const read = headKeys(fields.id ?? fields.episode ?? 'id', fields.id === undefined ? undefined : fields.episode);
  const keys = { first: Number.NaN, second: Number.NaN };
  for (let probe = 0; probe < PROBES; probe++) {
    const line = Math.round((probe * (starts.length - 1)) / (PROBES - 1));
    const start = Math.max(0, starts[line] - 1);
    const place = new LinePlace();
    place.bytes = await readBytes(file, start, HEAD_BYTES + 1);
    place.from = starts[line] - start;
    place.to = place.bytes.length;
    if (place.from === 1 && place.bytes[0] !== 10) return false;
    // Lines that are written in another way than ours do not tell their keys so quickly.
    if (!read(place, keys)) continue;
    const [id, episode] = fields.id === undefined ? [Number.NaN, keys.first] : [keys.first, keys.second];
    if (ids.length > 0 && ids[line] !== id) return false;
    if (episodes.length > 0 && episodes[line] !== episode) return false;
  }
  return true;
}

async function forgetOldest(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.index'));
  if (names.length <= MOST_FILES) return;
  const aged = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(folder, name))).mtimeMs })));
  aged.sort((a, b) => a.at - b.at);
  for (const { name } of aged.slice(0, names.length - MOST_FILES)) await rm(join(folder, name), { force: true });
}
