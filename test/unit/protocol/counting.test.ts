import { describe, expect, it } from 'vitest';
import { approximate, plural } from '../../../protocol/counting.ts';

describe('numbers with their nouns', () => {
  it.each([
    [0, '0 tasks'],
    [1, '1 task'],
    [999, '999 tasks'],
    [1000, '1,000 tasks'],
    [1234567.4, '1,234,567 tasks'],
    [-1234, '-1,234 tasks'],
  ])('%s', (count, text) => expect(plural(count, 'task')).toBe(text));

  it('are rough from ten million on', () => {
    expect([approximate(9_999_999), approximate(12_345_678)]).toEqual(['9,999,999', '1.2e7']);
  });
});
