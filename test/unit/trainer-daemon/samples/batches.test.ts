import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rlBatches } from '../../../../trainer-daemon/samples/batches.ts';

const turns = (sizes: number[]) =>
  sizes.flatMap((size, e) => Array.from({ length: size }, (_, t) => ({ episodeId: `e${e}`, turn: t })));

describe('rlBatches', () => {
  it("gives the paper's 206 steps for six rounds of 26,052 responses", () => {
    // Shares of six rounds that sum to 26,052; 39 + 37 + 35 + 34 + 31 + 30 = 206 batches of at most 128.
    const rounds = [4900, 4700, 4400, 4302, 3950, 3800];
    expect(rounds.reduce((a, b) => a + b, 0)).toBe(26_052);
    const steps = rounds.map((n, r) => rlBatches(turns([n]), 128, 1, 0, r + 1).length);
    expect(steps).toEqual([39, 37, 35, 34, 31, 30]);
    expect(steps.reduce((a, b) => a + b, 0)).toBe(206);
  });

  it('covers every sample once a pass, in batches of nearly one size, turns of an episode adjacent and in order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 16 }), { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 3 }),
        fc.nat(),
        (sizes, batch, passes, seed) => {
          const items = turns(sizes);
          const batches = rlBatches(items, batch, passes, seed, 1);
          const steps = Math.ceil(items.length / batch);
          expect(batches.map(({ pass }) => pass)).toEqual(
            Array.from({ length: passes * steps }, (_, i) => Math.floor(i / steps)),
          );
          for (let pass = 0; pass < passes; pass++) {
            const mine = batches.filter((b) => b.pass === pass);
            const lengths = mine.map((b) => b.items.length);
            expect(Math.max(...lengths)).toBeLessThanOrEqual(batch);
            expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(1);
            const sequence = mine.flatMap((b) => b.items);
            expect(new Set(sequence).size).toBe(items.length);
            expect(sequence.length).toBe(items.length);
            sequence.forEach((item, i) => {
              if (item.turn > 0) expect(sequence[i - 1]).toEqual({ episodeId: item.episodeId, turn: item.turn - 1 });
            });
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it('lets no step rest on what is left over', () => {
    expect(rlBatches(turns([771]), 768, 1, 0, 1).map((b) => b.items.length)).toEqual([385, 386]);
  });

  it('depends on seed, round and pass, not on the order of episodes', () => {
    const items = turns([3, 3, 3, 3, 3, 3, 3, 3]);
    const ids = (seed: number, round: number, pass = 0, from = items) =>
      rlBatches(from, 8, 2, seed, round)
        .filter((b) => b.pass === pass)
        .flatMap((b) => b.items.map((item) => `${item.episodeId}.${item.turn}`));
    const reversed = [...Array(8).keys()].reverse().flatMap((e) => items.slice(3 * e, 3 * e + 3));
    expect(ids(1, 1, 0, reversed)).toEqual(ids(1, 1));
    expect(ids(2, 1)).not.toEqual(ids(1, 1));
    expect(ids(1, 2)).not.toEqual(ids(1, 1));
    expect(ids(1, 1, 1)).not.toEqual(ids(1, 1, 0));
  });

  it('refuses senseless sizes and takes no step without items', () => {
    expect(rlBatches([], 8, 1, 0, 1)).toEqual([]);
    expect(() => rlBatches(turns([1]), 0, 1, 0, 1)).toThrow(/batch/);
    expect(() => rlBatches(turns([1]), 1, 0, 0, 1)).toThrow(/passes/);
  });
});
