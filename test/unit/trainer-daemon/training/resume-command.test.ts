import { describe, expect, it } from 'vitest';
import { commandName, shellWord } from '../../../../trainer-daemon/training/resume-command.ts';

describe('commandName', () => {
  it('is what was typed: npx, the installed name, or the script of a checkout', () => {
    expect(commandName('/p/node_modules/.bin/agentic-robo-rl', { npm_command: 'exec' }, '/p')).toBe(
      'npx agentic-robo-rl',
    );
    expect(commandName('/usr/local/bin/agentic-robo-rl', {}, '/p')).toBe('agentic-robo-rl');
    expect(commandName('/p/dist/cli.mjs', { npm_command: 'run-script' }, '/p')).toBe('node dist/cli.mjs');
    expect(commandName('/my tools/dist/cli.mjs', {}, '/p')).toBe("node '/my tools/dist/cli.mjs'");
  });
});

describe('shellWord', () => {
  it('quotes what a shell would take apart', () => {
    expect(shellWord('runs/demo-1')).toBe('runs/demo-1');
    expect(shellWord("it's here")).toBe("'it'\\''s here'");
    expect(shellWord('$HOME')).toBe("'$HOME'");
  });
});
