/** Large texts of earlier requests. Comparing bytes is many times faster than checking, hashing and copying them again. */
import { createHash } from 'node:crypto';

/** Bytes of texts that are kept to know them again. */
const MOST_KEPT = 32 * 1024 * 1024;

export interface KnownText {
  text: string;
  sha256: string;
}

interface Kept extends KnownText {
  bytes: Buffer;
  /** Bytes that are kept alive by it. */
  size: number;
}

export class KnownTexts {
  private readonly known = new Map<string, Kept>();
  private size = 0;

  /** The text that stands so, with its quotes, in an earlier request. */
  look(bytes: Buffer): KnownText | undefined {
    const kept = this.known.get(keyOf(bytes));
    return kept?.bytes.equals(bytes) ? kept : undefined;
  }

  /**
   * @param bytes of an ASCII text without escapes, with its quotes.
   * @param document that they are part of.
   */
  add(bytes: Buffer, document: Buffer): KnownText {
    // Where the text is most of the request, keeping the request costs less than a copy.
    const whole = 2 * bytes.length > document.length;
    const kept: Kept = {
      text: bytes.toString('latin1', 1, bytes.length - 1),
      sha256: createHash('sha256').update(bytes).digest('base64'),
      bytes: whole ? bytes : Buffer.from(bytes),
      size: whole ? document.length : bytes.length,
    };
    const key = keyOf(bytes);
    this.forget(key);
    this.known.set(key, kept);
    this.size += kept.size;
    for (const oldest of this.known.keys()) {
      if (this.size <= MOST_KEPT) break;
      this.forget(oldest);
    }
    return kept;
  }

  private forget(key: string): void {
    this.size -= this.known.get(key)?.size ?? 0;
    this.known.delete(key);
  }
}

function keyOf(bytes: Buffer): string {
  const middle = bytes.length >> 1;
  return `${bytes.length} ${bytes.toString('latin1', bytes.length - 48)} ${bytes.toString('latin1', middle, middle + 48)}`;
}
