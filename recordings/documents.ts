/** JSON documents of a run directory: run.json, plans, summaries. */
import { lstat, readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { RECORD_VERSION } from '../protocol/records.ts';

/** A record or file that cannot be used, and why. */
export interface Damaged {
  damaged: string;
  /** 1-based line of the file; 0 when the file as a whole is meant. */
  line: number;
}

/** A larger document is reported as damaged instead of being read. */
const LARGEST_DOCUMENT = 64 * 1024 * 1024;

/** Checks a parsed record; says what is wrong in words. */
export function checkRecord<T>(value: unknown, schema: z.ZodType<T>, line: number): T | Damaged {
  if (typeof value === 'object' && value !== null && 'version' in value) {
    const { version } = value;
    if (typeof version === 'number' && version > RECORD_VERSION && 'id' in value) {
      return {
        damaged: `written by a newer version of AgenticRoboRL (format ${version}, this one reads ${RECORD_VERSION}); update to read it`,
        line,
      };
    }
  }
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const { path, message } = checked.error.issues[0];
  return { damaged: `${path.length > 0 ? path.join('.') : 'the record'}: ${message}`, line };
}

/** Reads and checks a document; undefined when there is no such file. */
export async function readDocument<T>(path: string, schema: z.ZodType<T>): Promise<T | Damaged | undefined> {
  let text: string;
  try {
    const status = await lstat(path);
    if (!status.isFile()) return { damaged: 'is no plain file', line: 0 };
    if (status.size > LARGEST_DOCUMENT) return { damaged: `is too large to be read (${status.size} bytes)`, line: 0 };
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : { damaged: message, line: 0 };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { damaged: `is no JSON: ${(error as Error).message}`, line: 0 };
  }
  return checkRecord(value, schema, 0);
}
