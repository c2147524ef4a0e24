import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sftBatches } from '../../../../trainer-daemon/sft/batches.ts';
import { stepsPerEpoch } from '../../../../trainer-daemon/sft/schedule.ts';

const turns = (sizes: number[]) =>
  sizes.flatMap((size, e) => Array.from({ length: size }, (_, t) => ({ episodeId: `e${e}`, turn: t })));

describe('sftBatches', () => {
  it("spreads the paper's 2,370 targets over 37 steps of 64 or 65", () => {
    const sizes = sftBatches(turns(Array(79).fill(30)), 64, 1, 0).map((b) => b.items.length);
    expect(sizes.length).toBe(37);
    expect(sizes.filter((size) => size === 65).length).toBe(2);
    expect(sizes.filter((size) => size === 64).length).toBe(35);
  });

  it('takes exactly the steps of an epoch, covers all targets, keeps turns together', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 25 }),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 3 }),
        fc.nat(),
        (sizes, batch, epochs, seed) => {
          const targets = turns(sizes);
          const batches = sftBatches(targets, batch, epochs, seed);
          const steps = stepsPerEpoch(targets.length, batch);
          expect(batches.length).toBe(epochs * steps);
          for (let epoch = 0; epoch < epochs; epoch++) {
            const mine = batches.filter((b) => b.epoch === epoch);
            expect(mine.length).toBe(steps);
            const lengths = mine.map((b) => b.items.length);
            expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(1);
            expect(Math.min(...lengths)).toBeGreaterThan(0);
            const sequence = mine.flatMap((b) => b.items);
            expect(new Set(sequence).size).toBe(targets.length);
            expect(sequence.length).toBe(targets.length);
            sequence.forEach((item, i) => {
              if (item.turn > 0) expect(sequence[i - 1]).toEqual({ episodeId: item.episodeId, turn: item.turn - 1 });
            });
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it('orders by seed and epoch, not by the order given', () => {
    const targets = turns([2, 2, 2, 2, 2, 2, 2, 2]);
    const order = (seed: number, epoch = 0, from = targets) =>
      sftBatches(from, 4, 2, seed)
        .filter((b) => b.epoch === epoch)
        .flatMap((b) => b.items.map((item) => `${item.episodeId}.${item.turn}`));
    expect(order(1, 0, [...targets.slice(8), ...targets.slice(0, 8)])).toEqual(order(1));
    expect(order(2)).not.toEqual(order(1));
    expect(order(1, 1)).not.toEqual(order(1, 0));
    expect(sftBatches([], 4, 1, 0)).toEqual([]);
    expect(() => sftBatches(targets, 4, 0, 0)).toThrow(/epochs/);
    expect(() => sftBatches(targets, 0, 1, 0)).toThrow(/batch/);
  });
});
