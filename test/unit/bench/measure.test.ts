import { describe, expect, it } from 'vitest';
import { fastest, interleave, median, ratios, spread } from '../../../bench/measure.ts';
import { levels } from '../../../bench/round-times.ts';
import { childSeconds } from '../../../bench/sides/children.ts';
import { countTokens, defaultPlanner, episodeTurns, separateRows } from '../../../bench/workloads.ts';

describe('measurements', () => {
  it('takes medians, spreads and ratios of pairs', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([9, 1, 5, 2])).toBe(3.5);
    expect(fastest([5, 1, 9, 2, 8, 3, 7, 4, 6, 10])).toBe(2);
    expect(spread([3, 1, 2], 1)).toBe('2.0 (1.0-3.0)');
    expect(ratios([2, 9], [1, 3])).toEqual([2, 3]);
  });

  it('runs contenders in turn, leaving out the warm-up, and keeps to its time after two rounds', async () => {
    const order: string[] = [];
    const contender = (name: string) => async () => order.push(name);
    const results = await interleave({ a: contender('a'), b: contender('b') }, { rounds: 3, seconds: 60 });
    expect(order.join('')).toBe('abababab');
    expect(results).toEqual({ a: [3, 5, 7], b: [4, 6, 8] });
    const late = await interleave({ a: contender('a') }, { rounds: 9, warmup: 0, seconds: 0 });
    expect(late.a).toHaveLength(2);
  });

  it('counts open intervals over time', () => {
    // Two overlap from 1000 to 2000 ms; nothing is open from 3000 to 5000.
    const found = levels([
      [0, 2000],
      [1000, 2000],
      [5000, 500],
    ]);
    expect(found).toEqual([
      { level: 1, seconds: 1 },
      { level: 2, seconds: 1 },
      { level: 1, seconds: 1 },
      { level: 0, seconds: 2 },
      { level: 1, seconds: 0.5 },
    ]);
    expect(levels([])).toEqual([]);
  });

  it('reads processor time of ended children where the kernel tells it', () => {
    expect(childSeconds()).toBeGreaterThanOrEqual(0);
  });
});

describe('workloads', () => {
  it('are the same at every call', () => {
    expect(separateRows(defaultPlanner, 3, 64, 8)).toEqual(separateRows(defaultPlanner, 3, 64, 8));
  });

  it('make turns whose prompts go on where the turn before ended', () => {
    const turns = episodeTurns(defaultPlanner, 2, 3);
    expect(turns).toHaveLength(6);
    for (const [earlier, later] of [
      [0, 1],
      [1, 2],
      [3, 4],
    ]) {
      const whole = [...Array.from(turns[earlier].promptTokenIds), ...Array.from(turns[earlier].responseTokenIds)];
      expect(Array.from(turns[later].promptTokenIds).slice(0, whole.length)).toEqual(whole);
    }
    expect(countTokens(turns)).toBe(2 * (460 + 560 + 660));
  });
});
