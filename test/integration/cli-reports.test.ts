/** `report`, `samples` and `compare` on runs written by the store. */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EpisodeRecord } from '../../protocol/records.ts';
import { summarise } from '../../trainer-daemon/evaluation/tables.ts';
import type { RunStore } from '../../trainer-daemon/store/contract.ts';
import { createRun } from '../../trainer-daemon/store/index.ts';
import { episode, runInfo } from '../unit/trainer-daemon/store/runs.ts';
import { cli } from './cli-process.ts';

let folder: string;

/** Ten tasks on two states; `solved` says which of the twenty. */
function episodes(version: number, solved: (index: number) => boolean): EpisodeRecord[] {
  return Array.from({ length: 20 }, (_, i) => ({
    ...episode(`v${version}-${i}`),
    role: 'evaluation' as const,
    round: version,
    task: `tabletop_goal_swap/${i % 10}`,
    init: 1 + Math.floor(i / 10),
    reward: solved(i) ? 1 : 0,
    policyVersion: version,
  }));
}

async function evaluation(run: RunStore, version: number, records: EpisodeRecord[]): Promise<void> {
  const id = `evaluation-v000${version}`;
  const section = run.section(`evaluations/${id}`);
  for (const record of records) await section.appendEpisode(record);
  await section.writeJson('summary.json', {
    id,
    policyVersion: version,
    kind: 'evaluation',
    ...summarise(records),
    seconds: 5,
  });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'arrl reports ü-'));
  mkdirSync(join(folder, 'runs'));
  const run = await createRun(join(folder, 'runs', 'demo-1'), { ...runInfo, name: 'demo' });
  await run.journal({ type: 'run-started', run: runInfo.id, stages: ['teacher', 'sft', 'rl', 'evaluate'] });
  await run.journal({ type: 'stage-started', stage: 'rl' });
  await run.journal({ type: 'warning', message: 'something to look at' });
  for (const [version, stage] of (['base', 'sft', 'rl'] as const).entries()) {
    const validation = version === 0 ? null : { episodes: 50, successes: 10 * version, rate: 0.2 * version };
    await run.section(`policies/v000${version}`).writeJson('policy.json', {
      version,
      parent: version ? version - 1 : null,
      stage,
      round: version === 2 ? 1 : 0,
      step: version * 7,
      validation,
    });
  }
  await run.journal({
    type: 'checkpoint-chosen',
    stage: 'rl',
    number: 1,
    policyVersion: 2,
    successes: 20,
    episodes: 50,
  });
  const round = run.section('rounds/0001');
  const sample = (i: number, status: string) => ({
    call: `e${i}.c0`,
    episode: `e${i}`,
    advantage: status === 'selected' ? 0.8 : null,
    u: status === 'selected' ? 0.0625 : null,
    promptLength: 1200,
    responseLength: 40,
    status,
  });
  await round.appendLines('samples.jsonl', [
    ...Array.from({ length: 30 }, (_, i) => sample(i, 'selected')),
    ...Array.from({ length: 6 }, (_, i) => sample(30 + i, 'zero-weight:equal-rewards')),
    sample(36, 'ineligible:after-success'),
  ]);
  await round.writeJson('summary.json', {
    round: 1,
    policyVersion: 1,
    episodes: 38,
    invalid: 1,
    successes: 15,
    meanReward: 0.4,
    groupsWithSignal: 5,
    calls: 37,
    samplesByStatus: {},
    selected: 30,
    optimizerSteps: 1,
    seconds: { collect: 60, samples: 1, update: 9 },
  });
  await evaluation(
    run,
    0,
    episodes(0, (i) => i < 4),
  );
  await evaluation(
    run,
    2,
    episodes(2, (i) => i < 16),
  );
  await run.journal({ type: 'run-finished', seconds: 100 });
  await run.close();

  const other = await createRun(join(folder, 'runs', 'demo-2'), { ...runInfo, id: '2f0c2ab9', name: 'demo' });
  await evaluation(
    other,
    1,
    episodes(1, (i) => i % 2 === 0),
  );
  await other.journal({ type: 'run-started', run: '2f0c2ab9', stages: ['rl'] });
  await other.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const widest = (text: string) => Math.max(...text.split('\n').map((line) => line.length));

describe('report', () => {
  it('tells state, policies, rounds and the table, within 80 columns', async () => {
    const { code, out, err } = await cli(folder, ['report', 'demo-1']);
    expect(code).toBe(0);
    expect(out).toContain('demo: finished');
    expect(out).toMatch(/v2\s+│ RL round 1 │\s+14 │ 20\/50 40\.0% \(28-54\) │ chosen/);
    expect(out).toMatch(/1 │\s+38 │\s+1 │\s+40\.5% │\s+5 │\s+30 │\s+1 │ 1 min 10 s/);
    expect(out).toContain('RL round 1 against base');
    expect(err).toContain('warning: something to look at');
    expect(widest(out.replaceAll(folder, ''))).toBeLessThanOrEqual(80);
  });

  it('prints the same as data', async () => {
    const { out } = await cli(folder, ['report', join('runs', 'demo-1'), '--json']);
    const report = JSON.parse(out);
    expect(report).toMatchObject({
      name: 'demo',
      state: 'finished',
      chosen: [2],
      warnings: ['something to look at'],
      damaged: [],
    });
    expect(report.evaluations.planners.map((one: { label: string }) => one.label)).toEqual(['base', 'RL round 1']);
    // Wilson's interval of 20 of 50, by hand.
    const { interval } = report.policies[2].validation;
    expect([interval.low, interval.high]).toEqual([expect.closeTo(0.2761, 4), expect.closeTo(0.5382, 4)]);
  });

  it('tells of a run that has not ended and of damage, and still reports the rest', async () => {
    appendFileSync(join(folder, 'runs', 'demo-2', 'journal.jsonl'), '{"seq":2,');
    const { code, out, err } = await cli(folder, ['report', 'demo-2']);
    expect(code).toBe(0);
    expect(out).toContain('demo: unfinished');
    expect(err).toContain('journal.jsonl, line 2: unfinished last line');
  });

  it('knows no other run and says which there are', async () => {
    const { code, err } = await cli(folder, ['report', 'demo-3']);
    expect(code).toBe(2);
    expect(err).toMatch(/there is no run "demo-3"; did you mean "demo-[12]"\?/);
  });
});

