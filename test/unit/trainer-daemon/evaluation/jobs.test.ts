import { describe, expect, it } from 'vitest';
import { configSchema } from '../../../../protocol/config.ts';
import { episodeId } from '../../../../protocol/ids.ts';
import { evaluationJobs, evaluationStates } from '../../../../trainer-daemon/evaluation/jobs.ts';

describe('evaluationJobs', () => {
  it("lists the paper's 800 episodes: 80 tasks on ten states", () => {
    const tasks = Array.from({ length: 80 }, (_, i) => `suite${Math.floor(i / 10)}/${i % 10}`);
    const states = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    const jobs = evaluationJobs({
      run: 'cafecafe',
      role: 'evaluation',
      policyVersion: 3,
      tasks,
      states,
      episodesPerState: 1,
    });
    expect(new Set(jobs.map(episodeId)).size).toBe(800);
    expect(jobs.every((job) => job.round === 3 && job.attempt === 0 && job.role === 'evaluation')).toBe(true);
  });

  it('repeats every task and state under further attempts', () => {
    const jobs = evaluationJobs({
      run: 'cafecafe',
      role: 'validation',
      policyVersion: 0,
      tasks: ['a/0', 'b/0'],
      states: [45, 46],
      episodesPerState: 2,
    });
    expect(jobs.map((job) => `${job.task}:${job.init}:${job.attempt}`)).toEqual([
      'a/0:45:0',
      'b/0:45:0',
      'a/0:46:0',
      'b/0:46:0',
      'a/0:45:1',
      'b/0:45:1',
      'a/0:46:1',
      'b/0:46:1',
    ]);
  });
});

describe('evaluationStates', () => {
  it('takes the states of the split named, or those listed', () => {
    const config = (evaluation: object) =>
      configSchema.parse({
        version: 1,
        name: 'x',
        harness: { adapter: 'a', suites: ['s'] },
        splits: { evaluation: '1-3', validation: [45, 47] },
        evaluation,
      });
    expect(evaluationStates(config({}), 'evaluation')).toEqual([1, 2, 3]);
    expect(evaluationStates(config({}), 'validation')).toEqual([45, 47]);
    expect(evaluationStates(config({ states: '7-8' }), 'evaluation')).toEqual([7, 8]);
    expect(evaluationStates(config({ selectionStates: 'validation', states: 2 }), 'validation')).toEqual([45, 47]);
  });
});
