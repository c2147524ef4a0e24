/** The end of a file of JSON lines after a crash: what of it was never written whole. */
import { type ByteSource, readBytes } from '../../recordings/lines.ts';

const BLOCK = 64 * 1024;
const NEWLINE = 10;

/** Offset of the last newline before `end`, or -1. */
async function lastNewline(source: ByteSource, end: number): Promise<number> {
  for (let high = end; high > 0; ) {
    const low = Math.max(0, high - BLOCK);
    const at = (await readBytes(source, low, high - low)).lastIndexOf(NEWLINE);
    if (at >= 0) return low + at;
    high = low;
  }
  return -1;
}

async function holdsZeroByte(source: ByteSource, start: number, end: number): Promise<boolean> {
  for (let low = start; low < end; low += BLOCK) {
    if ((await readBytes(source, low, Math.min(BLOCK, end - low))).includes(0)) return true;
  }
  return false;
}

/**
 * How many bytes of the file are whole lines. A line without its newline was torn. So was a last line with zero bytes
 * in it: after a power cut some file systems show pages that never reached the disk as zeros, and JSON has none.
 */
export async function wholeLength(source: ByteSource, size: number): Promise<number> {
  let end = (await lastNewline(source, size)) + 1;
  while (end > 0) {
    const start = (await lastNewline(source, end - 1)) + 1;
    if (!(await holdsZeroByte(source, start, end))) break;
    end = start;
  }
  return end;
}
