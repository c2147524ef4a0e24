/** `train` as a person uses it: dry run, Ctrl-C in the middle, resume, and the errors before a run begins. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EpisodeRecord } from '../../protocol/records.ts';
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
    expect(stopped.err).toContain(`agentic-robo-rl train --resume '${join(folder, 'my run')}'`);
    const before = episodesIn('my run');
    expect(before.length).toBeLessThan(8);

    const second = await cli(folder, ['train', '--resume', 'my run']);
    expect([second.code, second.err]).toEqual([0, expect.stringContaining('resumed after entry')]);
    expect(second.err).toContain('teacher done in');
    const after = episodesIn('my run');
    expect(after.slice(0, before.length)).toEqual(before);
    expect(new Set(after.map((episode) => episode.id)).size).toBe(8);
    expect(after.length).toBe(8);
    const report = JSON.parse((await cli(folder, ['report', 'my run', '--json'])).out);
    expect(report).toMatchObject({ state: 'finished', stages: [{ stage: 'teacher' }], damaged: [] });
  });

  it.each([
    [
      'an unknown suite',
      CONFIG.replace('[tabletop_object_swap]', '[tabletop_objct_swap]').replace(
        'tasks: { tabletop_object_swap: 0-1 }',
        'tasks: all',
      ),
      'did you mean "tabletop_object_swap"?',
    ],
    ['a task that does not exist', CONFIG.replace('0-1', '0-99'), 'there is no task 10'],
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
