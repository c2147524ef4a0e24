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

  it('gives the same when sequences store what they have in common once, and when that changes', async () => {
    const weights = someWeights(smallArchitecture);
    const common = someIds(150, 60, 'common');
    const sequences = ['a', 'b', 'c'].map((name) => [...common, ...someIds(60, 60, name)]);
    const references = sequences.map((ids) => referenceLogprobs(weights, ids));
    const decoder = await create(weights);
    decoder.fit([], 170, 3);
    for (let i = 0; i < 3; i++) await decoder.prefill(i, sequences[i].slice(0, 151 + i), 0);
    let steps = 0;
    const fit = (needed: number, slots: number, shared: number) => {
      decoder.fit(
        [151, 152, 153].map((held) => held + steps),
        needed,
        slots,
        shared,
      );
      expect(decoder.shared).toBe(shared);
    };
    const step = async (count: number) => {
      for (let k = 0; k < count; k++) {
        const pasts = [151, 152, 153].map((held) => held + steps);
        const logits = await decoder.step(
          pasts.map((past, i) => sequences[i][past]),
          pasts,
        );
        const expected = pasts.map((past, i) => references[i][past]);
        expect(difference(logits, expected)).toBeLessThan(TOLERANCE);
        steps++;
      }
    };
    fit(170, 3, 128);
    await step(5);
    fit(300, 4, 128);
    await step(5);
    fit(300, 4, 150);
    await step(5);
    const saved = decoder.save(2, 160);
    decoder.copy(1, 3, 155);
    expect(difference(await decoder.prefill(3, sequences[1].slice(155, 158), 155), [references[1][157]])).toBeLessThan(
      TOLERANCE,
    );
    decoder.restore(3, saved, 160, 154);
    expect(difference(await decoder.prefill(3, sequences[2].slice(154, 159), 154), [references[2][158]])).toBeLessThan(
      TOLERANCE,
    );
    fit(300, 4, 64);
    await step(5);
    fit(300, 3, 0);
    await step(5);
    expect(decoder.save(2, 150)).toEqual(decoder.save(1, 150));
    expect(() => fit(300, 3, 200)).toThrow('200 tokens cannot be shared by sequences of 176');
    await decoder.release();
  });

  it('refuses to begin inside what is shared', async () => {
    const decoder = await create(someWeights(smallArchitecture));
    decoder.fit([], 100, 1);
    await decoder.prefill(0, someIds(80), 0);
    decoder.fit([80], 100, 1, 64);
    await expect(decoder.prefill(0, someIds(20), 60)).rejects.toThrow('begins behind 60 tokens, but 64 are shared');
    await decoder.release();
  });

  it('refuses to go beyond its context', async () => {
    const decoder = await create(someWeights({ ...smallArchitecture, context: 30 }));
    expect(() => decoder.fit([], 31)).toThrow('the slots hold 30');
    await expect(decoder.prefill(0, someIds(31), 0)).rejects.toThrow('the slots hold 30');
    await decoder.release();
  });
});
