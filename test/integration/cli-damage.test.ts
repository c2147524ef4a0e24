/** Runs that something happened to: every command that reads one says so, and no other planner stands in unnoticed. */
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EpisodeRecord } from '../../protocol/records.ts';
import { summarise } from '../../trainer-daemon/evaluation/tables.ts';
import { initialisePlanner } from '../../trainer-daemon/planner/initialise.ts';
import { createRun, openRun } from '../../trainer-daemon/store/index.ts';
import { corpus, tinyInit } from '../unit/trainer-daemon/planner/tiny-planner.ts';
import { episode, runInfo } from '../unit/trainer-daemon/store/runs.ts';
import { cli } from './cli-process.ts';

let folder: string;

/** A finished run with the policies v0000 and v0001 and an evaluation of each. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'arrl damage ü-'));
  const run = await createRun(join(folder, 'original'), { ...runInfo, name: 'demo' });
  await run.journal({ type: 'run-started', run: runInfo.id, stages: ['sft', 'evaluate'] });
  for (const version of [0, 1]) {
    const policy = {
      version,
      parent: version === 0 ? null : 0,
      stage: version === 0 ? ('base' as const) : ('sft' as const),
      round: 0,
      step: 7 * version,
      validation: null,
    };
    const name = `policies/v000${version}`;
    await initialisePlanner(join(folder, 'original', name), tinyInit, corpus, version);
    await run.section(name).writeJson('policy.json', policy);
    await run.journal({ type: 'policy-created', policy });
  }
  await run.journal({ type: 'stage-finished', stage: 'sft', seconds: 1 });
  for (const version of [0, 1]) {
    const id = `evaluation-v000${version}`;
    const records = Array.from(
      { length: 6 },
      (_, i): EpisodeRecord => ({
        ...episode(`v${version}-${i}`),
        role: 'evaluation',
        round: version,
        task: `tabletop_goal/${i}`,
        init: 1,
        reward: i < 2 + 2 * version ? 1 : 0,
        policyVersion: version,
      }),
    );
    for (const record of records) await run.section(`evaluations/${id}`).appendEpisode(record);
    const kind = 'evaluation' as const;
    const summary = { id, policyVersion: version, kind, ...summarise(records), seconds: 5 };
    await run.section(`evaluations/${id}`).writeJson('summary.json', summary);
    await run.journal({ type: 'evaluated', summary, path: `evaluations/${id}` });
  }
  await run.journal({ type: 'stage-finished', stage: 'evaluate', seconds: 1 });
  await run.journal({ type: 'run-finished', seconds: 9 });
  await run.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A copy of the run that something happens to. */
function broken(name: string, happens: (at: (...parts: string[]) => string) => void): string {
  cpSync(join(folder, 'original'), join(folder, name), { recursive: true });
  happens((...parts) => join(folder, name, ...parts));
  return name;
}

const EVALUATION = ['evaluations', 'evaluation-v0001'];

describe('an evaluation', () => {
  it.each([
    ['is damaged', (file: string) => writeFileSync(file, '{"a":1}\n'), /summary\.json: id: /],
    ['is gone', (file: string) => rmSync(file), /summary\.json: is gone/],
  ])('that %s is told, and no other is compared in its place', async (what, happens, sentence) => {
    const run = broken(`summary ${what}`, (at) => happens(at(...EVALUATION, 'summary.json')));
    const refused = await cli(folder, ['compare', 'original', run]);
    expect([refused.code, refused.out, refused.err]).toEqual([2, '', expect.stringMatching(sentence)]);
    expect(refused.err).toContain('choose another evaluation with --b: there are evaluation-v0000');
    const chosen = await cli(folder, ['compare', 'original', run, '--b', 'evaluation-v0000']);
    expect([chosen.code, chosen.err]).toEqual([0, '']);
    const asked = await cli(folder, ['compare', run, 'original', '--a', 'evaluation-v0001']);
    expect([asked.code, asked.err]).toEqual([2, expect.stringMatching(sentence)]);

    for (const format of [[], ['--json']]) {
      const report = await cli(folder, ['report', run, ...format]);
      expect([report.code, report.err]).toEqual([1, expect.stringMatching(sentence)]);
      expect(report.out).toContain('demo');
      if (format.length > 0) expect(JSON.parse(report.out).damaged).toEqual([expect.stringMatching(sentence)]);
    }
  });

  it('that lost its last episodes is told', async () => {
    const run = broken('fewer episodes', (at) => {
      const file = at(...EVALUATION, 'episodes.jsonl');
      writeFileSync(file, `${readFileSync(file, 'utf8').split('\n').slice(0, 4).join('\n')}\n`);
    });
    const sentence = 'evaluations/evaluation-v0001/episodes.jsonl: holds 4 of the 6 episodes';
    for (const words of [
      ['report', run],
      ['compare', 'original', run, '--a', 'evaluation-v0000'],
    ]) {
      const { code, err } = await cli(folder, words);
      expect([code, err]).toEqual([1, expect.stringContaining(sentence)]);
    }
  });
});

describe('policies', () => {
  it('that are sound, or pruned, are no damage', async () => {
    const pruned = broken('pruned', (at) => {
      for (const name of ['config.json', 'generation_config.json', 'tokenizer.json', 'model.safetensors'])
        rmSync(at('policies', 'v0001', name));
      rmSync(at('policies', 'v0001', 'tokenizer_config.json'));
      rmSync(at('policies', 'v0001', 'chat_template.jinja'));
    });
    for (const run of ['original', pruned]) {
      const { code, out, err } = await cli(folder, ['report', run]);
      expect([code, out, err]).toEqual([0, expect.stringContaining('demo: finished'), '']);
    }
  });

  it.each([
    ['all gone', (policy: string) => rmSync(join(policy, '..'), { recursive: true }), 'policies/v0001: the folder'],
    [
      'cut short',
      (policy: string) => truncateSync(join(policy, 'model.safetensors'), 1000),
      'policies/v0001/model.safetensors: the file is cut short',
    ],
    [
      'without tokenizer',
      (policy: string) => rmSync(join(policy, 'tokenizer.json')),
      'policies/v0001/tokenizer.json: is missing',
    ],
  ])('%s are told by report, train --resume and evaluate', async (what, happens, sentence) => {
    const run = broken(what, (at) => happens(at('policies', 'v0001')));
    const report = await cli(folder, ['report', run]);
    expect([report.code, report.err]).toEqual([1, expect.stringContaining(`damaged: ${sentence}`)]);
    for (const words of [
      ['train', '--resume', run],
      ['evaluate', run],
    ]) {
      const { code, out, err } = await cli(folder, words);
      expect([code, out, err]).toEqual([
        0,
        expect.stringContaining('SFT'),
        expect.stringContaining(`warning: damaged: ${sentence}`),
      ]);
    }
  });
});

describe('a run that is being written', () => {
  it('is called running, with the process that writes to it', async () => {
    const name = broken('running', () => {});
    const run = await openRun(join(folder, name));
    await run.journal({ type: 'run-resumed', afterSeq: run.seq });
    const { code, out } = await cli(folder, ['report', name]);
    const { out: json } = await cli(folder, ['report', name, '--json']);
    await run.close();
    expect([code, out]).toEqual([0, expect.stringContaining('demo: running')]);
    expect(out).toContain(`process ${process.pid} since `);
    expect(JSON.parse(json)).toMatchObject({
      state: 'running',
      writer: expect.stringContaining(`process ${process.pid}`),
    });
    expect((await cli(folder, ['report', name])).out).toContain('demo: unfinished');
  });
});
