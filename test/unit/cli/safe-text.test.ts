/** Recorded names on the way to a terminal: none of their characters steers it. */
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished, vi } from 'vitest';
import { jsonText, safeText } from '../../../cli/output/safe-text.ts';
import { table } from '../../../cli/output/table.ts';
import { processTerminal } from '../../../cli/output/terminal.ts';
import { runCommand } from '../../../cli/program.ts';
import { createRun } from '../../../trainer-daemon/store/index.ts';
import { call, episode, runInfo, temporaryFolder } from '../trainer-daemon/store/runs.ts';
import { memoryTerminal } from './memory-terminal.ts';

/** A title of the window, a clipboard, a bell, a line turned round. */
const EVIL = 'e\u001b]0;owned\u0007\u001b]52;c;aWQ=\u0007\u202elive\u009b2J';
const STEERING = /(?!\n)[\p{Cc}\u202e]/u;

/** What a command writes on both streams of this process, which are no screens. */
async function written(...words: string[]): Promise<string> {
  let text = '';
  const take = (piece: unknown) => {
    text += String(piece);
    return true;
  };
  const spies = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write').mockImplementation(take));
  try {
    await runCommand(processTerminal(), words);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return text;
}

async function hostileRun(): Promise<string> {
  const directory = join(temporaryFolder(), 'evil');
  const run = await createRun(directory, { ...runInfo, name: EVIL });
  onTestFinished(() => run.close());
  const section = run.section('rounds/0001');
  for (const attempt of [1, 2]) {
    const id = `${EVIL}${attempt}`;
    await section.appendCall(call({ episode: id }));
    await section.appendEpisode({ ...episode(id), attempt, task: `${EVIL}/0` });
  }
  await run.journal({ type: 'warning', message: EVIL });
  return directory;
}

it('holds marks in their place, in reports, lists, complaints and JSON', async () => {
  const directory = await hostileRun();
  const report = await written('report', directory);
  expect(report).toContain('e␛]0;owned␇␛]52;c;aWQ=␇‹U+202E›live‹U+009B›2J: ');
  expect(report).toContain('warning: e␛]0;owned');
  const chosen = await written('replay', directory, 'e', '--video', join(directory, 'x.mp4'));
  expect(chosen).toContain('name one of these episodes: e␛]0;owned');
  const video = await written('replay', directory, `${EVIL}1`, '--video', join(directory, 'x.mp4'));
  expect(video).toContain('e␛]0;owned');
  const json = await written('report', directory, '--json');
  expect(JSON.parse(json)).toMatchObject({ name: EVIL, warnings: [EVIL] });
  for (const text of [report, chosen, video, json]) expect(text).not.toMatch(STEERING);
});

it('keeps the colours of a screen', () => {
  const red = `\u001b[31m${EVIL}\u001b[39m`;
  expect(safeText(red, true)).toBe('\u001b[31me␛]0;owned␇␛]52;c;aWQ=␇‹U+202E›live‹U+009B›2J\u001b[39m');
  expect(safeText('\u001b[2J\u001b[1;1H\u001b[8m', true)).toBe('␛[2J␛[1;1H␛[8m');
  expect(safeText(red, false)).not.toMatch(STEERING);
});

it('stands in tables at the width that it is seen with', () => {
  const lines = table(
    memoryTerminal(),
    [{ title: 'Name' }, { title: 'n' }],
    [
      [EVIL, '1'],
      ['a', '2'],
    ],
  ).split('\n');
  expect(new Set(lines.map((line) => line.length)).size).toBe(1);
});

it('is JSON that is read back as it was', () => {
  const text = fc.array(
    fc.constantFrom('a', '"', '\\', '\n', '\u001b', '\u0085', '\u202e', '\u2028', '😀', '\u{e0041}', '\u200d'),
  );
  fc.assert(
    fc.property(text, fc.constantFrom(undefined, 2), (parts, indent) => {
      const value = { [parts.join('')]: [parts.join('')] };
      const made = jsonText(value, indent);
      expect(JSON.parse(made)).toEqual(value);
      // What a terminal does to it changes nothing any more.
      expect(safeText(made, false)).toBe(made);
    }),
  );
});
