import { describe, expect, it } from 'vitest';
import type { PlannerWeights } from '../../../../../trainer-daemon/planner/architecture.ts';
import { Decoder } from '../../../../../trainer-daemon/planner/serving/decoder.ts';
import { logSoftmax, referenceLogprobs } from './reference-forward.ts';
import { smallArchitecture, someIds, someWeights } from './small-models.ts';

const create = (weights: PlannerWeights, slots = 4) =>
  Decoder.create(weights, { slots, context: weights.architecture.context, threads: 1 });

/** Largest difference of log-probabilities between rows of logits and the reference. */
function difference(logits: Float32Array, reference: number[][]): number {
  const size = reference[0].length;
  expect(logits.length).toBe(size * reference.length);
  return Math.max(
    ...reference.map((row, i) => {
      const logprobs = logSoftmax(logits.subarray(i * size, (i + 1) * size));
      return Math.max(...row.map((value, j) => Math.abs(value - logprobs[j])));
    }),
  );
}

/** Rounding of float32 through two layers. */
const TOLERANCE = 2e-5;

describe('Decoder', () => {
  it.each([
    ['tied', smallArchitecture],
    [
      'untied, one key head, wide heads',
      { ...smallArchitecture, tiedEmbeddings: false, kvHeads: 1, headDim: 32, ropeTheta: 1e6 },
    ],
    ['as many key heads as query heads', { ...smallArchitecture, kvHeads: 4, layers: 1, rmsEpsilon: 1e-3 }],
  ])('agrees with a plain forward pass (%s)', async (_, architecture) => {
    const weights = someWeights(architecture);
    const ids = someIds(23);
    const decoder = await create(weights);
    decoder.fit([], ids.length);
    expect(difference(await decoder.prefill(0, ids, 0, 'all'), referenceLogprobs(weights, ids))).toBeLessThan(
      TOLERANCE,
    );
    await decoder.release();
  });

  it('gives the same after chunks, steps, moves, copies and restores', async () => {
    const weights = someWeights(smallArchitecture);
    const a = someIds(40, 60, 'a');
    const b = someIds(40, 60, 'b');
    const referenceA = referenceLogprobs(weights, a);
    const referenceB = referenceLogprobs(weights, b);
    const decoder = await create(weights);
    decoder.fit([], 40);
    await decoder.prefill(0, a.slice(0, 7), 0);
    expect(difference(await decoder.prefill(0, a.slice(7, 20), 7), [referenceA[19]])).toBeLessThan(TOLERANCE);
    decoder.fit([20], 300);
    await decoder.prefill(1, b.slice(0, 10), 0);
    const step = async (i: number, j: number) => {
      const logits = await decoder.step([a[i], b[j]], [i, j]);
      expect(difference(logits, [referenceA[i], referenceB[j]])).toBeLessThan(TOLERANCE);
    };
    for (let i = 0; i < 5; i++) await step(20 + i, 10 + i);
    decoder.fit([25, 15], 40);
    for (let i = 5; i < 10; i++) await step(20 + i, 10 + i);
    decoder.copy(0, 2, 18);
    expect(difference(await decoder.prefill(2, a.slice(18, 22), 18), [referenceA[21]])).toBeLessThan(TOLERANCE);
    const saved = decoder.save(1, 20);
    decoder.fit([30, 20], 350);
    decoder.restore(3, saved, 20, 12);
    expect(difference(await decoder.prefill(3, b.slice(12, 15), 12), [referenceB[14]])).toBeLessThan(TOLERANCE);
    for (let i = 10; i < 15; i++) await step(20 + i, 10 + i);
    await decoder.release();
  });

  it('refuses to go beyond its context', async () => {
    const decoder = await create(someWeights({ ...smallArchitecture, context: 30 }));
    expect(() => decoder.fit([], 31)).toThrow('the slots hold 30');
    await expect(decoder.prefill(0, someIds(31), 0)).rejects.toThrow('the slots hold 30');
    await decoder.release();
  });
});
