import { describe, expect, it } from 'vitest';
import { episodeId } from '../../../../protocol/ids.ts';
import { teacherJobs } from '../../../../trainer-daemon/sft/jobs.ts';

const input = { run: 'cafecafe', tasks: ['a/0', 'a/1'], states: [11, 12, 13], episodesPerTask: 7, seed: 3 };

describe('teacherJobs', () => {
  it('plays every task equally often, states in cycles with higher attempts', () => {
    const jobs = teacherJobs(input);
    expect(new Set(jobs.map(episodeId)).size).toBe(14);
    expect(jobs.slice(0, 4).map((job) => job.task)).toEqual(['a/0', 'a/1', 'a/0', 'a/1']);
    const mine = jobs.filter((job) => job.task === 'a/1');
    expect(mine.map((job) => job.attempt)).toEqual([0, 0, 0, 1, 1, 1, 2]);
    expect(new Set(mine.slice(0, 3).map((job) => job.init))).toEqual(new Set([11, 12, 13]));
    expect(mine.slice(3, 6).map((job) => job.init)).toEqual(mine.slice(0, 3).map((job) => job.init));
    expect(jobs.every((job) => job.role === 'teacher' && job.round === 0)).toBe(true);
  });

  it('is seeded by task and seed, and independent of the order of states', () => {
    const many = { ...input, states: Array.from({ length: 34 }, (_, i) => 11 + i), episodesPerTask: 34 };
    const order = (seed: number, task: string) =>
      teacherJobs({ ...many, seed })
        .filter((job) => job.task === task)
        .map((job) => job.init);
    expect(order(0, 'a/0')).not.toEqual(order(1, 'a/0'));
    expect(order(0, 'a/0')).not.toEqual(order(0, 'a/1'));
    expect(teacherJobs({ ...many, states: [...many.states].reverse() })).toEqual(teacherJobs(many));
    expect(() => teacherJobs({ ...input, states: [] })).toThrow(/splits\.training/);
  });
});
