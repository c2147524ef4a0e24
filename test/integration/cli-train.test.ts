/** `train` as a person uses it: dry run, Ctrl-C in the middle, resume, and the errors before a run begins. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EpisodeRecord } from '../../protocol/records.ts';
import { initialisePlanner } from '../../trainer-daemon/planner/initialise.ts';
import { cli, startCli } from './cli-process.ts';

const CONFIG = `version: 1
name: small
planner: { init: { layers: 1, hidden: 32, intermediate: 48, heads: 2, kvHeads: 1, vocabulary: 400, context: 2048 } }
harness:
  adapter: tabletop-skills
  suites: [tabletop_object_swap]
  tasks: { tabletop_object_swap: 0-1 }
  concurrency: 2
  limits: { turns: 8, seconds: 60, responseTokens: 64, idleSeconds: 30 }
teacher: { episodesPerTask: 4 }
`;
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'arrl train ü-'));
  writeFileSync(join(folder, 'small.training.yaml'), CONFIG);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const episodesIn = (run: string) =>
  readFileSync(join(folder, run, 'teacher', 'episodes.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as EpisodeRecord);

describe('train', () => {
  it('forecasts without writing', async () => {
    const { code, out } = await cli(folder, ['train', 'small.training.yaml', '--dry-run', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      tasks: 2,
      rows: [{ stage: 'teacher', episodes: 8 }, { stage: 'sft' }, { stage: 'rl' }, { stage: 'evaluate', episodes: 60 }],
    });
    expect(readdirSync(folder)).toEqual(['small.training.yaml']);
  });

  it('stops at Ctrl-C with the command that goes on, and that command does', async () => {
    const first = startCli(folder, [
      'train',
      'small.training.yaml',
      '--run',
      'my run',
      '--stages',
      'teacher',
      '--json',
    ]);
    await first.line(/"episode-finished"/);
    const stopped = await first.end('SIGINT');
    expect(stopped.code).toBe(130);
    expect(stopped.err).toContain('stopping after the running episodes');
    expect(stopped.err).toContain(` train --resume '${join(folder, 'my run')}'`);
    const before = episodesIn('my run');
    expect(before.length).toBeLessThan(8);
    expect(before.every((episode) => episode.valid)).toBe(true);

    // What earlier lives told is marked as past, and a person is not told it again.
    const between = startCli(folder, ['train', '--resume', 'my run', '--json']);
    await between.line(/"run-resumed"/);
    const lines = (await between.end('SIGTERM')).out.trim().split('\n');
    const events = lines.map((line) => JSON.parse(line)).filter((event) => event.kind === 'journal');
    const present = events.findIndex((event) => event.line.event.type === 'run-resumed');
    expect(events.map((event) => event.past)).toEqual(events.map((_, i) => (i < present ? true : undefined)));
    const second = await cli(folder, ['train', '--resume', 'my run']);
    expect(second.code).toBe(0);
    expect(second.err.match(/resumed after entry|the run stops here/g)).toEqual(['resumed after entry']);
    expect(second.err).toContain('teacher done in');
    expect(second.err.match(/teacher begins/g)).toHaveLength(1);
    const after = episodesIn('my run');
    expect(after.slice(0, before.length)).toEqual(before);
    expect(new Set(after.map((episode) => episode.id)).size).toBe(8);
    expect(after.length).toBe(8);
    const report = JSON.parse((await cli(folder, ['report', 'my run', '--json'])).out);
    expect(report).toMatchObject({ state: 'finished', stages: [{ stage: 'teacher' }], damaged: [] });
  });

  it('is stopped from another terminal, and the wish does not outlive it', async () => {
    // Enough to be at it still when the wish comes, however quick the machine is.
    writeFileSync(join(folder, 'many.training.yaml'), CONFIG.replace('episodesPerTask: 4', 'episodesPerTask: 200'));
    const words = ['train', 'many.training.yaml', '--run', 'elsewhere', '--stages', 'teacher', '--json'];
    const running = startCli(folder, words);
    await running.line(/"episode-finished"/);
    const asked = await cli(folder, ['stop', 'elsewhere', '--json']);
    expect([asked.code, JSON.parse(asked.out)]).toEqual([
      0,
      { directory: join(folder, 'elsewhere'), mode: 'episode', ended: true },
    ]);
    const { code, err } = await running.ended;
    expect([code, err]).toEqual([130, expect.stringContaining('stopped; to go on:')]);
    const played = episodesIn('elsewhere').length;
    expect(played).toBeLessThan(400);
    expect(readdirSync(join(folder, 'elsewhere'))).not.toContain('run.stop');
    const again = await cli(folder, ['stop', 'elsewhere']);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('nobody writes this run')]);

    const resumed = startCli(folder, ['train', '--resume', 'elsewhere', '--json']);
    await resumed.line(/"seq":\d+.*"run-resumed"/);
    await expect.poll(() => episodesIn('elsewhere').length).toBeGreaterThan(played);
    const now = await cli(folder, ['stop', 'elsewhere', '--now']);
    expect([now.code, now.err]).toEqual([0, expect.stringContaining('to stop now')]);
    expect(now.err).toContain(` train --resume '${join(folder, 'elsewhere')}'`);
    expect((await resumed.ended).code).toBe(130);
  });

  it('ends at once at the second Ctrl-C; nothing of a cut episode counts', async () => {
    const running = startCli(folder, ['train', 'small.training.yaml', '--run', 'cut', '--stages', 'teacher', '--json']);
    await running.line(/"episode-finished"/);
    running.signal('SIGINT');
    await new Promise((done) => setTimeout(done, 50));
    const { code, err } = await running.end('SIGINT');
    expect([code, err]).toEqual([130, expect.stringContaining('stopping now')]);
    const episodes = episodesIn('cut');
    expect(episodes.filter((episode) => !episode.valid)).toEqual([]);
    const report = JSON.parse((await cli(folder, ['report', 'cut', '--json'])).out);
    expect(report).toMatchObject({ state: 'stopped', damaged: [] });
  });

  it('evaluates a checkpoint, and then the run again without playing anything twice', async () => {
    const init = { layers: 1, hidden: 32, intermediate: 48, heads: 2, kvHeads: 1, vocabulary: 400, context: 2048 };
    await initialisePlanner(join(folder, 'planner'), init, ['pick the red block'], 1);
    const config =
      CONFIG.replace(/planner: .*\n/, '') + 'evaluation: { states: 1, sampling: { presencePenalty: 0 } }\n';
    writeFileSync(join(folder, 'evaluate.training.yaml'), config);
    const without = await cli(folder, ['evaluate', 'evaluate.training.yaml', '--run', 'judged']);
    expect([without.code, without.err]).toEqual([2, expect.stringContaining('names no planner.checkpoint')]);
    const first = await cli(folder, [
      'evaluate',
      'evaluate.training.yaml',
      '--checkpoint',
      'planner',
      '--run',
      'judged',
    ]);
    expect([first.code, first.err]).toEqual([0, expect.stringContaining('evaluation-v0000')]);
    expect(first.out).toMatch(/tabletop_object_swap\s+\d+\.\d%\s+\d\/2/);
    const again = await cli(folder, ['evaluate', 'judged', '--json']);
    const events = again.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const resumed = events.findIndex((event) => event.line?.event.type === 'run-resumed');
    expect(events.slice(resumed).filter((event) => event.line?.event.type === 'episode-finished')).toEqual([]);
    expect(events.at(-1)).toMatchObject({
      kind: 'result',
      state: 'finished',
      table: { planners: [{ label: 'base' }] },
    });
  });

  it('counts one of a thing in the singular', async () => {
    writeFileSync(
      join(folder, 'one.training.yaml'),
      `${CONFIG.replace('0-1 }', '0 }')}sft: { checkpoints: 1 }\nrl: { rounds: 1 }\n`,
    );
    const { out } = await cli(folder, ['train', 'one.training.yaml', '--dry-run']);
    expect(out).toMatch(/^1 task of tabletop_object_swap/);
    const { rows } = JSON.parse((await cli(folder, ['train', 'one.training.yaml', '--dry-run', '--json'])).out);
    expect(rows.map((row: { note: string }) => row.note).join('; ')).toMatch(
      /of each of 1 task;.*; 1 checkpoint validated; 1 round of 64 x 6/,
    );
  });

  it.each([
    [
      'an unknown suite',
      CONFIG.replace('[tabletop_object_swap]', '[tabletop_objct_swap]').replace(
        'tasks: { tabletop_object_swap: 0-1 }',
        'tasks: all',
      ),
      'wrong.training.yaml:6:12: error: "harness.suites": the adapter "tabletop-skills" has no suite "tabletop_objct_swap"; did you mean "tabletop_object_swap"?',
    ],
    [
      'a task that does not exist',
      CONFIG.replace('0-1', '0-99'),
      'wrong.training.yaml:7:34: error: "harness.tasks": there are no tasks 10-99',
    ],
    ['sizes that do not go together', CONFIG.replace('heads: 2', 'heads: 3'), 'multiple of heads'],
  ])('refuses %s before anything is written', async (_what, config, sentence) => {
    writeFileSync(join(folder, 'wrong.training.yaml'), config);
    const { code, err } = await cli(folder, ['train', 'wrong.training.yaml', '--run', 'never']);
    expect([code, err]).toEqual([2, expect.stringContaining(sentence)]);
    expect(readdirSync(folder)).not.toContain('never');
  });

  it('refuses a folder that holds something, and a run that is none', async () => {
    mkdirSync(join(folder, 'full'), { recursive: true });
    writeFileSync(join(folder, 'full', 'notes.txt'), 'mine');
    const full = await cli(folder, ['train', 'small.training.yaml', '--run', 'full']);
    expect([full.code, full.err]).toEqual([2, expect.stringContaining('is not empty (notes.txt)')]);
    const none = await cli(folder, ['train', '--resume', 'full']);
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('is not a run directory')]);
  });
});
