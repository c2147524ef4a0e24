import { describe, expect, it } from 'vitest';
import { barLine, ProgressBar } from '../../../cli/output/progress-bar.ts';
import { runPresenter } from '../../../cli/output/run-progress.ts';
import { memoryTerminal } from './memory-terminal.ts';

const ESC = '\u001b';
const PIECES = new RegExp(`${ESC}\\[K|${ESC}\\[[0-9;]*m|\\r|\\n|[^\\r\\n${ESC}]+`, 'g');

/** What a terminal shows after these writes: carriage return, line feed and "erase to the end of the line" only. */
function screenAfter(written: string): string[] {
  const rows = [''];
  let column = 0;
  for (const [piece] of written.matchAll(PIECES)) {
    const row = rows.length - 1;
    if (piece === '\r') column = 0;
    else if (piece === '\n') {
      rows.push('');
      column = 0;
    } else if (piece === '\u001b[K') rows[row] = rows[row].slice(0, column);
    else if (!piece.startsWith('\u001b')) {
      rows[row] = rows[row].slice(0, column) + piece + rows[row].slice(column + piece.length);
      column += piece.length;
    }
  }
  return rows;
}

function fakeScreen(columns: number) {
  const written: string[] = [];
  return { written, stream: { columns, write: (text: string) => written.push(text) } as unknown as NodeJS.WriteStream };
}

describe('the bar', () => {
  it('fits the columns whatever it says', () => {
    for (const columns of [20, 40, 79])
      for (const label of ['x', 'round 12 of 15: episodes that have a long name'])
        for (const tail of ['', 'solved 37.5%, 1 h 20 min left']) {
          const line = barLine(label, 1234, 38_400, tail, columns);
          expect(line.length).toBeLessThanOrEqual(columns);
        }
    expect(barLine('episodes', 5, 10, 'solved 50.0%', 79)).toBe(
      `episodes ${'█'.repeat(15)}${'░'.repeat(15)} 5/10  solved 50.0%`,
    );
    expect(barLine('none', 0, 0, '', 79)).toContain('░'.repeat(30));
  });

  it('leaves lines above it and goes away without a trace', () => {
    const { written, stream } = fakeScreen(80);
    const bar = new ProgressBar(stream, 'episodes');
    bar.update(0, 2, '');
    bar.above(() => stream.write('something happened\n'));
    bar.update(2, 2, 'solved 50.0%');
    expect(screenAfter(written.join(''))).toEqual([
      'something happened',
      `episodes ${'█'.repeat(30)} 2/2  solved 50.0%`,
    ]);
    bar.clear();
    expect(screenAfter(written.join(''))).toEqual(['something happened', '']);
  });

  it('is what a run shows on a screen, one at a time', () => {
    const { written, stream } = fakeScreen(80);
    const terminal = { ...memoryTerminal(), screen: stream, err: (text: string) => written.push(`${text}\n`) };
    const presenter = runPresenter(terminal as unknown as ReturnType<typeof memoryTerminal>, {});
    const tick = (label: string, done: number) =>
      presenter.show({ kind: 'progress', tick: { stage: 'rl', unit: 'episodes', label, done, total: 4 } });
    tick('first', 0);
    tick('first', 4);
    presenter.note('a note');
    tick('second', 1);
    expect(screenAfter(written.join(''))).toEqual(['a note', expect.stringMatching(/^second █+░+ 1\/4/)]);
    presenter.close();
    expect(screenAfter(written.join('')).at(-1)).toBe('');
  });
});
