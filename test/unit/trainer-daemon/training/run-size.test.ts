/** Runs larger than anybody can mean are refused before anything is written. */
import { describe, expect, it } from 'vitest';
import { configSchema } from '../../../../protocol/config.ts';
import { checkRunSize, plannedEpisodes } from '../../../../trainer-daemon/training/run-size.ts';

const config = (more: object = {}) =>
  configSchema.parse({ version: 1, name: 'x', harness: { adapter: 'a', suites: ['s'] }, ...more });
const ALL = ['teacher', 'sft', 'rl', 'evaluate'] as const;

describe('the size of a run', () => {
  it('is counted stage by stage', () => {
    expect(plannedEpisodes(config(), 10)).toEqual({
      teacher: 100,
      sft: 10 * 5 * 10,
      rl: 9 * 64 * 6 + 9 * 50,
      evaluate: 300,
    });
  });

  it('may be large, but not beyond ten million episodes', () => {
    const large = config({ teacher: { episodesPerTask: 900_000 } });
    expect(() => checkRunSize(large, 10, ALL)).not.toThrow();
    const absurd = config({ teacher: { episodesPerTask: 1e15 } });
    expect(() => checkRunSize(absurd, 10, ALL)).toThrow(
      'the run would play 1.0e16 episodes, 1.0e16 of them in the stage teacher; at most 10,000,000 can be meant: lower teacher.episodesPerTask',
    );
    expect(() => checkRunSize(absurd, 10, ['rl', 'evaluate'])).not.toThrow();
  });
});
