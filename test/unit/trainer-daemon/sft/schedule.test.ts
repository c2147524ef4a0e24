import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkpointSteps, learningRate, stepsPerEpoch } from '../../../../trainer-daemon/sft/schedule.ts';

describe('stepsPerEpoch', () => {
  it("gives the paper's numbers", () => {
    expect(stepsPerEpoch(40_047, 64)).toBe(626);
    expect(stepsPerEpoch(27_110, 64)).toBe(424);
    expect(stepsPerEpoch(2_370, 64)).toBe(37);
  });

  it('is at least one while there are targets', () => {
    expect(stepsPerEpoch(1, 64)).toBe(1);
    expect(stepsPerEpoch(96, 64)).toBe(2);
    expect(stepsPerEpoch(95, 64)).toBe(1);
    expect(stepsPerEpoch(0, 64)).toBe(0);
    expect(() => stepsPerEpoch(-1, 64)).toThrow(RangeError);
    expect(() => stepsPerEpoch(1, 0)).toThrow(RangeError);
  });
});

describe('checkpointSteps', () => {
  it("gives the paper's 438 and 563 of 626", () => {
    const steps = checkpointSteps(626, 10);
    expect(steps).toEqual([62, 125, 187, 250, 313, 375, 438, 500, 563, 626]);
    expect(steps[9 - 1]).toBe(563);
    expect(steps[7 - 1]).toBe(438);
  });

  it('is ascending, distinct and ends at the last step', () => {
    expect(checkpointSteps(3, 10)).toEqual([1, 2, 3]);
    expect(checkpointSteps(0, 10)).toEqual([]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 99 }), (steps, n) => {
        const taken = checkpointSteps(steps, n);
        expect(taken.length).toBe(Math.min(steps, n));
        expect(taken.at(-1)).toBe(steps);
        expect(taken[0]).toBeGreaterThan(0);
        taken.forEach((step, i) => {
          if (i > 0) expect(step).toBeGreaterThan(taken[i - 1]);
        });
      }),
    );
    expect(() => checkpointSteps(-1, 10)).toThrow(RangeError);
    expect(() => checkpointSteps(10, 0)).toThrow(RangeError);
  });
});

describe('learningRate', () => {
  const paper = { learningRate: 1e-5, warmupSteps: 10, schedule: 'cosine' as const, finalRate: 0.1 };

  it("follows the paper's course over 626 steps", () => {
    expect(learningRate(1, 626, paper)).toBeCloseTo(1e-6, 12);
    expect(learningRate(10, 626, paper)).toBe(1e-5);
    expect(learningRate(11, 626, paper)).toBeLessThan(1e-5);
    // Half-way between steps 10 and 626 the cosine is 0: the mean of peak and final rate.
    expect(learningRate(318, 626, paper)).toBeCloseTo(0.55e-5, 12);
    expect(learningRate(626, 626, paper)).toBeCloseTo(1e-6, 15);
  });

  it('rises, then falls, and stays at the peak when constant', () => {
    for (let step = 2; step <= 37; step++) {
      const change = learningRate(step, 37, paper) - learningRate(step - 1, 37, paper);
      if (step <= 10) expect(change).toBeGreaterThan(0);
      else expect(change).toBeLessThan(0);
    }
    expect(learningRate(37, 37, { ...paper, schedule: 'constant' })).toBe(1e-5);
    expect(learningRate(1, 37, { ...paper, schedule: 'constant' })).toBeCloseTo(1e-6, 12);
  });

  it('handles stages without warm-up, as long as it, and shorter', () => {
    expect(learningRate(1, 1, { ...paper, warmupSteps: 0 })).toBeCloseTo(1e-6, 15);
    expect(learningRate(10, 10, paper)).toBe(1e-5);
    expect(learningRate(5, 5, paper)).toBeCloseTo(0.5e-5, 12);
    for (const step of [0, 6, 1.5]) expect(() => learningRate(step, 5, paper)).toThrow(/from 1 to 5/);
  });
});
