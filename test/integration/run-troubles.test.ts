/** What a run does when it is finished already, asked for the impossible, or loses its episodes to infrastructure. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { WrittenConfig } from '../../protocol/config.ts';
import type { Stage } from '../../protocol/journal.ts';
import { tensorSpecs } from '../../trainer-daemon/planner/architecture.ts';
import { readCheckpoint } from '../../trainer-daemon/planner/checkpoint.ts';
import { initialisePlanner } from '../../trainer-daemon/planner/initialise.ts';
import { RunFailed, type StopControl, train } from '../../trainer-daemon/training/index.ts';
import { cli, startCli } from './cli-process.ts';
import { filesOf, journalOf, quick, quickConfig, temporaryFolder } from './quick-run.ts';

describe('a finished run', () => {
  it('is not written to again: its table comes from what is there', async () => {
    const folder = temporaryFolder();
    const run = join(folder, 'run');
    const first = await train({ config: quick(), configFolder: folder, runDirectory: run });
    expect(first).toMatchObject({ state: 'finished', warnings: [] });
    expect(first.table).toContain('RL');
    const before = filesOf(run);

    const resumed = await cli(folder, ['train', '--resume', 'run']);
    expect(resumed).toMatchObject({ code: 0, out: `${first.table}\n` });
    expect(resumed.err).toContain('the run is finished: nothing was left to do and nothing was written');
    const evaluated = await cli(folder, ['evaluate', 'run', '--json']);
    expect(JSON.parse(evaluated.out.trim().split('\n').at(-1) ?? '')).toMatchObject({
      kind: 'result',
      state: 'finished',
      alreadyFinished: true,
      table: first.tableJson,
    });
    // A policy that was evaluated already, by its folder.
    const base = await cli(folder, ['evaluate', join('run', 'policies', 'v0000')]);
    expect([base.code, base.err]).toEqual([0, expect.stringContaining('nothing was written')]);
    expect(base.out).toMatch(/base/);
    expect(filesOf(run)).toEqual(before);

    const other = await cli(folder, ['evaluate', 'run/policies/v0009']);
    expect([other.code, other.err]).toEqual([2, expect.stringMatching(/run\/policies\/v0009" *$|there is no run/m)]);
    expect(filesOf(run)).toEqual(before);

    // Further rounds are something left to do, and the choice is made anew with them.
    const more = await train({ configFolder: folder, resume: run, rounds: 2 });
    expect(more.alreadyFinished).toBeUndefined();
    const events = journalOf(run);
    expect(events.filter((event) => event.type === 'round-finished').length).toBe(2);
    expect(events.filter((event) => event.type === 'checkpoint-chosen' && event.stage === 'rl').length).toBe(2);
  });
});

describe('a damaged run', () => {
  it('is told what is gone, and heals what can be made again', async () => {
    const folder = temporaryFolder();
    const run = join(folder, 'run');
    await train({ config: quick(), configFolder: folder, runDirectory: run });
    // As if the run had been killed when its round was collected, with a plan that a power cut emptied.
    const lines = readFileSync(join(run, 'journal.jsonl'), 'utf8').split('\n');
    const end = lines.findIndex((line) => line.includes('"round-collected"'));
    writeFileSync(join(run, 'journal.jsonl'), `${lines.slice(0, end).join('\n')}\n`);
    writeFileSync(join(run, 'rounds', '0001', 'plan.json'), '');
    expect(await train({ configFolder: folder, resume: run })).toMatchObject({ state: 'finished' });
    expect(JSON.parse(readFileSync(join(run, 'rounds', '0001', 'plan.json'), 'utf8')).groups).toHaveLength(2);
    expect(journalOf(run)).toContainEqual({
      type: 'warning',
      message: expect.stringMatching(/^rounds\/0001\/plan.json: is empty; the plan is drawn again/),
    });

    const weights = join(run, 'policies', 'v0002', 'model.safetensors');
    const whole = readFileSync(weights);
    writeFileSync(weights, whole.subarray(0, whole.length / 2));
    const cut = await cli(folder, ['train', '--resume', 'run', '--rounds', '2']);
    expect([cut.code, cut.err]).toEqual([
      1,
      expect.stringMatching(/model\.safetensors: .*cut short.*; the run made this policy .* --resume '.*run'\n$/),
    ]);
    writeFileSync(weights, whole);

    rmSync(join(run, 'policies'), { recursive: true });
    await expect(train({ configFolder: folder, resume: run, rounds: 2 })).rejects.toThrow(
      /policies\/v0001: the run made this policy and goes on from it, but its folder is gone/,
    );
  });
});

describe('stages that find nothing to build on', () => {
  const fresh = quickConfig.planner;
  const cases: [string, WrittenConfig['planner'] | 'checkpoint', Stage[], string][] = [
    ['rl from a fresh planner', fresh, ['rl'], 'the stage rl cannot start from a freshly initialised planner'],
    ['rl after the teacher alone', fresh, ['teacher', 'rl'], 'the stage rl cannot start'],
    ['sft without a teacher', 'checkpoint', ['sft'], 'the stage sft has nothing to learn from'],
    ['evaluate without a planner', fresh, ['evaluate'], 'the stage evaluate finds no planner'],
  ];

  it.each(cases)('%s: refused before anything is written', async (_what, planner, stages, sentence) => {
    const folder = temporaryFolder();
    if (planner === 'checkpoint')
      await initialisePlanner(join(folder, 'planner'), quick().planner.init as never, ['say something'], 1);
    const config = { ...quickConfig, planner: planner === 'checkpoint' ? { checkpoint: './planner' } : planner };
    writeFileSync(join(folder, 'quick.training.yaml'), JSON.stringify(config));
    const before = readdirSync(folder);
    for (const more of [['--run', 'run'], ['--dry-run']]) {
      const { code, err } = await cli(folder, ['train', 'quick.training.yaml', '--stages', stages.join(), ...more]);
      expect([code, err]).toEqual([2, expect.stringContaining(sentence)]);
      expect(readdirSync(folder)).toEqual(before);
    }
  });

  it('is refused for a run that exists, too, which stays as it was', async () => {
    const folder = temporaryFolder();
    const run = join(folder, 'run');
    await train({ config: quick(), configFolder: folder, runDirectory: run, stages: ['teacher'] });
    const before = filesOf(run);
    const { code, err } = await cli(folder, ['train', '--resume', 'run', '--stages', 'rl']);
    expect([code, err]).toEqual([2, expect.stringContaining('the stage rl cannot start')]);
    expect(filesOf(run)).toEqual(before);
    // Its teacher episodes are what sft builds on.
    expect((await train({ configFolder: folder, resume: run, stages: ['sft'] })).state).toBe('finished');
  });

  it('neither starts a run whose teacher has no key', async () => {
    const folder = temporaryFolder();
    const teacher = {
      upstream: 'openai' as const,
      url: 'http://127.0.0.1:9',
      model: 'm',
      apiKeyEnvironment: 'NOT_SET',
    };
    const started = train({ config: quick({ teacher }), configFolder: folder, runDirectory: join(folder, 'run') });
    await expect(started).rejects.toThrow('the environment variable NOT_SET is not set');
    expect(existsSync(join(folder, 'run'))).toBe(false);
  });
});

describe('tensors that keep their values', () => {
  it.each([
    [
      'trainer.freeze',
      { trainer: { freeze: ['modle.layers'] } },
      'trainer.freeze: no tensor begins with "modle.layers"',
    ],
    ['rl.freeze', { rl: { ...quickConfig.rl, freeze: ['model.layers.9.'] } }, 'rl.freeze: no tensor begins with'],
    [
      'both',
      { trainer: { freeze: ['model.e', 'model.n'] }, rl: { ...quickConfig.rl, freeze: ['model.layers'] } },
      'trainer.freeze and rl.freeze together leaves no tensor to train',
    ],
  ])('are told at once when there are none, or no others (%s)', async (_what, changes, sentence) => {
    const folder = temporaryFolder();
    const started = train({ config: quick(changes), configFolder: folder, runDirectory: join(folder, 'run') });
    await expect(started).rejects.toThrow(sentence);
    expect(existsSync(join(folder, 'run'))).toBe(false);
  });

  it('keep them in the rounds alone when rl.freeze names them', async () => {
    const folder = temporaryFolder();
    const run = join(folder, 'run');
    const config = quick({ rl: { ...quickConfig.rl, rounds: 1, freeze: ['model.layers.'] } });
    await train({ config, configFolder: folder, runDirectory: run, stages: ['teacher', 'sft', 'rl'] });
    const [base, tuned, reinforced] = await Promise.all(
      ['v0000', 'v0001', 'v0002'].map((version) => readCheckpoint(join(run, 'policies', version))),
    );
    const differs = (a: typeof base, b: typeof base) =>
      tensorSpecs(base.architecture)
        .filter(({ offset, size }) =>
          a.weights.flat.subarray(offset, offset + size).some((value, i) => value !== b.weights.flat[offset + i]),
        )
        .map(({ name }) => name);
    expect(differs(base, tuned)).toHaveLength(tensorSpecs(base.architecture).length);
    expect(differs(tuned, reinforced)).toEqual(['model.embed_tokens.weight', 'model.norm.weight']);
  });
});

describe('invalid episodes', () => {
  let folder: string;
  let run: string;
  const breaks = (pattern: string) => writeFileSync(join(folder, 'broken.txt'), pattern);
  const start = () => train({ config: quick(), configFolder: folder, runDirectory: run });

  const failing: [string, string][] = [
    ['teacher', 'teacher'],
    ['evaluations/validation-v0001-k01', 'validation'],
    ['rounds/0001', 'rollout'],
    ['evaluations/evaluation-v0000', 'evaluation'],
  ];
  it('all of a section fail the run with the reason; resumed, it plays them again and ends well', async () => {
    folder = temporaryFolder();
    run = join(folder, 'run');
    for (const [index, [section, pattern]] of failing.entries()) {
      breaks(pattern);
      const failure = await (index === 0 ? start() : train({ configFolder: folder, resume: run })).catch(
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(RunFailed);
      expect((failure as Error).message).toMatch(
        new RegExp(
          `^${section}: none of \\d+ episodes is valid.*commonest reason \\(\\d x\\): camera \\d+ is unplugged`,
        ),
      );
    }
    rmSync(join(folder, 'broken.txt'));
    const result = await train({ configFolder: folder, resume: run });
    expect(result).toMatchObject({ state: 'finished', warnings: [] });
    const events = journalOf(run);
    for (const [section] of failing) {
      const played = events.filter((event) => event.type === 'episode-finished' && event.section === section);
      expect(played.map((event) => event.type === 'episode-finished' && event.valid)).toEqual(
        played.map((_, i) => i >= played.length / 2),
      );
    }
    for (const event of events) if (event.type === 'checkpoint-chosen') expect(event.episodes).toBeGreaterThan(0);
  });

  it('in part give a warning in the journal and at the end of the output', async () => {
    folder = temporaryFolder();
    run = join(folder, 'run');
    // One of two attempts of each group.
    breaks('rollout \\d+ 0');
    writeFileSync(join(folder, 'quick.training.yaml'), JSON.stringify(quickConfig));
    const { code, err } = await cli(folder, ['train', 'quick.training.yaml', '--run', 'run']);
    expect(code).toBe(0);
    const sentence = 'rounds/0001: 2 of 4 episodes (50%) are invalid and were left out; commonest reason (2 x): camera';
    expect(err.trim().split('\n').at(-1)).toContain(`warning: ${sentence}`);
    const warnings = journalOf(run).flatMap((event) => (event.type === 'warning' ? [event.message] : []));
    expect(warnings.filter((message) => message.startsWith(sentence))).toHaveLength(1);
  });
});

describe('two commands on one run', () => {
  it('the second is refused with the first one named', async () => {
    const folder = temporaryFolder();
    const config = { ...quickConfig, teacher: { episodesPerTask: 600 } };
    writeFileSync(join(folder, 'quick.training.yaml'), JSON.stringify(config));
    const words = ['train', 'quick.training.yaml', '--run', 'run', '--stages', 'teacher', '--json'];
    const first = startCli(folder, words);
    await first.line(/"episode-finished"/);
    for (const other of [['train', '--resume', 'run'], ['evaluate', 'run', '--json'], words.slice(0, 4)]) {
      const { code, err } = await cli(folder, other);
      expect(code).toBe(2);
      expect(err).toMatch(new RegExp(`being written by process ${first.child.pid} since \\d{4}-[0-9T:.-]+Z`));
    }
    expect((await first.end('SIGTERM')).code).toBe(130);
    // A process that was killed leaves its lock, which is no obstacle.
    const killed = startCli(folder, ['train', '--resume', 'run', '--json']);
    await killed.line(/"run-resumed"/);
    await killed.end('SIGKILL');
    expect(existsSync(join(folder, 'run', 'run.lock'))).toBe(true);
    // Whenever a signal to the whole group comes, it is a wish to stop and no fault of the adapter, whose process starts now.
    for (const milliseconds of [0, 40, 80, 120, 160]) {
      const last = startCli(folder, ['train', '--resume', 'run', '--json']);
      await last.line(/"run-resumed"/);
      await new Promise((done) => setTimeout(done, milliseconds));
      expect(await last.end('SIGTERM')).toMatchObject({ code: 130 });
    }
  });
});

describe('a wish to stop', () => {
  it('counts when a process that only just started ended with it, and a fault without a wish is a fault', async () => {
    const folder = temporaryFolder();
    const adapter = join(folder, 'ended.adapter.mjs');
    writeFileSync(
      adapter,
      `import { defineAdapter } from 'agentic-robo-rl';
      export default defineAdapter({
        name: 'ended',
        tasks: { quick: ['say something'] },
        launch: () => ({ command: 'true' }),
        outcome: () => { throw new Error('never played'); },
        scriptedTeacher: () => ({ command: 'sh', args: ['-c', 'kill -TERM $$'] }),
      });`,
    );
    const config = quick({ harness: { ...quickConfig.harness, adapter } });
    for (const mode of ['episode', 'now'] as const) {
      const stop: StopControl = { mode: 'none' };
      const { state } = await train({
        config,
        configFolder: folder,
        runDirectory: join(folder, mode),
        stop,
        onEvent: (event) => {
          if (event.kind === 'journal' && event.line.event.type === 'stage-started') stop.mode = mode;
        },
      });
      expect(state).toBe('stopped');
      expect(journalOf(join(folder, mode)).at(-1)).toMatchObject({ type: 'run-stopped', reason: mode });
    }
    const resumed = train({ configFolder: folder, resume: join(folder, 'now') });
    await expect(resumed).rejects.toThrow(/ended before it was ready \(SIGTERM\)/);
  });
});
