import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RlItem, RlLossOptions } from '../../../../trainer-daemon/trainers/contract.ts';
import {
  importanceWeights,
  rlFactors,
  rlStatistics,
  sftFactors,
} from '../../../../trainer-daemon/trainers/onnx/loss-factors.ts';

const options: RlLossOptions = { clip: { low: 0.2, high: 0.28, dual: 3 }, importanceCap: 2 };

const token = fc.record({
  logp: fc.double({ min: -8, max: 0, noNaN: true }),
  logq: fc.double({ min: -8, max: 0, noNaN: true }),
  logb: fc.double({ min: -8, max: 0, noNaN: true }),
});
const batches = fc.array(
  fc.record({
    tokens: fc.array(token, { minLength: 1, maxLength: 6 }),
    advantage: fc.constantFrom(-1, -0.4, 0, 0.2, 0.9),
    u: fc.constantFrom(0, 0.25, 0.5, 1),
  }),
  { minLength: 1, maxLength: 5 },
);

const toItem = ({
  tokens,
  advantage,
  u,
}: {
  tokens: { logq: number; logb: number }[];
  advantage: number;
  u: number;
}): RlItem => ({
  promptTokenIds: [0],
  responseTokenIds: tokens.map(() => 1),
  oldLogprobs: tokens.map((t) => t.logq),
  behaviourLogprobs: tokens.map((t) => t.logb),
  advantage,
  u,
});

/** Eq. 7, literally. */
function dualClipped(rho: number, advantage: number): number {
  const { low, high, dual } = options.clip;
  const clip = Math.min(Math.max(rho, 1 - low), 1 + high);
  const ppo = Math.max(-rho * advantage, -clip * advantage);
  return advantage < 0 ? Math.min(ppo, -dual * advantage) : ppo;
}

describe('rlFactors', () => {
  it('gives eq. 5-7 as a sum of clamped ratios (random batches)', () => {
    fc.assert(
      fc.property(batches, (batch) => {
        const counted = batch.filter((item) => item.u * item.advantage !== 0);
        fc.pre(counted.length > 0);
        let numerator = 0;
        let denominator = 0;
        for (const { tokens, advantage, u } of counted) {
          for (const { logp, logq, logb } of tokens) {
            const w = Math.min(Math.exp(logq - logb), options.importanceCap);
            numerator += (u / tokens.length) * w * dualClipped(Math.exp(logp - logq), advantage);
          }
          denominator += u;
        }
        const factors = rlFactors(batch.map(toItem), options);
        let loss = 0;
        factors.forEach(({ supervised, weighted, lower, upper }, i) => {
          expect(supervised).toBe(0);
          batch[i].tokens.forEach(({ logp, logq }, t) => {
            const clamped = Math.min(Math.max(Math.exp(logp - logq), lower), upper);
            loss -= (weighted?.[t] ?? 0) * clamped;
          });
        });
        // The importance weights are handed out as float32.
        expect(loss).toBeCloseTo(numerator / denominator, 5);
      }),
      { seed: 11, numRuns: 500 },
    );
  });

  it('needs one response with a nonzero weight', () => {
    const item = toItem({ tokens: [{ logq: -1, logb: -1 }], advantage: 0, u: 1 });
    expect(() => rlFactors([item], options)).toThrow(/nonzero weight/);
  });
});

describe('sftFactors', () => {
  it('weighs every supervised token of the optimizer batch alike', () => {
    const items = [3, 5].map((n) => ({ promptTokenIds: [0], responseTokenIds: new Array<number>(n).fill(1) }));
    expect(sftFactors(items).map((f) => f.supervised)).toEqual([1 / 8, 1 / 8]);
  });
});

describe('importanceWeights', () => {
  it('is q / b up to the cap', () => {
    const item = toItem({
      tokens: [
        { logq: -1, logb: -1 },
        { logq: -1, logb: -1 + Math.log(2) },
        { logq: -1, logb: -9 },
      ],
      advantage: 1,
      u: 1,
    });
    const [equal, half, capped] = importanceWeights(item, 2);
    expect([equal, capped]).toEqual([1, 2]);
    expect(half).toBeCloseTo(0.5, 6);
  });
});

describe('rlStatistics', () => {
  it('estimates KL(q || p) by the mean of (rho - 1) - log rho', () => {
    // rho = 2 and 1/2: (1 - log 2) and (-1/2 + log 2); mean 0.25.
    const item = toItem({
      tokens: [
        { logq: -2, logb: -2 },
        { logq: -2, logb: -2 },
      ],
      advantage: 1,
      u: 1,
    });
    const logprobs = [Float32Array.of(-2 + Math.LN2, -2 - Math.LN2)];
    const statistics = rlStatistics([item], options, logprobs, [Float32Array.of(0, 1)]);
    expect(statistics.approximateKl).toBeCloseTo(0.25, 6);
    expect([...statistics.clipped[0]]).toEqual([2, 0]);
    expect(statistics.importance).toEqual({ mean: 1, cappedShare: 0 });
  });
});
