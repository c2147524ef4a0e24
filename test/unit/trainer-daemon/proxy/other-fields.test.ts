import { expect, it } from 'vitest';
import { unknownInReply } from '../../../../trainer-daemon/proxy/dialects/known-fields.ts';
import { CUT, OtherFields } from '../../../../trainer-daemon/proxy/other-fields.ts';

/** What is recorded of replies or chunks, given as JSON texts. */
function recorded(...replies: string[]) {
  const others = new OtherFields();
  for (const reply of replies) others.add(unknownInReply(JSON.parse(reply)));
  return others.soFar();
}
const delta = (fields: string) => `{"choices":[{"delta":${fields}}]}`;
const whole = (value: unknown) => JSON.stringify({ choices: [{ message: { odd: value } }] });
const values = (other: ReturnType<typeof recorded>) => other?.fields.map(({ value }) => value);

it('names where each field stood, and takes the choice of index 0 alone', () => {
  const choices = [
    { index: 1, odd: 'other', message: { odd: 'other' } },
    { index: 0, odd: 2, message: { odd: 3, content: 'x', annotations: [] } },
  ];
  expect(recorded(JSON.stringify({ id: 'r', odd: 1, empty: null, choices }))).toEqual({
    fields: [
      { path: 'odd', value: 1 },
      { path: 'choices[].odd', value: 2 },
      { path: 'choices[].message.odd', value: 3 },
    ],
  });
  expect(recorded('{"id":"r","choices":[]}')).toBeUndefined();
});

it('tells a field at the top from one inside that reads alike', () => {
  const reply = '{"choices[].odd":1,"choices":[{"odd":2}]}';
  expect(values(recorded(reply))).toEqual([1, 2]);
});

it('joins the pieces of a message as deltas', () => {
  const joined = recorded(
    delta('{"audio":{"id":"a","data":"AA","at":1},"notes":[{"index":1,"text":"o"}],"same":"x"}'),
    delta('{"audio":{"data":"AA","at":2},"notes":[{"index":0,"text":"z"},{"index":1,"text":"ne"}],"same":"x"}'),
    delta('{"audio":null,"notes":["plain"]}'),
  );
  expect(values(joined)).toEqual([
    { id: 'a', data: 'AAAA', at: 2 },
    [{ index: 1, text: 'one' }, { index: 0, text: 'z' }, 'plain'],
    'xx',
  ]);
});

it('takes what chunks repeat beside the message once, and of what changes the last', () => {
  const chunks = Array.from({ length: 20_000 }, (_, i) =>
    JSON.stringify({ trace: 'the same in every chunk', phase: `part ${i}`, cites: ['a', 'b'].slice(0, i + 1) }),
  );
  expect(recorded(...chunks, '{"cites":["c"]}')).toEqual({
    fields: [
      { path: 'trace', value: 'the same in every chunk' },
      { path: 'phase', value: 'part 19999' },
      { path: 'cites', value: ['a', 'b', 'c'] },
    ],
  });
});

it.each([
  ['a large text', whole('x'.repeat(1_000_000))],
  ['many names', whole(Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`name ${i}`, i])))],
  ['many fields', JSON.stringify(Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`name ${i}`, i])))],
  ['a long list', whole(Array.from({ length: 1_000_000 }, () => 0))],
  ['empty values', whole(Array.from({ length: 100_000 }, () => ({})))],
  ['values in values', `{"odd":${'['.repeat(5000)}1${']'.repeat(5000)}}`],
])('%s is cut, and marked so', (_, reply) => {
  const other = recorded(reply);
  expect(other?.cut).toBe(true);
  expect(JSON.stringify(other).length).toBeLessThan(200_000);
  expect(JSON.stringify(other).length).toBeGreaterThan(50);
});

it('a text of many pieces is cut once, and what comes after it is left out', () => {
  const pieces = Array.from({ length: 300 }, () => delta(JSON.stringify({ odd: 'y'.repeat(1000) })));
  const other = recorded(...pieces, delta('{"late":1}'));
  expect(other).toMatchObject({ cut: true, fields: [{ path: 'choices[].message.odd' }] });
  expect(other?.fields).toHaveLength(1);
  const [text] = values(other) as [string];
  expect(text).toMatch(new RegExp(`^y{60000,66000}${CUT.replace('[', '\\[')}$`));
});

it('names of the prototype are fields like any other', () => {
  const reply = '{"__proto__":{"a":1},"choices":[{"message":{"constructor":{"__proto__":{"toString":"x"}}}}]}';
  const other = recorded(reply, reply);
  expect(JSON.stringify(values(other))).toBe('[{"a":1},{"__proto__":{"toString":"xx"}}]');
  expect(({} as { a?: number }).a).toBeUndefined();
  expect(Object.prototype.toString.call({})).toBe('[object Object]');
});

it('numbers that JSON cannot write are kept as words, long names are shortened', () => {
  const other = recorded(`{"odd":[1e999,-1e999,2],"${'n'.repeat(5000)}":true}`);
  expect(values(other)).toEqual([['Infinity', '-Infinity', 2], true]);
  expect(other?.fields[1].path).toHaveLength(200);
});
