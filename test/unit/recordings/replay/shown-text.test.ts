import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutAt, shown, shownInLine, shownPlaces } from '../../../../recordings/replay/shown-text.ts';

describe('a recorded text as it is shown', () => {
  it('has a mark for each character that is not seen', () => {
    expect(shown('a\u001b[31mred\u0007 \u202egnp.exe\u2066 \u200b\ufeff\u2028 \u0085 \ud800 \u007f \u{e0041}')).toBe(
      'a␛[31mred␇ ‹U+202E›gnp.exe‹U+2066› ‹U+200B›‹U+FEFF›‹U+2028› ‹U+0085› ‹U+D800› ␡ ‹U+E0041›',
    );
    expect(shown('one\r\ntwo\rthree\n\tfour 👩‍🔧 ロボット')).toBe('one\ntwo␍three\n\tfour 👩‍🔧 ロボット');
  });

  it('is cut between characters', () => {
    expect([cutAt('ab😀', 3), cutAt('ab😀', 4), shownInLine('a\nb😀c', 4)]).toEqual(['ab', 'ab😀', 'a␊b…']);
    expect(shownInLine('x'.repeat(10_000_000))).toBe(`${'x'.repeat(200)}…`);
  });

  const pieces = fc.constantFrom('a', '\n', '\r', '\r\n', '\t', '\u001b', '\u202e', '😀', '\ud800', '\u2028', 'é');
  it('tells where each character of the recorded text is, whatever was marked before it', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (list) => {
        // Pieces that mean something else together are not what is asked here.
        const parts = list.filter((piece) => piece !== '\n' || !list.includes('\r'));
        const text = parts.join('');
        const offsets = parts.map((_, k) => parts.slice(0, k).join('').length);
        const expected = offsets.map((offset) => {
          const lines = shown(text.slice(0, offset)).split('\n');
          return { line: lines.length - 1, column: lines[lines.length - 1].length };
        });
        expect(shownPlaces(text, offsets)).toEqual(expected);
      }),
    );
  });
});
