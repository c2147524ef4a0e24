import { describe, expect, it } from 'vitest';
import { pairEpisodes } from '../../../../trainer-daemon/evaluation/compare.ts';
import {
  comparisonTable,
  evaluationTable,
  summarise,
  tallyRate,
} from '../../../../trainer-daemon/evaluation/tables.ts';
import { episode } from './episodes.ts';

/** `solved` of ten episodes in each of two suites. */
const planner = (solved: number) =>
  ['tabletop_goal_swap', 'tabletop_goal_task'].flatMap((suite) =>
    Array.from({ length: 10 }, (_, i) => episode({ task: `${suite}/${i}`, reward: i < solved ? 1 : 0 })),
  );

describe('summarise', () => {
  it('tallies by suite, invalid ones apart, repeated tries once', () => {
    const episodes = [
      ...planner(3),
      episode({ task: 'tabletop_goal_swap/0', init: 2, valid: false, reward: 1 }),
      episode({ task: 'tabletop_goal_swap/1', init: 2, valid: false }),
      episode({ task: 'tabletop_goal_swap/1', init: 2, tryNumber: 1, reward: 1 }),
    ];
    const { total, suites } = summarise(episodes);
    expect(total).toEqual({ episodes: 22, successes: 7, invalid: 1 });
    expect(suites['tabletop_goal_swap']).toEqual({ episodes: 12, successes: 4, invalid: 1 });
    expect(suites['tabletop_goal_task']).toEqual({ episodes: 10, successes: 3, invalid: 0 });
    expect(tallyRate(total).rate).toBe(7 / 21);
    expect(summarise([])).toEqual({ total: { episodes: 0, successes: 0, invalid: 0 }, suites: {} });
  });
});

describe('evaluationTable', () => {
  it('shows suites by planners, intervals and paired tests', () => {
    const { text, json } = evaluationTable([
      { label: 'base', episodes: planner(1) },
      { label: 'SFT', episodes: planner(6) },
      { label: 'RL', episodes: planner(9) },
    ]);
    // 2, 12 and 18 of 20; Wilson bounds from scipy; 10 won: 2 * 2^-10 = 0.00195; 6: 2 * 2^-6 = 0.031; 16: 3e-5.
    expect(text).toBe(
      [
        'suite                  base            SFT             RL',
        '---------------------------------------------------------',
        'swap          10.0%    1/10  60.0%    6/10  90.0%    9/10',
        'task          10.0%    1/10  60.0%    6/10  90.0%    9/10',
        'overall       10.0%    2/20  60.0%   12/20  90.0%   18/20',
        '95% interval      2.8-30.1%     38.7-78.1%     69.9-97.2%',
        '',
        'SFT against base:',
        '  +50.0 points on 20 pairs, 10 won, 0 lost, p = 0.002',
        'RL against SFT:',
        '  +30.0 points on 20 pairs, 6 won, 0 lost, p = 0.031',
        'RL against base:',
        '  +80.0 points on 20 pairs, 16 won, 0 lost, p < 0.001',
        'p: exact two-sided sign test on pairs of the same task, state and attempt.',
      ].join('\n'),
    );
    expect(json.planners.map(({ label, overall }) => [label, overall.rate])).toEqual([
      ['base', 0.1],
      ['SFT', 0.6],
      ['RL', 0.9],
    ]);
    expect(json.comparisons.map(({ a, b }) => [a, b])).toEqual([
      ['base', 'SFT'],
      ['SFT', 'RL'],
      ['base', 'RL'],
    ]);
    expect(JSON.parse(JSON.stringify(json))).toEqual(json);
  });

  it('never exceeds 80 columns and says what was left out', () => {
    const many = Array.from({ length: 7 }, (_, i) => ({
      label: `a planner with quite a long name ${i}`,
      episodes: Array.from({ length: 100 }, (_, k) =>
        episode({
          task: `a_suite_whose_name_is_longer_than_a_column_${k % 3}/${k}`,
          reward: k % 2,
          valid: k % 10 > 0,
          invalidReason: k % 10 > 0 ? null : `worker ${'died '.repeat(40)}`,
        }),
      ),
    }));
    const { text } = evaluationTable(many);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(text).toContain('10 invalid episodes left out');
    expect(text).toContain('and 5 more');
    expect(text.match(/^overall/gm)?.length).toBeGreaterThan(1);
  });

  it('holds for one planner, for none and for suites that only some have', () => {
    expect(evaluationTable([{ label: 'base', episodes: planner(1) }]).text).not.toContain('against');
    expect(evaluationTable([]).json).toEqual({ planners: [], comparisons: [] });
    const { text } = evaluationTable([
      { label: 'base', episodes: [episode({ task: 'a/0' })] },
      { label: 'RL', episodes: [episode({ task: 'b/0', reward: 1 })] },
    ]);
    expect(text).toMatch(/^a +0\.0% +0\/1 +-$/m);
    expect(text).toContain('no pair of valid episodes');
  });
});

describe('comparisonTable', () => {
  it('shows both sides by suite', () => {
    const text = comparisonTable('A', 'B', pairEpisodes(planner(4), [...planner(8), episode({ task: 'c/0' })]));
    expect(text).toMatch(/^overall +40\.0% +8\/20 +80\.0% +16\/20 +8 +0 +0\.008$/m);
    expect(text).toContain('left out: 1 without a counterpart');
  });
});
