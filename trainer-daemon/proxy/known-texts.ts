/** Large texts of earlier requests. Comparing bytes is many times faster than checking, hashing and copying them again. */
import { createHash } from 'node:crypto';

/** Bytes of texts that are kept to know them again. */
const MOST_KEPT = 32 * 1024 * 1024;
/** Bytes by which a text is looked for before its end has come: a picture's first lines are often those of others. */
const OPENING = 160;
/** Texts of one opening that are tried; the newest first. */
const MOST_TRIED = 256;

export interface KnownText {
  text: string;
  sha256: string;
  /** As it stands in requests, with its quotes. */
  bytes: Buffer;
}

interface Kept extends KnownText {
  /** Bytes that are kept alive by it. */
  size: number;
}

export class KnownTexts {
  private readonly known = new Map<string, Kept>();
  /** The same, by how they begin. */
  private readonly byOpening = new Map<string, Set<Kept>>();
  private size = 0;

  /** The text that stands so, with its quotes, in an earlier request. */
  look(bytes: Buffer): KnownText | undefined {
    const kept = this.known.get(keyOf(bytes));
    return kept?.bytes.equals(bytes) ? kept : undefined;
  }

  /**
   * A text of an earlier request that may be coming: nothing that has come of it so far differs.
   * @param part of the document, which begins with the text's quote and may end before or behind it.
   */
  begin(part: Buffer): KnownText | undefined {
    if (part.length < OPENING) return undefined;
    return this.find(part.toString('latin1', 0, OPENING), (bytes) => agree(bytes, 0, part));
  }

  /** Another text that begins with as many bytes of `wrong` as have come, and goes on with `part`. */
  another(wrong: KnownText, come: number, part: Buffer): KnownText | undefined {
    const before = wrong.bytes.subarray(0, come);
    return this.find(
      openingOf(wrong.bytes),
      (bytes) => bytes.length > come && agree(bytes, come, part) && agree(bytes, 0, before),
    );
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
    const opening = openingOf(bytes);
    const alike = this.byOpening.get(opening);
    if (alike === undefined) this.byOpening.set(opening, new Set([kept]));
    else alike.add(kept);
    this.size += kept.size;
    for (const oldest of this.known.keys()) {
      if (this.size <= MOST_KEPT) break;
      this.forget(oldest);
    }
    return kept;
  }

  private find(opening: string, fits: (bytes: Buffer) => boolean): KnownText | undefined {
    const alike = [...(this.byOpening.get(opening) ?? [])].slice(-MOST_TRIED);
    return alike.findLast(({ bytes }) => fits(bytes));
  }

  private forget(key: string): void {
    const kept = this.known.get(key);
    if (kept === undefined) return;
    this.known.delete(key);
    this.size -= kept.size;
    const opening = openingOf(kept.bytes);
    const alike = this.byOpening.get(opening);
    alike?.delete(kept);
    if (alike?.size === 0) this.byOpening.delete(opening);
  }
}

/** Whether `text` from `at` on and `part` have the same bytes, as far as both go. */
export function agree(text: Buffer, at: number, part: Buffer): boolean {
  const count = Math.min(text.length - at, part.length);
  return text.compare(part, 0, count, at, at + count) === 0;
}

function openingOf(bytes: Buffer): string {
  return bytes.toString('latin1', 0, OPENING);
}

function keyOf(bytes: Buffer): string {
  const middle = bytes.length >> 1;
  return `${bytes.length} ${bytes.toString('latin1', bytes.length - 48)} ${bytes.toString('latin1', middle, middle + 48)}`;
}
