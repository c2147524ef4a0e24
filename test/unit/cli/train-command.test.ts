/** The command around a run: arguments, findings first, exit codes, Ctrl-C. The run itself is scripted here. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TrainingRoom, trainCommand } from '../../../cli/commands/train.ts';
import { CommandError } from '../../../cli/exit.ts';
import { newRunAdvice } from '../../../protocol/new-run.ts';
import { RunFailed, type TrainOptions } from '../../../trainer-daemon/training/contract.ts';
import { commandName } from '../../../trainer-daemon/training/resume-command.ts';
import { type MemoryTerminal, memoryTerminal } from './memory-terminal.ts';

const CONFIG = 'version: 1\nname: demo\nharness: { adapter: ./mine.mjs, suites: [s] }\n';
let folder: string;
let terminal: MemoryTerminal;
let seen: TrainOptions[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'train command-'));
  writeFileSync(join(folder, 'a.training.yaml'), CONFIG);
  writeFileSync(join(folder, 'mine.mjs'), 'export default {}\n');
  terminal = memoryTerminal();
  seen = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const room: TrainingRoom = {
  async train(options) {
    seen.push(options);
    return { state: 'finished', directory: join(folder, 'runs', 'x'), table: 'THE TABLE', tableJson: { rows: [] } };
  },
  async planRun() {
    return {
      tasks: 10,
      suites: ['s'],
      rows: [
        {
          stage: 'teacher',
          episodes: 100,
          calls: 10_000,
          optimizerSteps: 0,
          diskBytes: 6_500_000,
          note: '10 of each task',
        },
        { stage: 'rl', episodes: 384, calls: 38_400, optimizerSteps: 48, diskBytes: 25_000_000, note: 'steps at most' },
      ],
    };
  },
};

/** Exit code, as program.ts would give it. */
async function command(words: string[], training: TrainingRoom = room): Promise<number> {
  const program = new Command().exitOverride().addCommand(trainCommand(terminal, async () => training));
  for (const one of program.commands)
    one
      .exitOverride()
      .configureOutput({ writeErr: (text) => terminal.err(text), writeOut: (text) => terminal.out(text) });
  try {
    await program.parseAsync(['train', ...words], { from: 'user' });
    return terminal.exitCode;
  } catch (error) {
    terminal.err((error as Error).message);
    if (error instanceof CommandError) return error.exitCode;
    if (error instanceof CommanderError) return 2;
    throw error;
  }
}
const file = () => join(folder, 'a.training.yaml');

