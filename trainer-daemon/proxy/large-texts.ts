/**
 * Images make requests large, and each request carries those before it again. Their texts are neither scanned by the
 * JSON parser nor written anew for the upstream: they are set aside before parsing, put back into the value by reference,
 * and sent on as the bytes that came.
 */
import { isAscii } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { KnownText, KnownTexts } from './known-texts.ts';

/** Bytes from which on a text is set aside. */
const LARGE = 32 * 1024;
/** How a data URL begins; in a JSON document this can only be the beginning of a text, unless the quote is escaped. */
const BEGINNING = Buffer.from('"data:');
const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const mark = (i: number | string) => `\u0000large text ${i}\u0000`;
const WRITTEN_MARK = JSON.stringify(mark('')).slice(1, -8);

export interface LargeText extends KnownText {
  /** As it stands in the request, with its quotes. */
  bytes: Buffer;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a JSON document.
 * @param known large texts of earlier documents; those of this one are added.
 * @throws SyntaxError or TypeError when it is not JSON in UTF-8.
 */
export function parseJson(document: Buffer, known: KnownTexts): { value: unknown; texts: LargeText[] } {
  const texts = document.length < LARGE ? [] : largeTexts(document, known);
  if (texts.length === 0) return { value: JSON.parse(decode(document)), texts };
  const between: string[] = [];
  let end = 0;
  for (const { bytes } of texts) {
    const start = bytes.byteOffset - document.byteOffset;
    between.push(decode(document.subarray(end, start)));
    end = start + bytes.length;
  }
  between.push(decode(document.subarray(end)));
  // Somebody else's text looks like the mark: the long way then.
  if (between.some((part) => part.includes(WRITTEN_MARK))) return { value: JSON.parse(decode(document)), texts: [] };
  const rest = between.reduce((before, part, i) => before + JSON.stringify(mark(i - 1)) + part);
  const byMark = new Map(texts.map(({ text }, i) => [mark(i), text]));
  return { value: restored(JSON.parse(rest), byMark), texts };
}

/** A hash of a document, in which its large texts stand by their own hashes. */
export function hashOf(route: string, document: Buffer, texts: readonly LargeText[]): string {
  const hash = createHash('sha256').update(`${route}\n`);
  let end = 0;
  for (const { bytes, sha256 } of texts) {
    const start = bytes.byteOffset - document.byteOffset;
    // No JSON document has such characters itself.
    hash.update(document.subarray(end, start)).update(`\u0000${sha256}\u0000`);
    end = start + bytes.length;
  }
  return hash.update(document.subarray(end)).digest('base64');
}

/** @returns the bytes of a value's JSON text, in pieces; large texts of the request that it was made from as they came. */
export function jsonParts(value: unknown, texts: readonly LargeText[] = []): Buffer[] {
  if (texts.length === 0) return [bytesOf(JSON.stringify(value))];
  const found: Buffer[] = [];
  const json = JSON.stringify(value, (_, each: unknown) => {
    if (typeof each !== 'string' || each.length < LARGE) return each;
    // Mostly the very same string, which costs nothing to compare.
    const known = texts.find(({ text }) => text === each);
    if (known === undefined) return each;
    found.push(known.bytes);
    return mark('');
  });
  const between = json.split(JSON.stringify(mark('')));
  // Somebody else's text looks like the mark: the long way then.
  if (between.length !== found.length + 1) return [bytesOf(JSON.stringify(value))];
  return between.flatMap((part, i) => (i < found.length ? [bytesOf(part), found[i]] : [bytesOf(part)]));
}

function largeTexts(document: Buffer, known: KnownTexts): LargeText[] {
  const texts: LargeText[] = [];
  for (let at = document.indexOf(BEGINNING); at >= 0; ) {
    const end = document.indexOf(QUOTE, at + BEGINNING.length);
    if (end < 0) break;
    const bytes = document.subarray(at, end + 1);
    if (document[at - 1] !== BACKSLASH && bytes.length >= LARGE && !isKey(document, end + 1)) {
      const text = known.look(bytes) ?? (isPlain(bytes) ? known.add(bytes, document) : undefined);
      if (text !== undefined) texts.push({ text: text.text, sha256: text.sha256, bytes });
    }
    at = document.indexOf(BEGINNING, end);
  }
  return texts;
}

/** Whether nothing is escaped, beyond ASCII or against the rules: the bytes are the text then. */
function isPlain(bytes: Buffer): boolean {
  return isAscii(bytes) && !bytes.includes(BACKSLASH) && !hasControls(bytes);
}

/** Whether the text before this place is the name of a field. */
function isKey(document: Buffer, at: number): boolean {
  let next = at;
  while (document[next] <= 0x20) next++;
  return document[next] === COLON;
}

/** Whether an ASCII text has characters below the space, which JSON allows in escapes only; four are looked at a time. */
function hasControls(bytes: Buffer): boolean {
  const before = (4 - (bytes.byteOffset % 4)) % 4;
  const count = (bytes.length - before) >> 2;
  const fours = new Int32Array(bytes.buffer, bytes.byteOffset + before, count);
  for (let i = 0; i < count; i++) if (((fours[i] - 0x20202020) & ~fours[i] & 0x80808080) !== 0) return true;
  const ends = [...bytes.subarray(0, before), ...bytes.subarray(before + 4 * count)];
  return ends.some((byte) => byte < 0x20);
}

function restored(value: unknown, byMark: ReadonlyMap<string, string>): unknown {
  let level: unknown[] = [[value]];
  const root = level[0] as unknown[];
  while (level.length > 0) {
    const next: unknown[] = [];
    for (const holder of level as Record<string, unknown>[])
      for (const key of Object.keys(holder)) {
        const each = holder[key];
        if (typeof each === 'string') {
          const text = byMark.get(each);
          if (text !== undefined) holder[key] = text;
        } else if (typeof each === 'object' && each !== null) next.push(each);
      }
    level = next;
  }
  return root[0];
}

function decode(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString('latin1') : UTF8.decode(bytes);
}

/** UTF-8; ASCII, by far the commonest, is copied without being encoded. */
function bytesOf(text: string): Buffer {
  return Buffer.byteLength(text) === text.length ? Buffer.from(text, 'latin1') : Buffer.from(text);
}
