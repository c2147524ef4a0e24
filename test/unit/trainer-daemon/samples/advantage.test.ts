import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leaveOneOut } from '../../../../trainer-daemon/samples/advantage.ts';

describe('leaveOneOut (eq. 4)', () => {
  it('gives hand-worked values', () => {
    // Six attempts, two solved. Solved: 1 - 1/5 = 0.8. Failed: 0 - 2/5 = -0.4.
    const result = leaveOneOut([1, 0, 0, 1, 0, 0]);
    expect('advantages' in result && result.advantages).toEqual([0.8, -0.4, -0.4, 0.8, -0.4, -0.4]);
    // Two attempts: the difference to the other one.
    expect(leaveOneOut([0.25, 1])).toEqual({ advantages: [-0.75, 0.75] });
  });

  it('says why a group has none', () => {
    expect(leaveOneOut([])).toEqual({ reason: 'too-few-valid' });
    expect(leaveOneOut([1])).toEqual({ reason: 'too-few-valid' });
    expect(leaveOneOut([1, 1, 1])).toEqual({ reason: 'equal-rewards' });
    expect(leaveOneOut([0, 0])).toEqual({ reason: 'equal-rewards' });
    expect(() => leaveOneOut([1, Number.NaN])).toThrow(/finite/);
  });

  it('sums to zero and equals G / (G - 1) times the distance from the group mean', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -8, max: 8 }), { minLength: 2, maxLength: 12 }), (rewards) => {
        const result = leaveOneOut(rewards);
        if ('reason' in result) {
          expect(new Set(rewards).size).toBe(1);
          return;
        }
        const { advantages } = result;
        expect(advantages.reduce((a, b) => a + b, 0)).toBeCloseTo(0, 9);
        const mean = rewards.reduce((a, b) => a + b, 0) / rewards.length;
        advantages.forEach((advantage, i) => {
          expect(advantage).toBeCloseTo((rewards.length / (rewards.length - 1)) * (rewards[i] - mean), 9);
        });
      }),
    );
  });
});
