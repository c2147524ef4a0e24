/** The terminal is given back as it was, and nobody's text steers it. */
import type { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type Key, type Line, showFullScreen, type View } from '../../../../cli/replay/full-screen.ts';
import { KEYS, TestTerminal } from './devices.ts';

class Lines implements View<'quit'> {
  lines: Line[];
  readonly keys: Key[] = [];
  failing = false;

  constructor(...texts: string[]) {
    this.lines = texts.map((text) => [{ text, style: 'bold' }]);
  }

  async frame(rows: number, columns: number): Promise<Line[]> {
    if (this.failing) throw new Error('the disk fails');
    return [...this.lines, [{ text: `${rows} x ${columns}` }]];
  }

  async key(key: Key): Promise<'quit' | undefined> {
    this.keys.push(key);
    return key.text === 'q' ? 'quit' : undefined;
  }
}

const ENTERED = '\u001b[?1049h';
const LEFT = '\u001b[?1049l';
const listeners = () =>
  ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGCONT', 'exit', 'uncaughtExceptionMonitor'].map((name) =>
    process.listenerCount(name),
  );

async function shown(view: Lines, environment: Record<string, string> = {}) {
  const terminal = new TestTerminal();
  const before = listeners();
  const result = showFullScreen(view, terminal.devices(environment));
  const over = () => {
    expect(terminal.written.endsWith(LEFT)).toBe(true);
    expect(terminal.written).toContain('\u001b[?25h');
    expect(terminal.input.raw).toBe(false);
    expect(terminal.input.listenerCount('keypress')).toBe(0);
    expect(listeners()).toEqual(before);
  };
  await terminal.shows(/24 x 80/);
  expect(terminal.written.startsWith(ENTERED)).toBe(true);
  expect(terminal.input.raw).toBe(true);
  return { terminal, result, over };
}

describe('the full screen', () => {
  it('is given back when a key ends the view', async () => {
    const view = new Lines('hello');
    const { terminal, result, over } = await shown(view);
    terminal.type(KEYS.left);
    terminal.type('ä');
    // Escape and another key at once.
    terminal.type('\u001bx');
    terminal.type('q');
    expect(await result).toBe('quit');
    expect(view.keys.map(({ name, text }) => name || text)).toEqual(['left', 'ä', 'escape', 'x', 'q']);
    over();
  });

  it('is given back at Ctrl-C, when the terminal is gone, and when the view fails', async () => {
    const first = await shown(new Lines());
    first.terminal.type(`\u001b${KEYS.interrupt}`);
    expect(await first.result).toBe('interrupted');
    first.over();

    const second = await shown(new Lines());
    second.terminal.input.emit('end');
    expect(await second.result).toBe('interrupted');
    second.over();

    const view = new Lines();
    const third = await shown(view);
    view.failing = true;
    third.terminal.type('x');
    await expect(third.result).rejects.toThrow('the disk fails');
    third.over();
  });

  it('is given back before the message of a crash is printed', async () => {
    const { terminal, result, over } = await shown(new Lines());
    (process as EventEmitter).emit('uncaughtExceptionMonitor', new Error('crash'), 'uncaughtException');
    expect(terminal.written.endsWith(LEFT)).toBe(true);
    terminal.type('q');
    await result;
    over();
  });

  it('follows the size of the window, and says so when it is too small', async () => {
    const { terminal, result } = await shown(new Lines());
    terminal.resize(40, 120);
    await terminal.shows(/40 x 120/);
    terminal.resize(5, 20);
    await terminal.shows(/40 x 8 at least/);
    terminal.resize(30, 100);
    await terminal.shows(/30 x 100/);
    terminal.type('q');
    await result;
  });

  it('lets no text move the cursor, colour anything, or break out of its line', async () => {
    const hostile = '\u001b[2J\u001b[1;1Hroot#\r\n\u009b31m\u0007\u202Eabc\u001b]0;title\u0007';
    const { terminal, result } = await shown(new Lines(hostile, 'x'.repeat(500)), { NO_COLOR: '1' });
    const [first, second] = terminal.lines;
    expect(first).toContain('␛[2J␛[1;1Hroot#');
    expect(second).toHaveLength(80);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what may steer is ours alone
    const ours = /\u001b\[(?:\?\d+[hl]|\d+;1H|0m|K)/g;
    expect(/\p{Cc}|\p{Cf}/u.test(terminal.written.replace(ours, ''))).toBe(false);
    terminal.type('q');
    await result;
  });

  it('has colours, unless they are not wanted', async () => {
    const coloured = await shown(new Lines('hello'));
    expect(coloured.terminal.written).toContain('\u001b[1mhello');
    coloured.terminal.type('q');
    await coloured.result;
    const plain = await shown(new Lines('hello'), { NO_COLOR: '1' });
    expect(plain.terminal.written).not.toContain('\u001b[1m');
    plain.terminal.type('q');
    await plain.result;
  });
});
