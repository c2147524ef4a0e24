import { describe, expect, it } from 'vitest';
import { runCommand } from '../../../cli/program.ts';
import { memoryTerminal } from './memory-terminal.ts';

describe('any command', () => {
  it.each([
    [['train', ''], 'the argument config is empty'],
    [['train', 'some.yaml', '--run', ''], '--run is empty'],
    [['train', '--resume', ''], '--resume is empty'],
    [['report', ''], 'the argument run is empty'],
    [['validate', 'some.yaml', ''], 'the argument file is empty'],
  ])('refuses the empty name of %j, as an unset variable of a shell leaves it', async (words, sentence) => {
    const terminal = memoryTerminal();
    expect(await runCommand(terminal, words)).toBe(2);
    expect(terminal.errors).toEqual([`error: ${sentence}; give it a name, or leave it out`]);
  });
});
