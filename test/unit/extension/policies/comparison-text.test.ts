/** The text of a comparison: who won which pairs, whatever way the daemon counts them. */
import { expect, it } from 'vitest';
import { comparisonText, evaluationWords } from '../../../../extension/policies/comparison-text.ts';
import { comparisonSchema } from '../../../../protocol/daemon.ts';
import type { EpisodeRecord } from '../../../../protocol/records.ts';
import { pairEpisodes } from '../../../../trainer-daemon/evaluation/compare.ts';

const language = {
  t: (text: string, ...values: unknown[]) => text.replaceAll(/\{(\d)\}/g, (_, at) => String(values[Number(at)])),
};
const episode = (init: number, reward: number): EpisodeRecord => ({
  ...{ version: 1, id: `e${init}`, role: 'evaluation', round: 0, task: 'tabletop_goal/2', init, attempt: 0, reward },
  ...{ valid: true, invalidReason: null, successTurn: null, policyVersion: 0, turns: 3, seconds: 1, end: 'exit' },
  ...{ tryNumber: 0, outputDir: null, trajectory: null, startedAt: '2026-01-01T00:00:00.000Z' },
});
const episodes = (solved: number[]) => [0, 1, 2, 3].map((init) => episode(init, solved.includes(init) ? 1 : 0));

it('says which side won, with rates, intervals and what is left out', () => {
  const a = [...episodes([0]), episode(9, 1)];
  const b = episodes([0, 1, 2]);
  b[3] = { ...b[3], valid: false };
  const text = comparisonText(
    language,
    {
      a: { directory: '/w/runs/one', evaluation: 'base', policyVersion: 0 },
      b: { directory: '/w/runs/two', evaluation: 'rl', policyVersion: 4 },
      comparison: comparisonSchema.shape.comparison.parse(pairEpisodes(a, b)),
    },
    ['one base', 'two rl'],
  );
  expect(text).toContain('B: two rl, policy version 4 (/w/runs/two)');
  const [heads, suite, overall] = text.split('\n').slice(3);
  expect(heads.trim().split(/ {2,}/)).toEqual(['pairs', 'A', 'B', 'A won', 'B won', 'p']);
  // Three valid pairs: both solved state 0, only B solved 1 and 2.
  expect(suite.split(/ {2,}/).filter((_, at) => ![2, 3].includes(at))).toEqual([
    'tabletop_goal',
    '3',
    '0',
    '2',
    '0.500',
  ]);
  expect(suite).toMatch(/33\.3% \[[\d.]+, [\d.]+\] +100\.0% \[[\d.]+, 100\.0\]/);
  expect(overall.split(/ {2,}/).at(-1)).toBe('0.500');
  expect(text).toContain('B has 1 invalid episodes');
  expect(text).toContain('B lacks 1 episodes that the other has played.');
});

it('words the total of an evaluation', () => {
  expect(evaluationWords(language, { total: { episodes: 50, successes: 31, invalid: 0 } })).toBe('31/50 solved');
  expect(evaluationWords(language, { total: { episodes: 50, successes: 3, invalid: 2 } })).toBe(
    '3/50 solved, 2 invalid',
  );
});
