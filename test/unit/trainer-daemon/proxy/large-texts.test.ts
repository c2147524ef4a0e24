import { describe, expect, it } from 'vitest';
import { Random } from '../../../../protocol/random.ts';
import { KnownTexts } from '../../../../trainer-daemon/proxy/known-texts.ts';
import { documentOf, hashOf, jsonParts, parseJson as parse } from '../../../../trainer-daemon/proxy/large-texts.ts';

// One for all tests: what is known from one document must not change how another is read.
const known = new KnownTexts();
const parseJson = (document: Buffer) => parse(documentOf([document], known));
const image = (letter: string, length = 40_000) => `data:image/png;base64,${letter.repeat(length)}`;
const sent = (value: unknown, texts = parseJson(Buffer.from(JSON.stringify(value))).texts) =>
  Buffer.concat(jsonParts(value, texts)).toString();

describe('large texts', () => {
  it.each([
    ['one', { messages: [{ content: [{ image_url: { url: image('A') } }] }] }, 1],
    ['several, one of them twice', [image('A'), 'x', image('B'), { again: image('A') }], 3],
    ['the whole document', image('A'), 1],
    ['a small one', [image('A', 10), 'pad'.repeat(20_000)], 0],
    ['one with an escape', [`${image('A')}\n`, image('B')], 1],
    ['one with a quote', [`${image('A')}"`, image('B')], 1],
    ['one beyond ASCII, and others beside it', [`${image('A')}é`, 'ü', image('B'), '\ud83d\ude00'], 1],
    ['a quoted one inside another text', [`he said: "${image('A')}"`, image('B')], 1],
    ['as a key', { [image('A')]: image('B') }, 1],
    ['beside a text like the mark', [image('A'), '\u0000large text 0\u0000', '\u0000large text \u0000'], 0],
  ])('%s: parsed and written as JSON itself does', (_, value, count) => {
    const json = JSON.stringify(value);
    const parsed = parseJson(Buffer.from(json));
    expect(parsed.value).toEqual(value);
    expect(parsed.texts).toHaveLength(count);
    expect(sent(parsed.value, parsed.texts)).toBe(json);
    // As it goes out: in another order, with other fields around.
    const changed = { temperature: 1, first: parsed.value, second: [parsed.value, 'tail'] };
    expect(sent(changed, parsed.texts)).toBe(JSON.stringify(changed));
  });

  it('are known again, and only when every byte is the same', () => {
    const url = `${image('A')}end`;
    const other = `${image('A', 10)}b${image('A', 39_989).slice(22)}end`;
    expect(other.length).toBe(url.length);
    for (const each of [url, url, other, url]) {
      const { value, texts } = parseJson(Buffer.from(JSON.stringify([each, 'x'])));
      expect(value).toEqual([each, 'x']);
      expect(sent(value, texts)).toBe(JSON.stringify([each, 'x']));
    }
  });

  it('stand in the hash by their own: equal documents have equal ones, others do not', () => {
    const hash = (value: unknown, route = '/v1/a') => {
      const document = Buffer.from(JSON.stringify(value));
      return hashOf(route, documentOf([document], known));
    };
    const hashes = [
      hash([image('A'), 1]),
      hash([image('A'), 2]),
      hash([image('B'), 1]),
      hash([image('A'), image('A')]),
      hash([`${image('A')}\n`, 1]),
      hash([image('A', 10), 1]),
      hash([image('A'), 1], '/v1/b'),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(hash([image('A'), 1])).toBe(hashes[0]);
  });

  it('older ones are let go, and read as before', () => {
    const few = new KnownTexts();
    for (let i = 0; i < 40; i++) {
      const value = [`${image('A', 1_000_000)}${i}`, 'x'];
      expect(parse(documentOf([Buffer.from(JSON.stringify(value))], few)).value).toEqual(value);
    }
    const look = (i: number) => few.look(Buffer.from(JSON.stringify(`${image('A', 1_000_000)}${i}`)));
    expect([look(0), look(39)?.text.length]).toEqual([undefined, 1_000_024]);
  });

  it('a value with a text like the mark is written the long way', () => {
    const { value, texts } = parseJson(Buffer.from(JSON.stringify([image('A')])));
    const odd = [value, '\u0000large text \u0000'];
    expect(sent(odd, texts)).toBe(JSON.stringify(odd));
  });

  it('are the bytes that came first, not copies of them', () => {
    const fresh = new KnownTexts();
    const document = Buffer.from(JSON.stringify([1, image('A')]));
    parse(documentOf([document], fresh));
    const { value, texts } = parse(documentOf([Buffer.from(document)], fresh));
    expect(jsonParts(value, texts).some((part) => part.buffer === document.buffer)).toBe(true);
  });

  it.each([
    ['an unfinished text', `["${image('A')}`],
    ['nothing between two', `["${image('A')}""${image('B')}"]`],
    ['a quote too many', `["${image('A')}"x"]`],
    ['a line break in one', `["${image('A')}\n${image('A')}"]`],
    ['a control character at its end', `["${image('A')}\u0001"]`],
    ['no UTF-8 beside one', Buffer.concat([Buffer.from(`["${image('A')}","`), Buffer.from([0xff]), Buffer.from('"]')])],
  ])('refuses %s', (_, document) => {
    expect(() => parseJson(Buffer.from(document))).toThrow();
  });

  it('agrees with JSON on a thousand cut and spliced documents', () => {
    const random = new Random('large texts');
    const pick = (count: number) => random.uint32() % count;
    const base = Buffer.from(JSON.stringify({ a: [image('A'), 'b\\"data:'], c: { d: image('C'), e: '"data:' } }));
    const pieces = ['"', '\\', '"data:', '\\"data:', ',', '}', 'é', '\\\\', '"data:x"', ' ', '\n', '\u0002', ':'].map(
      (text) => Buffer.from(text),
    );
    let whole = 0;
    for (let i = 0; i < 1000; i++) {
      const at = pick(2) === 0 ? pick(60) : base.length - pick(60);
      const document = Buffer.concat([base.subarray(0, at), pieces[pick(pieces.length)], base.subarray(at + pick(3))]);
      let expected: unknown;
      try {
        expected = JSON.parse(document.toString());
      } catch {
        expect(() => parseJson(document)).toThrow();
        continue;
      }
      whole++;
      const { value, texts } = parseJson(document);
      expect(value).toEqual(expected);
      expect(sent(value, texts)).toBe(JSON.stringify(expected));
    }
    expect(whole).toBeGreaterThan(50);
  });
});
