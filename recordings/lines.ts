/** Finding the lines of a file of JSON lines without ever holding the file, or even one whole line, in memory. */
import { hashBytes } from './place-table.ts';

/** A longer line is reported as damaged instead of being read: records are far below this. */
export const LONGEST_LINE = 64 * 1024 * 1024;
/** Bytes of a line's start that are kept while scanning; ids and the like are read from them. */
export const HEAD_BYTES = 1024;

const CHUNK = 1024 * 1024;
const NEWLINE = 10;

/** What is read from: a `FileHandle`, or anything that reads at a position. */
export interface ByteSource {
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
}

/** A line that was found. The same object tells of every line: it is valid only during the call. */
export class LinePlace {
  /** Byte offset of the line's first byte. */
  offset = 0;
  /** Bytes without the newline. */
  length = 0;
  /** Where the line's first bytes are, at most {@link HEAD_BYTES}: `bytes` from `from` to `to`. */
  bytes: Buffer = Buffer.alloc(0);
  from = 0;
  to = 0;

  /** The first bytes of the line. */
  get head(): Buffer {
    return this.bytes.subarray(this.from, this.to);
  }
}

/**
 * Calls `onLine` for every line that ends in a newline, from byte `from` (the start of a line) to the end of the file
 * as it is now. Returns where the last such line ended and how many bytes of an unfinished line follow.
 */
export async function scanLines(
  source: ByteSource,
  from: number,
  onLine: (line: LinePlace) => void,
): Promise<{ end: number; unfinished: number }> {
  // One piece is looked through while the next one is read.
  let chunk = Buffer.allocUnsafe(CHUNK);
  let other = Buffer.allocUnsafe(CHUNK);
  const carried = Buffer.allocUnsafe(HEAD_BYTES);
  const line = new LinePlace();
  let carriedBytes = 0;
  let lineStart = from;
  let position = from;
  let reading = source.read(chunk, 0, CHUNK, position);
  for (;;) {
    const { bytesRead } = await reading;
    if (bytesRead === 0) return { end: lineStart, unfinished: position - lineStart };
    reading = source.read(other, 0, CHUNK, position + bytesRead);
    // Where `onLine` throws, nobody waits for it.
    reading.catch(() => {});
    let at = 0;
    for (;;) {
      const newline = chunk.indexOf(NEWLINE, at);
      if (newline < 0 || newline >= bytesRead) break;
      line.offset = lineStart;
      line.length = position + newline - lineStart;
      line.bytes = chunk;
      line.from = at;
      line.to = Math.min(newline, at + HEAD_BYTES);
      if (carriedBytes > 0) {
        line.bytes = Buffer.concat([carried.subarray(0, carriedBytes), line.head]).subarray(0, HEAD_BYTES);
        line.from = 0;
        line.to = line.bytes.length;
        carriedBytes = 0;
      }
      onLine(line);
      at = newline + 1;
      lineStart = position + at;
    }
    if (at < bytesRead && carriedBytes < HEAD_BYTES) {
      carriedBytes += chunk.copy(carried, carriedBytes, at, Math.min(bytesRead, at + HEAD_BYTES - carriedBytes));
    }
    position += bytesRead;
    [chunk, other] = [other, chunk];
  }
}

/** Reads `length` bytes at `position`; fewer when the file ends before. */
export async function readBytes(source: ByteSource, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await source.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/**
 * Reads top-level text fields from the start of a JSON line when they come first, as our writers put them: `version`,
 * then `first`, then `second`. Undefined when the line is written otherwise; it must then be parsed to know.
 */
export function headFields(first: string, second?: string): (head: Buffer) => [string, string | undefined] | undefined {
  const text = (key: string) => `"${key}":"([^"\\\\\\x00-\\x1f]*)"`;
  const rest = second === undefined ? '' : `,${text(second)}`;
  const pattern = new RegExp(`^\\{(?:"version":\\d{1,9},)?${text(first)}${rest}`);
  return (head) => {
    const match = pattern.exec(head.toString('utf8'));
    return match ? [match[1], match[2]] : undefined;
  };
}

/** Hashes of the fields that {@link headKeys} looks for; NaN for one that it does not look for. */
export interface HeadKeys {
  first: number;
  second: number;
}

/**
 * As {@link headFields}, but gives the fields' hashes (those of `hashKey`) without making texts of them: a run of a
 * gigabyte has some hundred thousand lines. False when the line is written otherwise.
 */
export function headKeys(first: string, second?: string): (line: LinePlace, keys: HeadKeys) => boolean {
  const version = Buffer.from('"version":');
  const firstName = Buffer.from(`"${first}":"`);
  const secondName = second === undefined ? undefined : Buffer.from(`,"${second}":"`);
  const hash = new TextHash();
  return (line, keys) => {
    const { bytes, to } = line;
    let at = line.from;
    if (at >= to || bytes[at++] !== OPEN) return false;
    if (startsWith(bytes, at, to, version)) {
      const digits = at + version.length;
      for (at = digits; at < to && bytes[at] >= ZERO && bytes[at] <= NINE; ) at++;
      if (at === digits || at - digits > 9 || bytes[at++] !== COMMA) return false;
    }
    if (!startsWith(bytes, at, to, firstName)) return false;
    at = hash.read(bytes, at + firstName.length, to);
    if (at < 0) return false;
    keys.first = hash.value;
    keys.second = Number.NaN;
    if (secondName === undefined) return true;
    if (!startsWith(bytes, at, to, secondName)) return false;
    at = hash.read(bytes, at + secondName.length, to);
    keys.second = hash.value;
    return at >= 0;
  };
}

const OPEN = 0x7b;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const ZERO = 0x30;
const NINE = 0x39;

class TextHash {
  value = 0;

  /** Hashes a JSON text up to its closing quote. @returns the byte behind that; -1 where the text is not a plain one. */
  read(bytes: Buffer, from: number, to: number): number {
    for (let at = from; at < to; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) {
        this.value = hashBytes(bytes, from, at);
        return at + 1;
      }
      if (byte === BACKSLASH || byte < 0x20) return -1;
    }
    return -1;
  }
}

function startsWith(bytes: Buffer, at: number, to: number, wanted: Buffer): boolean {
  if (at + wanted.length > to) return false;
  for (let k = 0; k < wanted.length; k++) if (bytes[at + k] !== wanted[k]) return false;
  return true;
}
