/**
 * Images make requests large, and each request carries those before it again. Their texts are neither scanned by the
 * JSON parser nor written anew for the upstream: they are set aside before parsing, put back into the value by reference,
 * and sent on as the bytes that came.
 */
import { isAscii } from 'node:buffer';
import { createHash } from 'node:crypto';
import { BACKSLASH, BEGINNING, type Piece } from './incoming-body.ts';
import type { KnownText, KnownTexts } from './known-texts.ts';

/** Bytes from which on a text is set aside. */
const LARGE = 32 * 1024;
const QUOTE = 0x22;
const COLON = 0x3a;
const SPACE = 0x20;
const mark = (i: number | string) => `\u0000large text ${i}\u0000`;
const WRITTEN_MARK = JSON.stringify(mark('')).slice(1, -8);

export type LargeText = KnownText;

/** A JSON document with its large texts set aside: `between[0]`, `texts[0]`, `between[1]`, ... */
export interface JsonDocument {
  between: Buffer[];
  texts: LargeText[];
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Sets the large texts of a document aside.
 * @param pieces of it, as they came.
 * @param known large texts of earlier documents; those of this one are added.
 */
export function documentOf(pieces: readonly Piece[], known: KnownTexts): JsonDocument {
  const document: JsonDocument = { between: [], texts: [] };
  let run: Buffer[] = [];
  pieces.forEach((piece, i) => {
    if (Buffer.isBuffer(piece)) run.push(piece);
    else if (isKey(pieces, i + 1)) run.push(piece.bytes);
    else {
      addRun(document, run, known);
      document.texts.push(piece);
      run = [];
    }
  });
  addRun(document, run, known);
  return document;
}

/**
 * Parses a document.
 * @returns its value, and the large texts that stand in it as the very strings told there.
 * @throws SyntaxError or TypeError when it is not JSON in UTF-8.
 */
export function parseJson({ between, texts }: JsonDocument): { value: unknown; texts: LargeText[] } {
  const parts = between.map(decode);
  if (texts.length === 0) return { value: JSON.parse(parts[0]), texts };
  // Somebody else's text looks like the mark: the long way then.
  if (parts.some((part) => part.includes(WRITTEN_MARK)))
    return {
      value: JSON.parse(parts.reduce((before, part, i) => `${before}"${texts[i - 1].text}"${part}`)),
      texts: [],
    };
  const rest = parts.reduce((before, part, i) => before + JSON.stringify(mark(i - 1)) + part);
  const byMark = new Map(texts.map(({ text }, i) => [mark(i), text]));
  return { value: restored(JSON.parse(rest), byMark), texts };
}

/** A hash of a document, in which its large texts stand by their own hashes. */
export function hashOf(route: string, { between, texts }: JsonDocument): string {
  const hash = createHash('sha256').update(`${route}\n`);
  // No JSON document has such characters itself.
  for (const [i, { sha256 }] of texts.entries()) hash.update(between[i]).update(`\u0000${sha256}\u0000`);
  return hash.update(between[texts.length]).digest('base64');
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

/** Adds bytes in which no text is known yet, and sets large ones aside. */
function addRun({ between, texts }: JsonDocument, run: readonly Buffer[], known: KnownTexts): void {
  const bytes = run.length === 1 ? run[0] : Buffer.concat(run);
  let start = 0;
  for (let at = bytes.length < LARGE ? -1 : bytes.indexOf(BEGINNING); at >= 0; ) {
    const quote = bytes.indexOf(QUOTE, at + BEGINNING.length);
    if (quote < 0) break;
    const written = bytes.subarray(at, quote + 1);
    if (bytes[at - 1] !== BACKSLASH && written.length >= LARGE && !isKey([bytes.subarray(quote + 1)], 0)) {
      const text = known.look(written) ?? (isPlain(written) ? known.add(written, bytes) : undefined);
      if (text !== undefined) {
        between.push(bytes.subarray(start, at));
        texts.push(text);
        start = quote + 1;
      }
    }
    at = bytes.indexOf(BEGINNING, quote);
  }
  between.push(bytes.subarray(start));
}

/** Whether nothing is escaped, beyond ASCII or against the rules: the bytes are the text then. */
function isPlain(bytes: Buffer): boolean {
  return isAscii(bytes) && !bytes.includes(BACKSLASH) && !hasControls(bytes);
}

/** Whether the text before this piece is the name of a field. */
function isKey(pieces: readonly Piece[], at: number): boolean {
  for (let i = at; i < pieces.length; i++) {
    const piece = pieces[i];
    if (!Buffer.isBuffer(piece)) return false;
    const next = piece.find((byte) => byte > SPACE);
    if (next !== undefined) return next === COLON;
  }
  return false;
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
