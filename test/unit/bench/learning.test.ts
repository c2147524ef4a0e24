/** The page of learning evidence, from the recorded sample run. */
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Evidence, gatherEvidence } from '../../../bench/learning/evidence.ts';
import { compare, learningReport } from '../../../bench/learning/report.ts';
import { runCommand } from '../../../cli/program.ts';
import { memoryTerminal } from '../cli/memory-terminal.ts';

const RUN = join(import.meta.dirname, '../../../examples/sample-run');

describe('the evidence of learning', () => {
  let evidence: Evidence;
  let report: Parameters<typeof gatherEvidence>[1] & { evaluations: { comparisons: Comparison[] } };
  type Comparison = { a: string; b: string; comparison: { overall: object } };

  beforeAll(async () => {
    const terminal = memoryTerminal();
    await runCommand(terminal, ['report', RUN, '--json']);
    report = JSON.parse(terminal.output.join(''));
    evidence = await gatherEvidence(RUN, report);
  });

  it('pairs outcomes as the report of the run does', () => {
    const { base, sft, rl } = evidence.outcomes;
    const overall = (a: string, b: string) =>
      report.evaluations.comparisons.find((one) => one.a === a && one.b === b)?.comparison.overall;
    expect(Object.keys(base)).toHaveLength(8);
    expect(overall('base', 'SFT')).toMatchObject(compare(base, sft));
    expect(overall('SFT', 'RL round 1')).toMatchObject(compare(sft, rl));
  });

  it('keeps checkpoints, rounds and what was chosen, and no place on this machine', () => {
    expect(evidence.checkpoints).toEqual([{ successes: 5, episodes: 8 }]);
    expect(evidence.rounds).toEqual([
      { collected: { successes: 7, episodes: 16 }, validation: { successes: 7, episodes: 8 }, chosen: true },
      { collected: { successes: 5, episodes: 16 }, validation: { successes: 6, episodes: 8 }, chosen: false },
    ]);
    expect(JSON.stringify(evidence)).not.toContain(RUN);
  });

  it('leaves out pairs with an invalid episode, and refuses outcomes of other episodes', () => {
    expect(compare({ 'suite/0': '10-1' }, { 'suite/0': '0111' })).toMatchObject({ pairs: 3, wins: 1, losses: 1, p: 1 });
    expect(() => compare({ 'suite/0': '10' }, { 'suite/0': '1' })).toThrow('suite/0: the two have other episodes');
    expect(() => compare({ 'suite/0': '1' }, { 'suite/1': '1' })).toThrow('the two have other episodes');
  });

  it('says which seeds and parts are missing', () => {
    const page = learningReport({ config: 'some.yaml', seeds: [0, 1], evidence: new Map([['main-0', evidence]]) });
    expect(page).toContain('Not finished yet: seed 1.');
    expect(page).toContain('Not measured.');
    expect(page).toMatch(
      /\| 0 +\| 62\.5 % \| 75\.0 % \| 75\.0 % \| \+12\.5 +\| \+0\.0 +\| 8 +\| 1 +\| 1 +\| 1\.000 \|/,
    );
    expect(page).toMatch(/\| 1 +\| 43\.8 % \(23-67\); 87\.5 % \(53-98\) chosen \|/);
    expect(page).toMatch(/\| 0 +\| ; 62\.5 % \(31-86\) +\|/);
    expect(page).not.toMatch(/undefined|NaN|With advantages permuted/);
  });

  it('tells what a person wrote of a run, and the rounds of the control beside those of the run', () => {
    const known = new Map([
      ['main-0', { ...evidence, remark: 'of another day.' }],
      ['permuted-0', { ...evidence, rounds: evidence.rounds.map((round) => ({ ...round, validation: undefined })) }],
    ]);
    const page = learningReport({ config: 'some.yaml', seeds: [0], evidence: known });
    expect(page).toContain('\nSeed 0: of another day.\n');
    const [, control] = page.split('With advantages permuted');
    expect(control).toMatch(/\| 1 +\| 43\.8 % \(23-67\) chosen \|/);
  });

  it('tells what further epochs of fine-tuning are worth', () => {
    const { sft } = evidence.config;
    const longer: Evidence = {
      ...evidence,
      config: { ...evidence.config, sft: { ...sft, epochs: sft.epochs + 4 } },
      outcomes: { ...evidence.outcomes, sft: evidence.outcomes.base },
    };
    const known = new Map([
      ['main-0', { ...evidence, config: { ...evidence.config, seed: 0 } }],
      ['longer-0', longer],
    ]);
    const page = learningReport({ config: 'some.yaml', seeds: [0], evidence: known });
    // From 6 of 8 to 5 of 8, over four epochs.
    expect(page).toMatch(new RegExp(`${sft.epochs} +\\| 75\\.0 % +\\| ${sft.epochs + 4} +\\| 62\\.5 % +\\| -3\\.1 `));
    const { base, sft: shorter, rl } = evidence.outcomes;
    const [all, rounds] = [compare(shorter, base), compare(base, rl)];
    expect(page).toContain(`| ${all.wins} won, ${all.losses} lost, p 1.000 `);
    expect(page).toMatch(new RegExp(`\\| \\+12\\.5; ${rounds.wins} won, ${rounds.losses} lost, p `));
  });
});
