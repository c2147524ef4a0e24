/** Checking what was read from a run directory, and its JSON documents: run.json, plans, summaries. */
import type { z } from 'zod';
import { RECORD_VERSION } from '../protocol/records.ts';
import { readPlainFile } from './plain-file.ts';

/** A record or file that cannot be used, and why. */
export interface Damaged {
  damaged: string;
  /** 1-based line of the file; 0 when the file as a whole is meant. */
  line: number;
  /** An unfinished last line: torn by a crash, or just being written. */
  torn?: true;
  /** Written in a format that this version does not know yet. */
  newer?: true;
}

/** What a record that cannot be used tells of itself all the same. */
export interface Said {
  id?: string;
  task?: string;
  init?: number;
  attempt?: number;
  tryNumber?: number;
}
const TEXTS = ['id', 'task'] as const;
const NUMBERS = ['init', 'attempt', 'tryNumber'] as const;
const LONGEST = 300;
// Beside the records: what goes over a wire stays what it was.
const sayings = new WeakMap<Damaged, Said>();

/** Which record a damaged line is, as far as it can be read; empty where it cannot, and for what was read elsewhere. */
export function saidBy(damaged: Damaged): Said {
  return sayings.get(damaged) ?? {};
}

function saying(damaged: Damaged, value: unknown): Damaged {
  if (typeof value !== 'object' || value === null) return damaged;
  const fields = value as Record<string, unknown>;
  const said: Said = {};
  for (const name of TEXTS) {
    const text = fields[name];
    if (typeof text === 'string' && text !== '' && text.length <= LONGEST) said[name] = text;
  }
  for (const name of NUMBERS) {
    const number = fields[name];
    if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 0) said[name] = number;
  }
  sayings.set(damaged, said);
  return damaged;
}

export function isDamaged(value: object): value is Damaged {
  return 'damaged' in value;
}

/** Checks a parsed record; says what is wrong in words. */
export function checkRecord<T>(value: unknown, schema: z.ZodType<T>, line: number): T | Damaged {
  if (typeof value === 'object' && value !== null && 'version' in value && 'id' in value) {
    const { version } = value;
    if (typeof version === 'number' && version > RECORD_VERSION) {
      const formats = `format ${version}, this one reads ${RECORD_VERSION}`;
      const damaged = `written by a newer version of AgenticRoboRL (${formats}); update to read it`;
      return saying({ damaged, line, newer: true }, value);
    }
  }
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const { path, message } = checked.error.issues[0];
  return saying({ damaged: `${path.length > 0 ? path.join('.') : 'the record'}: ${message}`, line }, value);
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parses UTF-8 JSON; says what is wrong in words. */
export function parseJson(bytes: Uint8Array, line: number): { value: unknown } | Damaged {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { damaged: 'is no UTF-8 text', line };
  }
  if (text.includes('\0')) return { damaged: 'holds zero bytes (a power cut while it was being written?)', line };
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { damaged: text.trim() === '' ? 'is empty' : `is no JSON: ${(error as Error).message}`, line };
  }
}

/** Reads and checks a document of a run directory; undefined when there is no such file. */
export async function readDocument<T>(
  root: string,
  path: string,
  schema: z.ZodType<T>,
): Promise<T | Damaged | undefined> {
  const bytes = await readPlainFile(root, path);
  if (bytes === undefined) return undefined;
  if (!(bytes instanceof Uint8Array)) return { damaged: bytes.unreadable, line: 0 };
  const parsed = parseJson(bytes, 0);
  return 'damaged' in parsed ? parsed : checkRecord(parsed.value, schema, 0);
}
