import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Random } from '../../../../../protocol/random.ts';
import { Sampler, type SamplingSettings } from '../../../../../trainer-daemon/planner/serving/sampling.ts';

const plain: SamplingSettings = {
  temperature: 1,
  topP: 1,
  topK: -1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  seed: 0,
  topLogprobs: 0,
};
const random = new Random('logits of the sampling test');
const logits = Float32Array.from({ length: 12 }, () => 2 * random.normal());

/** The distribution by its definition: penalties, temperature, top-k, top-p, renormalised. */
function byDefinition(settings: SamplingSettings, given: number[]): Map<number, number> {
  const scores = [...logits].map((x, id) => {
    const count = given.filter((other) => other === id).length;
    return (x - (count > 0 ? settings.presencePenalty : 0) - count * settings.frequencyPenalty) / settings.temperature;
  });
  const total = scores.reduce((sum, x) => sum + Math.exp(x), 0);
  let sorted = scores.map((x, id) => ({ id, p: Math.exp(x) / total })).sort((a, b) => b.p - a.p);
  if (settings.topK > 0) sorted = sorted.slice(0, settings.topK);
  const mass = sorted.reduce((sum, { p }) => sum + p, 0);
  const kept: typeof sorted = [];
  let sum = 0;
  for (const entry of sorted) {
    if (sum >= settings.topP * mass) break;
    kept.push(entry);
    sum += entry.p;
  }
  return new Map(kept.map(({ id, p }) => [id, p / sum]));
}

describe('Sampler', () => {
  it.each<[string, Partial<SamplingSettings>]>([
    ['plain', {}],
    ['temperature', { temperature: 0.6 }],
    ['top-k', { topK: 4 }],
    ['top-p', { topP: 0.8 }],
    ['all of them', { temperature: 1.4, topK: 7, topP: 0.9, presencePenalty: 1.5, frequencyPenalty: 0.3 }],
  ])('samples as often as its log-probabilities say (%s)', (name, change) => {
    const settings = { ...plain, ...change };
    const n = 4000;
    const counts = new Map<number, number>();
    const first = new Map<number, number>();
    for (let i = 0; i < n; i++) {
      // The second token of each response, so that penalties count; the first is forced by a fixed seed.
      const sampler = new Sampler({ ...settings, seed: `${name} ${i}` });
      const given = [sampler.sample(Float32Array.from({ length: 12 }, (_, id) => (id === 3 ? 50 : 0))).id];
      expect(given).toEqual([3]);
      const { id, logprob } = sampler.sample(logits);
      counts.set(id, (counts.get(id) ?? 0) + 1);
      first.set(id, logprob);
    }
    const expected = byDefinition(settings, [3]);
    for (const [id, logprob] of first) expect(Math.exp(logprob)).toBeCloseTo(expected.get(id)!, 9);
    let chiSquare = 0;
    let cells = 0;
    let rest = 0;
    let restCount = 0;
    for (const [id, p] of expected) {
      if (n * p < 5) {
        rest += p;
        restCount += counts.get(id) ?? 0;
        continue;
      }
      chiSquare += ((counts.get(id) ?? 0) - n * p) ** 2 / (n * p);
      cells++;
    }
    if (rest > 0) {
      chiSquare += (restCount - n * rest) ** 2 / (n * rest);
      cells++;
    }
    expect([...counts.keys()].every((id) => expected.has(id))).toBe(true);
    // Five standard deviations of a chi-square variable (mean k, variance 2k) above its mean.
    const freedom = cells - 1;
    expect(chiSquare).toBeLessThan(freedom + 5 * Math.sqrt(2 * freedom) + 3);
  });

  it('is greedy and certain at temperature 0', () => {
    const best = logits.indexOf(Math.max(...logits));
    const sampler = new Sampler({ ...plain, temperature: 0, topLogprobs: 1 });
    expect(sampler.sample(logits)).toEqual({ id: best, logprob: 0, top: [{ id: best, logprob: 0 }] });
  });

  it('reports the most probable tokens of the same distribution', () => {
    const sampler = new Sampler({ ...plain, topK: 3, topLogprobs: 5 });
    const { top } = sampler.sample(logits);
    expect(top).toHaveLength(3);
    expect(top.reduce((sum, { logprob }) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 12);
    expect([...top].sort((a, b) => b.logprob - a.logprob)).toEqual(top);
  });

  it('depends on the seed alone', () => {
    const draw = (seed: number) => {
      const sampler = new Sampler({ ...plain, seed });
      return Array.from({ length: 20 }, () => sampler.sample(logits).id);
    };
    expect(draw(5)).toEqual(draw(5));
    expect(draw(5)).not.toEqual(draw(6));
  });

  it('never samples what it calls impossible, whatever the logits', () => {
    const value = fc.oneof(
      fc.double({ min: -1e4, max: 1e4, noNaN: true }),
      fc.constant(Number.NEGATIVE_INFINITY),
      fc.constant(0),
    );
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 50 }).filter((row) => row.some(Number.isFinite)),
        fc.constantFrom(-1, 1, 5, 100),
        fc.constantFrom(1, 0.5, 1e-6, 0.999),
        fc.integer(),
        (row, topK, topP, seed) => {
          const { id, logprob } = new Sampler({ ...plain, topK, topP, seed }).sample(Float32Array.from(row));
          expect(Number.isFinite(logprob)).toBe(true);
          expect(logprob).toBeLessThanOrEqual(1e-12);
          expect(Number.isFinite(row[id])).toBe(true);
        },
      ),
    );
  });
});
