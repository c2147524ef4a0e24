/** Finding the lines of a file of JSON lines without ever holding the file, or even one whole line, in memory. */

/** A longer line is reported as damaged instead of being read: records are far below this. */
export const LONGEST_LINE = 64 * 1024 * 1024;
/** Bytes of a line's start that are kept while scanning; ids and the like are read from them. */
export const HEAD_BYTES = 1024;

const CHUNK = 512 * 1024;
const NEWLINE = 10;

/** What is read from: a `FileHandle`, or anything that reads at a position. */
export interface ByteSource {
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
}

export interface LinePlace {
  /** Byte offset of the line's first byte. */
  offset: number;
  /** Bytes without the newline. */
  length: number;
  /** The first bytes of the line, at most {@link HEAD_BYTES}; valid only during the call. */
  head: Buffer;
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
  const chunk = Buffer.allocUnsafe(CHUNK);
  const carried = Buffer.allocUnsafe(HEAD_BYTES);
  let carriedBytes = 0;
  let lineStart = from;
  let position = from;
  for (;;) {
    const { bytesRead } = await source.read(chunk, 0, CHUNK, position);
    if (bytesRead === 0) return { end: lineStart, unfinished: position - lineStart };
    const data = chunk.subarray(0, bytesRead);
    let at = 0;
    for (;;) {
      const newline = data.indexOf(NEWLINE, at);
      if (newline < 0) break;
      const offset = lineStart;
      const length = position + newline - lineStart;
      let head = data.subarray(at, Math.min(newline, at + HEAD_BYTES));
      if (carriedBytes > 0) {
        head = Buffer.concat([carried.subarray(0, carriedBytes), head]).subarray(0, HEAD_BYTES);
        carriedBytes = 0;
      }
      onLine({ offset, length, head });
      at = newline + 1;
      lineStart = position + at;
    }
    if (at < bytesRead && carriedBytes < HEAD_BYTES) {
      carriedBytes += data.copy(carried, carriedBytes, at, Math.min(bytesRead, at + HEAD_BYTES - carriedBytes));
    }
    position += bytesRead;
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
