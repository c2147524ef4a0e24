import { expect, it } from 'vitest';
import { undoneSteps } from '../../../../trainer-daemon/training/undone-steps.ts';

const steps = (...kls: (number | undefined)[]) => kls.map((approximateKl, i) => ({ step: 11 + i, approximateKl }));

it('tells of a policy that comes back within a round, with both steps and what to do', () => {
  // Round 3 of a run at too high a rate, as measured.
  const told = undoneSteps(steps(0, 3.03e-3, 3.2e-4, 1.37e-3, 4.7e-4));
  expect(told).toBe(
    'steps undo one another: the policy was 0.0030 of approximate KL a token away before step 12, and 0.00032 before step 13; lower rl.learningRate, or raise rl.batch',
  );
});

it('is silent where the policy goes on, pauses, or hardly moves', () => {
  // Round 8 of the same run, at half the rate.
  expect(undoneSteps(steps(0, 1.2e-4, 2.5e-4, 4.7e-4))).toBeUndefined();
  expect(undoneSteps(steps(0, 1.2e-3, 7e-4, 9e-4))).toBeUndefined();
  expect(undoneSteps(steps(0, 9.9e-4, 1e-5))).toBeUndefined();
  expect(undoneSteps(steps(0))).toBeUndefined();
  expect(undoneSteps(steps())).toBeUndefined();
});

it('takes a step without a measured KL for no way', () => {
  expect(undoneSteps(steps(undefined, undefined))).toBeUndefined();
});
