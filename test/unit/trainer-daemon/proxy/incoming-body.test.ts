import { beforeEach, describe, expect, it } from 'vitest';
import { Random } from '../../../../protocol/random.ts';
import { IncomingBody } from '../../../../trainer-daemon/proxy/incoming-body.ts';
import { KnownTexts } from '../../../../trainer-daemon/proxy/known-texts.ts';
import { documentOf, hashOf, parseJson } from '../../../../trainer-daemon/proxy/large-texts.ts';

const random = new Random('incoming bodies');
const pick = (count: number) => random.uint32() % count;
const PART = 16 * 1024;
/** Images of one camera: long alike, then each its own. */
const image = (name: string, alike = 20_000, length = 60_000) =>
  `data:image/png;base64,${'A'.repeat(alike)}${name.repeat(length)}`.slice(0, length);

let known: KnownTexts;
beforeEach(() => {
  known = new KnownTexts();
});

function piecesOf(document: Buffer, nextPart = () => PART) {
  const body = new IncomingBody(known);
  for (let at = 0; at < document.length; ) {
    const end = Math.min(document.length, at + nextPart());
    body.push(document.subarray(at, end));
    at = end;
  }
  return body.end();
}

const bytesOf = (pieces: ReturnType<typeof piecesOf>) =>
  Buffer.concat(pieces.map((piece) => (Buffer.isBuffer(piece) ? piece : piece.bytes)));
/** Bytes that are held for this request alone. */
const heldOf = (pieces: ReturnType<typeof piecesOf>) =>
  pieces.reduce((sum, piece) => sum + (Buffer.isBuffer(piece) ? piece.length : 0), 0);
const read = (value: unknown, nextPart?: () => number) => {
  const document = Buffer.from(JSON.stringify(value));
  const pieces = piecesOf(document, nextPart);
  expect(bytesOf(pieces).equals(document)).toBe(true);
  return { pieces, ...parseJson(documentOf(pieces, known)) };
};

describe('large texts of earlier requests', () => {
  it('are not held again, in whatever parts they come and however alike they begin', () => {
    const images = ['B', 'C', 'D'].map((name) => image(name));
    for (let count = 1; count <= images.length; count++) {
      const value = [...images.slice(0, count), 'tail'];
      expect(read(value).value).toEqual(value);
    }
    for (const part of [997, PART, 64 * 1024]) {
      const value = [images[2], 'x', { again: images[0], other: images[1] }, images[2]];
      const { value: got, pieces, texts } = read(value, () => part);
      expect(got).toEqual(value);
      expect(heldOf(pieces)).toBeLessThan(100);
      expect(texts).toHaveLength(4);
    }
  });

  it('that go on otherwise are texts of their own', () => {
    const old = image('B');
    read([old]);
    for (const other of [image('Z'), `${old}A`, old.slice(0, -1), `${old.slice(0, 50_000)}\n`, old.slice(0, 40_000)]) {
      const { value } = read([other, old]);
      expect(value).toEqual([other, old]);
    }
  });

  it('stay names where they stand as names, also behind spaces that come later', () => {
    const old = image('B');
    read([old]);
    const { value } = read({ [old]: old });
    expect(value).toEqual({ [old]: old });
    const document = Buffer.from(`{${JSON.stringify(old)}${' '.repeat(3 * PART)}: 1}`);
    expect(parseJson(documentOf(piecesOf(document), known)).value).toEqual({ [old]: 1 });
  });

  it('behind an escaped quote are part of another text, also where a part ends between the two', () => {
    const old = image('B');
    read([old]);
    const value = [`he said "${old}`, `${old}"`];
    const document = JSON.stringify(value);
    const quote = document.indexOf('\\"') + 1;
    const parts = [quote, document.length];
    expect(read(value, () => parts.shift() ?? 1).value).toEqual(value);
  });

  it('an unfinished one is no JSON', () => {
    const old = image('B');
    read([old]);
    const document = Buffer.from(`["${old.slice(0, 30_000)}`);
    expect(bytesOf(piecesOf(document)).equals(document)).toBe(true);
    expect(() => parseJson(documentOf(piecesOf(document), known))).toThrow(SyntaxError);
  });
});

it('reads a thousand documents in random parts as if they came whole, with the same hash', () => {
  const texts = ['B', 'C', 'D', 'E'].flatMap((name) => [image(name, 20_000), image(name, 300), image(name, 59_990)]);
  const small = ['', 'é', '"data:', '\\', '\\"data:x', '\u0000large text 0\u0000', image('A', 10, 100)];
  let knownOnes = 0;
  for (let i = 0; i < 1000; i++) {
    const value = Array.from({ length: 1 + pick(5) }, () =>
      pick(3) === 0 ? small[pick(small.length)] : texts[pick(texts.length)] + (pick(20) === 0 ? '\n' : ''),
    );
    const longest = [10, 5000, 70_000][pick(3)] + 1;
    const { value: got, pieces } = read(value, () => (longest < 100 ? 1 + pick(longest) * 100 : 1 + pick(longest)));
    expect(got).toEqual(value);
    knownOnes += pieces.filter((piece) => !Buffer.isBuffer(piece)).length;
    const whole = documentOf([Buffer.from(JSON.stringify(value))], new KnownTexts());
    expect(hashOf('r', documentOf(pieces, known))).toBe(hashOf('r', whole));
  }
  expect(knownOnes).toBeGreaterThan(500);
});
