/** Calls of episodes that never ended are set aside, so that the episodes can run again under the same ids. */
import { headFields, LONGEST_LINE, readBytes, scanLines } from '../../recordings/lines.ts';
import { errorCode, storeError } from './disk-trouble.ts';
import { type FileLayer, type OpenFile, READ_WRITE, replaceFile } from './files.ts';
import type { RecordFile } from './record-file.ts';

interface Place {
  offset: number;
  length: number;
  /** Undefined when the line does not tell (it is damaged). */
  key: string | undefined;
}

export interface UnfinishedParts {
  /** Path of calls.jsonl; nobody appends to it meanwhile. */
  calls: string;
  episodes: string;
  interrupted: RecordFile;
  files: FileLayer;
}

/** Bytes that are read and written at a time. */
const CHUNK = 1024 * 1024;

/**
 * Moves the calls whose episode has no record and returns their number. The lines are on disk in the other file before
 * they leave this one; a crash in between leaves them in both, and they are moved again. Damaged lines stay.
 */
export async function moveUnfinishedCalls({ calls, episodes, interrupted, files }: UnfinishedParts): Promise<number> {
  const source = await openIfThere(calls, files);
  if (!source) return 0;
  try {
    const finished = new Set(await episodeIds(episodes, files));
    const places = await placesOf(source, 'episode', headFields('id', 'episode'), 1);
    const unfinished = places.filter(({ key }) => key !== undefined && !finished.has(key));
    if (unfinished.length === 0) return 0;
    for await (const lines of linesAt(source, unfinished)) await interrupted.append(lines.toString('utf8'));
    const leaving = new Set(unfinished);
    const staying = places.filter((place) => !leaving.has(place));
    await replaceFile(calls, linesAt(source, staying), files);
    return unfinished.length;
  } catch (error) {
    throw storeError(calls, 'set aside the calls of unfinished episodes', error);
  } finally {
    await source.close();
  }
}

async function episodeIds(path: string, files: FileLayer): Promise<string[]> {
  const file = await openIfThere(path, files);
  if (!file) return [];
  try {
    return (await placesOf(file, 'id', headFields('id'), 0)).flatMap(({ key }) => key ?? []);
  } finally {
    await file.close();
  }
}

/** Every whole line with the value of its text field `key`, which `fields` finds as its `which`-th in most lines. */
async function placesOf(
  file: OpenFile,
  key: string,
  fields: ReturnType<typeof headFields>,
  which: 0 | 1,
): Promise<Place[]> {
  const places: Place[] = [];
  await scanLines(file, 0, ({ offset, length, head }) => {
    places.push({ offset, length, key: fields(head)?.[which] });
  });
  for (const place of places) {
    if (place.key !== undefined || place.length > LONGEST_LINE) continue;
    try {
      const text = (await readBytes(file, place.offset, place.length)).toString('utf8');
      const value: unknown = (JSON.parse(text) as Record<string, unknown> | null)?.[key];
      if (typeof value === 'string') place.key = value;
    } catch {
      // a damaged line tells no episode
    }
  }
  return places;
}

/** The lines with their newlines, several at a time. */
async function* linesAt(file: OpenFile, places: Place[]): AsyncGenerator<Buffer> {
  let from = 0;
  while (from < places.length) {
    // Neighbouring lines are read at once.
    let to = from + 1;
    const end = () => places[to - 1].offset + places[to - 1].length + 1;
    while (to < places.length && places[to].offset === end() && end() - places[from].offset < CHUNK) to++;
    yield await readBytes(file, places[from].offset, end() - places[from].offset);
    from = to;
  }
}

async function openIfThere(path: string, files: FileLayer): Promise<OpenFile | undefined> {
  try {
    return await files.open(path, READ_WRITE);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw storeError(path, 'read the file', error);
  }
}
