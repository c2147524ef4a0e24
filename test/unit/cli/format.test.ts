import { describe, expect, it } from 'vitest';
import { bytes, clip, duration, percent, plural } from '../../../cli/output/format.ts';
import { table } from '../../../cli/output/table.ts';
import { painterFor } from '../../../cli/output/terminal.ts';
import { memoryTerminal } from './memory-terminal.ts';

describe('numbers as people read them', () => {
  it.each([
    [0.25, '250 ms'],
    [1, '1.0 s'],
    [9.96, '10 s'],
    [59.6, '1 min 00 s'],
    [185, '3 min 05 s'],
    [3599.9, '1 h 00 min'],
    [7620, '2 h 07 min'],
    [86399, '1 d 0 h'],
    [100 * 3600, '4 d 4 h'],
    [Number.POSITIVE_INFINITY, '?'],
  ])('%f seconds', (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1500, '1.5 KB'],
    [9960, '10 KB'],
    [999_999, '1.0 MB'],
    [23_400_000, '23 MB'],
    [5e15, '5.0 PB'],
    [5e18, '5.0 EB'],
    [5e24, '5,000,000 EB'],
  ])('%d bytes', (count, text) => {
    expect(bytes(count)).toBe(text);
  });

  it('shares, plurals and clipped text', () => {
    expect([percent(3, 8), percent(0, 0), plural(1, 'error'), plural(1200, 'error')]).toEqual([
      '37.5%',
      '-',
      '1 error',
      '1,200 errors',
    ]);
    expect([clip('abcdef', 6), clip('abcdef', 4)]).toEqual(['abcdef', 'abc…']);
  });
});

describe('tables', () => {
  it('wrap text to fit the columns and keep numbers whole', () => {
    const text = table(
      memoryTerminal(),
      [{ title: 'Task' }, { title: 'Episodes', align: 'right' }, { title: 'Note', wrap: true }],
      [
        [
          'tabletop_goal_swap/3',
          '12',
          'a sentence that is much too long for one line of a terminal with eighty columns',
        ],
        ['tabletop_long/10', '1,234', ''],
      ],
    );
    const rows = text.split('\n');
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(80);
    expect(text).toContain('tabletop_goal_swap/3');
    expect(text).toContain('1,234');
    expect(text.replace(/[│\s]+/g, ' ')).toContain('a sentence that is');
    const ids = table(
      memoryTerminal(),
      [{ title: 'Call', wrap: true }, { title: 'Rest' }],
      [['1f0c2ab9.r3.'.repeat(9), 'x'.repeat(40)]],
    );
    expect(ids.replace(/[^0-9a-f.r]/g, '')).toContain('1f0c2ab9.r3.1f0c2ab9');
    expect(ids).not.toContain('…');
    expect(rows.every((row) => row.length === rows[0].length)).toBe(true);
  });
});

describe('colours', () => {
  it('only on a screen, and not against NO_COLOR', () => {
    expect(painterFor(true, {}).red('x')).toBe('\u001b[31mx\u001b[39m');
    expect(painterFor(false, {}).red('x')).toBe('x');
    expect(painterFor(true, { NO_COLOR: '1' }).red('x')).toBe('x');
    expect(painterFor(true, { NO_COLOR: '' }).red('x')).not.toBe('x');
    expect(painterFor(true, { TERM: 'dumb' }).red('x')).toBe('x');
  });
});
