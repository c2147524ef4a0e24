/** Files of a checkpoint read as text or JSON. They may come from anywhere: each is looked at before it is read. */
import { readFile, stat } from 'node:fs/promises';
import { jsonProblem } from '../../protocol/json-text.ts';
import { LineIndex } from '../../protocol/line-index.ts';
import { CheckpointError } from './checkpoint-error.ts';

/** A JSON object read from a file. */
export type JsonObject = Record<string, unknown>;

/** The largest known tokenizer.json has about 35 MB. */
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * The text of a regular file.
 * @returns undefined when there is none.
 * @throws CheckpointError when it cannot be read, is no regular file (reading a pipe would never end), or is too large.
 */
export async function readTextFile(file: string): Promise<string | undefined> {
  try {
    const information = await stat(file);
    if (!information.isFile()) throw new CheckpointError(file, 'is no file; put the file of the checkpoint there');
    if (information.size > MOST_BYTES) {
      throw new CheckpointError(
        file,
        `has ${information.size} bytes, more than any such file needs (${MOST_BYTES}); copy it from the checkpoint again`,
      );
    }
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof CheckpointError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new CheckpointError(file, `cannot be read (${code ?? (error as Error).message}); check its permissions`);
  }
}

/**
 * @param whatToDo said when the file does not exist.
 * @throws CheckpointError when the file is absent or no JSON object.
 */
export async function readJsonObject(file: string, whatToDo: string): Promise<JsonObject> {
  const text = await readTextFile(file);
  if (text === undefined) throw new CheckpointError(file, `does not exist; ${whatToDo}`);
  return parseJsonObject(file, text);
}

/** @throws CheckpointError, with the line at fault, when the text is no JSON object. */
export function parseJsonObject(file: string, text: string): JsonObject {
  const whatToDo = 'copy it from the checkpoint again';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const found = jsonProblem(text);
    const why = found === undefined ? (error as Error).message : describe(text, found);
    const line = found === undefined ? undefined : new LineIndex(text).position(found.start).line;
    throw new CheckpointError(file, `is not JSON (${why}); ${whatToDo}`, line);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new CheckpointError(file, `holds no JSON object; ${whatToDo}`);
  }
  return value as JsonObject;
}

function describe(text: string, found: { message: string; start: number }): string {
  if (text.slice(found.start).trim() === '') return 'it ends too early';
  // Python writes these three where JSON has no word for them.
  const word = /^-?(NaN|Infinity)\b/.exec(text.slice(found.start))?.[0];
  return word === undefined ? found.message : `${word} is no number JSON knows`;
}
