import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStates } from '../../../protocol/states.ts';

describe('state sets', () => {
  it.each([
    [5, [5]],
    ['5', [5]],
    ['3-6', [3, 4, 5, 6]],
    ['0, 3-4', [0, 3, 4]],
    [
      [0, 3, '7-8'],
      [0, 3, 7, 8],
    ],
    [
      ['4-6', 5, '1-4'],
      [1, 2, 3, 4, 5, 6],
    ],
    [[], []],
  ])('%j', (written, expected) => {
    expect(parseStates(written)).toEqual(expected);
  });

  it.each([
    true,
    null,
    '',
    '3-',
    '-3',
    -3,
    1.5,
    Number.NaN,
    'a',
    [1, [2]],
    [true],
    '1-2-3',
    '200000',
    '6-3',
    ['0-9', '9-0'],
  ])('refuses %j', (written) => {
    expect(parseStates(written)).toHaveProperty('error');
  });

  it('is the sorted union of its parts', () => {
    const part = fc.tuple(fc.nat(60), fc.nat(8)).map(([first, more]) => [first, first + more] as const);
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const expected = new Set<number>();
        for (const [first, last] of parts) for (let s = first; s <= last; s++) expected.add(s);
        expect(parseStates(parts.map(([first, last]) => `${first}-${last}`))).toEqual(
          [...expected].sort((a, b) => a - b),
        );
      }),
    );
  });
});
