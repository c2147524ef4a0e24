import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonProblem } from '../../../protocol/json-text.ts';

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
    ['{"a": [1, 2}', 11, 'a comma is missing before this'],
    ['{"a": "x', 6, 'this text is not closed or holds a character that JSON wants escaped'],
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
});
