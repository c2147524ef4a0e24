import { expect, it } from 'vitest';
import { roundRate } from '../../../../trainer-daemon/training/rl-update.ts';

it('is the same in every round unless told otherwise', () => {
  for (const round of [1, 5, 9]) expect(roundRate({ learningRate: 1e-3, finalRate: 1 }, round, 9)).toBe(1e-3);
});

it('falls on a straight line to its share in the last round', () => {
  const rates = [1, 2, 3, 4, 5].map((round) => roundRate({ learningRate: 8e-4, finalRate: 0.25 }, round, 5));
  expect(rates.map((rate) => Math.round(rate * 1e7) / 1e7)).toEqual([8e-4, 6.5e-4, 5e-4, 3.5e-4, 2e-4]);
});

it('is that of the first round when there is one only, and never falls below the last', () => {
  expect(roundRate({ learningRate: 1e-3, finalRate: 0.1 }, 1, 1)).toBe(1e-3);
  expect(roundRate({ learningRate: 1e-3, finalRate: 0.1 }, 7, 5)).toBeCloseTo(1e-4, 12);
});
