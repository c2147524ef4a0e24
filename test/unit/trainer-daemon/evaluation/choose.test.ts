import { describe, expect, it } from 'vitest';
import { chooseCheckpoint, taskPool } from '../../../../trainer-daemon/evaluation/choose.ts';
import { episode } from './episodes.ts';

const validation = (task: string, solved: number, of: number, invalid = 0) =>
  Array.from({ length: of + invalid }, (_, i) =>
    episode({ task, init: 45 + i, reward: i < solved ? 1 : 0, valid: i < of, role: 'validation' }),
  );

describe('chooseCheckpoint', () => {
  it('takes the best on validation, ties to the earlier step', () => {
    const candidates = [
      { number: 3, step: 300, successes: 30, episodes: 50 },
      { number: 1, step: 100, successes: 28, episodes: 50 },
      { number: 2, step: 200, successes: 30, episodes: 50 },
      { number: 4, step: 400, successes: 29, episodes: 50 },
    ];
    expect(chooseCheckpoint(candidates).number).toBe(2);
    expect(chooseCheckpoint([...candidates].reverse()).number).toBe(2);
  });

  it('compares rates: episodes lost to infrastructure are no failures', () => {
    const whole = { number: 1, step: 1, successes: 30, episodes: 50 };
    expect(chooseCheckpoint([whole, { number: 2, step: 2, successes: 29, episodes: 40 }]).number).toBe(2);
    // 3/5 and 30/50 are the same rate: the earlier one.
    expect(chooseCheckpoint([{ number: 2, step: 2, successes: 3, episodes: 5 }, whole]).number).toBe(1);
  });

  it('never takes a checkpoint of which nothing is known', () => {
    const unknown = { number: 1, step: 1, successes: 0, episodes: 0 };
    const unsolved = { number: 2, step: 2, successes: 0, episodes: 50 };
    expect(chooseCheckpoint([unknown, unsolved]).number).toBe(2);
    expect(() => chooseCheckpoint([unknown])).toThrow(/none has a valid validation episode/);
    expect(() => chooseCheckpoint([])).toThrow(/no checkpoint/);
  });
});

describe('taskPool', () => {
  const episodes = [0, 1, 2, 3, 4, 5].flatMap((solved) => validation(`s/${solved}`, solved, 5));

  it('keeps tasks solved one to four times of five', () => {
    expect(taskPool(episodes, 'solved-1-to-4-of-5')).toEqual({
      tasks: ['s/1', 's/2', 's/3', 's/4'],
      never: ['s/0'],
      always: ['s/5'],
      unknown: [],
    });
  });

  it('judges by valid episodes and names what it cannot judge', () => {
    const pool = taskPool([...validation('s/0', 4, 4, 1), ...validation('s/1', 0, 0, 5)], 'solved-1-to-4-of-5', [
      's/0',
      's/1',
      's/2',
    ]);
    expect(pool).toEqual({ tasks: [], never: [], always: ['s/0'], unknown: ['s/1', 's/2'] });
  });

  it('takes every task under the rule all, in the order of the list', () => {
    expect(taskPool(episodes, 'all').tasks.length).toBe(6);
    expect(taskPool([], 'all', ['b/1', 'a/0']).tasks).toEqual(['b/1', 'a/0']);
    expect(taskPool(episodes, 'all', ['s/3']).tasks).toEqual(['s/3']);
  });
});