describe('samples', () => {
  it('counts by reason and shows the first twenty', async () => {
    const { code, out } = await cli(folder, ['samples', 'demo-1']);
    expect(code).toBe(0);
    expect(out).toContain('round 1 under policy v1: 38 episodes, 40.5% solved,\n5 groups with unequal rewards');
    expect(out).toMatch(/selected\s+│\s+30 │\s+81\.1% │ trained on/);
    expect(out).toMatch(/zero-weight:equal-rewards │\s+6 │/);
    expect(out).toMatch(/e19\.c0\s+│\s+0\.800 │ 0\.063 │\s+1,200 │\s+40 │ selected/);
    expect(out).not.toContain('e20.c0');
    expect(out).toContain('17 more samples');
    expect(widest(out)).toBeLessThanOrEqual(80);
  });

  it('gives JSON Lines of those asked for', async () => {
    const { out } = await cli(folder, ['samples', 'demo-1', '--round', '1', '--status', 'zero-weight', '--json']);
    const records = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(records.map((record) => record.call)).toEqual(['e30.c0', 'e31.c0', 'e32.c0', 'e33.c0', 'e34.c0', 'e35.c0']);
  });

  it.each([
    [['--status', 'bogus'], /no status begins with "bogus"; statuses are .*selected/],
    [['--status', 'zero-wieght'], /did you mean "zero-weight"\?/],
    [['--status', ''], /no status begins with ""/],
    [['--episode', 'e999x'], /round 1 has no sample of an episode "e999x"/],
    [['--limit', '-1'], /"-1" is not a whole number/],
    [['--limit', 'NaN'], /"NaN" is not a whole number/],
    [['--round', '1e9'], /"1e9" is not a whole number/],
    [['--round', '999999999'], /round 999999999 has no samples/],
  ])('refuses %j', async (words, sentence) => {
    const { code, out, err } = await cli(folder, ['samples', 'demo-1', ...words]);
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(sentence)]);
  });

  it('says when a round has none', async () => {
    const { code, err } = await cli(folder, ['samples', 'demo-1', '--round', '4']);
    expect([code, err.trim()]).toEqual([2, 'error: round 4 has no samples; rounds on disk: 1']);
  });
});

describe('compare', () => {
  it('pairs the same episodes of two runs', async () => {
    const { code, out } = await cli(folder, ['compare', 'demo-2', 'demo-1']);
    expect(code).toBe(0);
    expect(out).toContain('A: evaluation-v0001 of');
    // Of 20 pairs B alone solves the 8 odd ones below 16, A alone 16 and 18.
    expect(out).toMatch(/20 pairs, 8 won, 2 lost, p = 0\.109/);
    const { out: json } = await cli(folder, ['compare', 'demo-2', 'demo-1', '--json']);
    expect(JSON.parse(json)).toMatchObject({
      a: { policyVersion: 1 },
      b: { policyVersion: 2 },
      comparison: { overall: { wins: 8, losses: 2, pairs: 20 } },
    });
  });

  it('compares two evaluations of one run, and not one with itself', async () => {
    const same = await cli(folder, ['compare', 'demo-1', 'demo-1', '--a', 'evaluation-v0000']);
    expect(same.out).toMatch(/20 pairs, 12 won, 0 lost, p < 0\.001/);
    const itself = await cli(folder, ['compare', 'demo-1', 'demo-1']);
    expect([itself.code, itself.err]).toEqual([2, expect.stringContaining('name another with --a or --b')]);
    const unknown = await cli(folder, ['compare', 'demo-1', 'demo-2', '--a', 'x']);
    expect([unknown.code, unknown.err]).toEqual([
      2,
      expect.stringContaining('there are evaluation-v0000, evaluation-v0002'),
    ]);
  });
});

describe('doctor', () => {
  it('finds what is needed on the machine that runs the tests', async () => {
    const { code, out } = await cli(folder, ['doctor', '--json']);
    const { ok, checks } = JSON.parse(out) as {
      ok: boolean;
      checks: { name: string; state: string; detail: string; advice?: string }[];
    };
    expect([code, ok]).toEqual([0, true]);
    const of = (name: string) => checks.find((check) => check.name === name);
    expect(of('ONNX Runtime, cpu')).toMatchObject({ state: 'ok', detail: 'ONNX Runtime 1.30.0' });
    expect(of('physics engine')?.detail).toMatch(/^MuJoCo \d/);
    for (const check of checks) if (check.state === 'missing') expect(check.advice).toMatch(/\S/);
    expect(of('embedded planner')?.detail).toContain('text only');
  });

  it('prints lines of at most 80 columns, long paths aside', async () => {
    const { out } = await cli(folder, ['doctor'], { NO_COLOR: '1' });
    expect(out).toContain('everything needed works');
    expect(widest(out.replaceAll(/\S{41,}/g, ''))).toBeLessThanOrEqual(80);
  });
});
