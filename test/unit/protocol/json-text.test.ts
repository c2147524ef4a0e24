import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { jsonProblem, readJson } from '../../../protocol/json-text.ts';

/** JSON's own verdict. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('JSON grammar', () => {
  it.each([
    ['{"a": 1,}', 7, 'JSON has no comma after the last item'],
    ['[1 2]', 3, 'a comma is missing before this'],
    ["{'a': 1}", 1, 'a key in double quotes is expected here'],
    ['{a: 1}', 1, 'a key in double quotes is expected here'],
    ['{"a": yes}', 6, 'text needs double quotes: "yes"'],
    ['{"a": 01}', 7, 'this is not a number JSON knows'],
    ['// x\n{}', 0, 'JSON has no comments; a .yaml file may hold them'],
    ['{} {}', 3, 'nothing may follow the end of the JSON value'],
    ['{"a": [1, 2}', 11, '"]" is expected before this'],
    ['{"a": "x', 6, 'this text is not closed'],
    ['{"a": "C:\\d"}', 6, 'this text holds a character that JSON wants escaped'],
    ['{"a": "x\ty"}', 6, 'this text holds a character that JSON wants escaped'],
    ['[1,,2]', 3, 'there is a comma too many'],
    ["['a']", 1, 'text needs double quotes, not single ones'],
    ['[.5]', 1, 'this is not a number JSON knows'],
    ['[1, %]', 4, 'a value is expected here'],
    ['{"a" 1}', 5, 'a colon is expected after the key'],
    ['', 0, 'a value is expected here'],
  ])('%s', (text, start, message) => {
    expect(jsonProblem(text)).toMatchObject({ start, message });
  });

  it('agrees with JSON.parse on JSON', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.constantFrom(0, 2, '\t'), (text, indent) => {
        expect(jsonProblem(JSON.stringify(JSON.parse(text), null, indent))).toBeUndefined();
      }),
    );
  });

  it('agrees with JSON.parse on damaged JSON', () => {
    const damage = fc.tuple(
      fc.nat(200),
      fc.nat(2),
      fc.constantFrom('', ',', '"', '}', ']', '{', '[', ':', '1', '.', '-', 'e', 't', '\\', ' ', '\n'),
    );
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.array(damage, { minLength: 1, maxLength: 3 }), (json, edits) => {
        let text = json;
        for (const [at, cut, insert] of edits)
          text = text.slice(0, at % (text.length + 1)) + insert + text.slice((at % (text.length + 1)) + cut);
        // Control characters other than these are refused before the grammar is looked at.
        fc.pre(![...text].some((c) => c < ' ' && !'\t\n\r'.includes(c)));
        expect(jsonProblem(text) === undefined).toBe(isJson(text));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['{"a": {"b: ["c"], "d": e", "f": ./g/h"}}', { a: { b: ['c'], d: 'e', f: './g/h' } }, 3],
    ['{"a": 1,\n// one\n"b": [2, 3,], /* two */ "c": 4,}', { a: 1, b: [2, 3], c: 4 }, 4],
    ['{"a": {"b": 1}\n"c": 2}', { a: { b: 1 }, c: 2 }, 1],
    ['{"a" 1, "b": 2, "c" = 3}', { a: 1, b: 2, c: 3 }, 2],
    ['{"a": "one,\n"b": {"c": "two},\n"d": 3}', { a: 'one', b: { c: 'two' }, d: 3 }, 2],
    ['{"a: 1,\n"b": 2}', { a: 1, b: 2 }, 1],
    ['{"x": {"a": [1, 2 }, "b": 3}', { x: { a: [1, 2] }, b: 3 }, 1],
    [
      '{a: one, \'b\': \'two\', "c": .5, "d": 3,, "e": , "f": 4}',
      { a: 'one', b: 'two', c: 0.5, d: 3, e: null, f: 4 },
      7,
    ],
  ])('%s is read as it was meant', (text, meant, count) => {
    const { problems, mended } = readJson(text);
    expect(mended).toHaveLength(text.length);
    expect(parse(mended)).toEqual(meant);
    expect(problems).toHaveLength(count);
  });

  it('is quick on hostile text', () => {
    const started = performance.now();
    for (const text of [
      '['.repeat(1e6),
      '{"a":'.repeat(2e5),
      '/*'.repeat(5e5),
      '"\n'.repeat(5e5),
      '[,'.repeat(5e5),
      '// \n'.repeat(2e5),
    ])
      expect(readJson(text).problems.length).toBeGreaterThan(0);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