describe('train', () => {
  it('hands over the config, its folder and the choices, and prints the table', async () => {
    expect(await command([file(), '--run', join(folder, 'r'), '--stages', 'teacher,rl', '--rounds', '2'])).toBe(0);
    expect(seen[0]).toMatchObject({
      configFolder: folder,
      runDirectory: join(folder, 'r'),
      stages: ['teacher', 'rl'],
      rounds: 2,
    });
    expect(seen[0].config?.name).toBe('demo');
    expect(terminal.output).toEqual(['THE TABLE']);
  });

  it('prints findings first and starts nothing', async () => {
    writeFileSync(file(), `${CONFIG}rl:\n  rouns: 2\n`);
    expect(await command([file()])).toBe(2);
    expect(terminal.errors[0]).toBe(`${file()}:5:3: error: unknown key "rouns"; did you mean "rounds"? [unknown-key]`);
    expect(seen).toEqual([]);
    expect(readdirSync(folder).sort()).toEqual(['a.training.yaml', 'mine.mjs']);
  });

  it.each([
    [['--stages', 'teacher,rll'], '"rll" is no stage; did you mean "rl"?'],
    [['--stages', 'rl,teacher'], 'stages run in the order teacher, sft, rl, evaluate; write teacher,rl'],
    [['--stages', 'teacher,teacher'], 'the stage "teacher" is named twice'],
    [['--stages', ''], '"" is no stage; stages are teacher, sft, rl, evaluate'],
    [['--rounds', '1e9'], '"1e9" is not a whole number'],
    [['--rounds', 'NaN'], '"NaN" is not a whole number'],
    [['--rounds', '999999999'], 'at most 100000 rounds, not 999999999'],
    [['--rounds', '1.5'], '"1.5" is not a whole number, 0 or more'],
    [['--rounds', '-1'], '"-1" is not a whole number'],
    [['--resume', 'x'], 'give a config or --resume, not both'],
  ])('refuses %j', async (words, sentence) => {
    expect(await command([file(), ...words])).toBe(2);
    expect(terminal.errors.join('\n')).toContain(sentence);
    expect(seen).toEqual([]);
  });

  it('refuses to train nothing, and names the runs there are', async () => {
    expect(await command([])).toBe(2);
    expect(await command(['--resume', 'no-such-run'])).toBe(2);
    expect(terminal.errors.at(-1)).toContain('there is no run "no-such-run"');
  });

  it('resumes a run by its directory', async () => {
    const run = join(folder, 'my run');
    mkdirSync(run);
    writeFileSync(join(run, 'run.json'), '{}');
    expect(await command(['--resume', run])).toBe(0);
    expect(seen[0]).toMatchObject({ resume: run });
  });

  it('forecasts without training', async () => {
    expect(await command([file(), '--dry-run'])).toBe(0);
    expect(seen).toEqual([]);
    expect(terminal.output.join('\n')).toMatch(/all\s+│\s+484 │\s+48,400 │\s+48 │\s+32 MB/);
    terminal.output.length = 0;
    await command([file(), '--dry-run', '--json', '--stages', 'rl']);
    expect(JSON.parse(terminal.output.join('\n')).rows.map((row: { stage: string }) => row.stage)).toEqual(['rl']);
  });

  it('warns of a forecast beyond the disk, in a table without broken words', async () => {
    const note = 'steps for about 10 targets an episode; 10 checkpoints validated';
    const huge = { stage: 'sft', episodes: 8e15, calls: 8e17, optimizerSteps: 8e15, diskBytes: 1.5e24, note };
    const large: TrainingRoom = { ...room, planRun: async () => ({ tasks: 10, suites: ['s'], rows: [huge] }) };
    expect(await command([file(), '--dry-run'], large)).toBe(0);
    expect(terminal.errors[0]).toMatch(
      /^warning: the run needs about 1,500,000 EB of disk, and .* are free at .*--run$/,
    );
    const lines = terminal.output.join('\n').split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    const words = lines.join(' ').split(/[^a-z]+/);
    for (const word of note.match(/[a-z]+/g) ?? []) expect(words).toContain(word);
    terminal.output.length = 0;
    await command([file(), '--dry-run', '--json'], large);
    expect(JSON.parse(terminal.output.join('\n')).warnings).toHaveLength(1);
  });

  it('gives 2 when a run could not begin and 1 when it failed', async () => {
    const fail = async () => {
      throw new Error('no such suite');
    };
    expect(await command([file()], { ...room, train: fail })).toBe(2);
    const failLater: TrainingRoom['train'] = async (options) => {
      options.onEvent?.({ kind: 'progress', tick: { stage: 'rl', unit: 'steps', label: 'x', done: 0, total: 1 } });
      throw new Error('the disk is full');
    };
    expect(await command([file()], { ...room, train: failLater })).toBe(1);
    expect(terminal.errors.at(-1)).toBe('the disk is full');
    expect(await command([file(), '--json'], { ...room, train: failLater })).toBe(1);
    expect(JSON.parse(terminal.output.at(-1) ?? '')).toEqual({ kind: 'error', message: 'the disk is full' });
  });

  it('tells how to go on after a failure, but not where going on cannot help', async () => {
    const failing = (message: string): TrainingRoom => ({
      ...room,
      train: async (options) => {
        options.onEvent?.({ kind: 'progress', tick: { stage: 'rl', unit: 'steps', label: 'x', done: 0, total: 1 } });
        throw new RunFailed(message, join(folder, 'runs', 'x'), new Error(message));
      },
    });
    expect(await command([file()], failing('the server is gone'))).toBe(1);
    expect(terminal.errors.at(-1)).toContain('Once that is mended, go on with: ');
    expect(await command([file()], failing(`the loss is NaN. ${newRunAdvice('Lower it')}`))).toBe(1);
    expect(terminal.errors.at(-1)).toBe(
      'the loss is NaN. Lower it in the config, and start a new run: a run keeps its own config, so going on with this one ends here again',
    );
  });

  it('Ctrl-C asks for the end of the episodes, then for the end at once, and tells how to resume', async () => {
    const modes: string[] = [];
    const train: TrainingRoom['train'] = async (options) => {
      process.emit('SIGINT');
      modes.push(options.stop?.mode ?? '');
      process.emit('SIGINT');
      modes.push(options.stop?.mode ?? '');
      return { state: 'stopped', directory: join(folder, "it's here") };
    };
    const before = process.listenerCount('SIGINT');
    expect(await command([file()], { ...room, train })).toBe(130);
    expect(modes).toEqual(['episode', 'now']);
    expect(terminal.errors.at(-1)).toBe(`stopped; to go on: ${commandName()} train --resume '${folder}/it'\\''s here'`);
    expect(process.listenerCount('SIGINT')).toBe(before);
  });

  it('SIGTERM ends at once', async () => {
    const train: TrainingRoom['train'] = async (options) => {
      process.emit('SIGTERM');
      expect(options.stop?.mode).toBe('now');
      return { state: 'stopped', directory: folder };
    };
    expect(await command([file()], { ...room, train })).toBe(130);
  });

  it('prints JSON Lines with --json', async () => {
    expect(await command([file(), '--json'])).toBe(0);
    expect(terminal.output.map((line) => JSON.parse(line))).toEqual([
      {
        kind: 'result',
        state: 'finished',
        alreadyFinished: false,
        directory: join(folder, 'runs', 'x'),
        table: { rows: [] },
        warnings: [],
      },
    ]);
  });
});
