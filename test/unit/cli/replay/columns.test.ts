import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { breakLine, clipTo, padTo, widthOf } from '../../../../cli/replay/columns.ts';

describe('columns of a terminal', () => {
  it('are counted as terminals count them', () => {
    expect(widthOf('abc')).toBe(3);
    expect(widthOf('机器人')).toBe(6);
    // An accent of its own, an emoji, a box.
    expect([widthOf('e\u0301'), widthOf('🤖'), widthOf('─')]).toEqual([1, 2, 1]);
  });

  it('are never exceeded by a cut text, which is filled to exactly so many', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', ' ', '机', '🤖', 'e\u0301', '─') });
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 30 }), (text, columns) => {
        expect(widthOf(clipTo(text, columns))).toBeLessThanOrEqual(columns);
        expect(widthOf(padTo(text, columns))).toBe(columns);
        if (widthOf(text) <= columns) expect(clipTo(text, columns)).toBe(text);
      }),
    );
  });

  it('of broken lines hold the whole text', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '机', '🤖') });
    fc.assert(
      fc.property(texts, fc.integer({ min: 2, max: 30 }), (text, columns) => {
        const lines = breakLine(text, columns);
        expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
      }),
    );
  });

  it('keep the indentation of a broken line', () => {
    expect(breakLine('    one two three', 12)).toEqual(['    one two', '    three']);
  });
});
