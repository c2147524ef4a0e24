import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mcnemar, normalQuantile, signTest, wilson } from '../../../protocol/statistics.ts';

/** The definition, in exact integers: 2 * sum C(n, k) / 2^n. */
function exactSignTest(wins: number, losses: number): number {
  const n = wins + losses;
  let choose = 1n;
  let sum = 0n;
  for (let k = 0; k <= Math.min(wins, losses); k++) {
    sum += choose;
    choose = (choose * BigInt(n - k)) / BigInt(k + 1);
  }
  const scaled = (2n * sum * 10n ** 30n) / 2n ** BigInt(n);
  return Math.min(1, Number(scaled) / 1e30);
}

describe('signTest', () => {
  it("gives the paper's p = 0.001 for 121 against 74", () => {
    expect(signTest(121, 74).toFixed(3)).toBe('0.001');
    // 2 * sum of C(195, k), k <= 74, over 2^195 in exact fractions.
    expect(signTest(121, 74)).toBeCloseTo(0.000938707509567752, 15);
  });

  it('gives hand-worked values', () => {
    expect(signTest(0, 0)).toBe(1);
    expect(signTest(4, 4)).toBe(1);
    expect(signTest(1, 0)).toBe(1); // 2 * 1/2
    expect(signTest(5, 0)).toBeCloseTo(2 / 32, 15);
    expect(signTest(1, 6)).toBeCloseTo((2 * (1 + 7)) / 128, 15);
    expect(signTest(9, 3)).toBeCloseTo((2 * (1 + 12 + 66 + 220)) / 4096, 15);
  });

  it('stays exact for large counts', () => {
    // Exact fractions, as above: the paper's LIBERO-Plus counts and larger.
    expect(signTest(1547, 999) / 1.3926926503391066e-27).toBeCloseTo(1, 9);
    expect(signTest(3000, 1000) / 2.4915145386299067e-229).toBeCloseTo(1, 9);
    expect(signTest(100_000, 0)).toBe(0);
    expect(signTest(50_000, 49_999)).toBe(1);
  });

  it('equals the definition in integers, either way round', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 90 }), fc.integer({ min: 0, max: 90 }), (wins, losses) => {
        const expected = exactSignTest(wins, losses);
        expect(Math.abs(signTest(wins, losses) - expected)).toBeLessThanOrEqual(1e-12 * expected + 1e-29);
        expect(signTest(losses, wins)).toBe(signTest(wins, losses));
      }),
    );
    expect(mcnemar(9, 3)).toBe(signTest(9, 3));
    expect(() => signTest(-1, 3)).toThrow(/wins/);
    expect(() => signTest(1, 0.5)).toThrow(/losses/);
  });
});

describe('wilson', () => {
  it('equals scipy.stats.binomtest(x, n).proportion_ci(confidence, method="wilson")', () => {
    for (const [x, n, confidence, low, high] of [
      [568, 800, 0.95, 0.6776120807946184, 0.7403807911989975],
      [145, 800, 0.95, 0.156099345000851, 0.2094471885802675],
      [0, 10, 0.95, 0, 0.27753279986288926],
      [10, 10, 0.95, 0.7224672001371109, 1],
      [3, 10, 0.99, 0.07956631652306578, 0.6799753207988974],
      [1, 5, 0.95, 0.036224108632430196, 0.6244653702374747],
      [7242, 10_030, 0.95, 0.7131827282832336, 0.7307150568551309],
    ]) {
      const interval = wilson(x, n, confidence);
      expect(interval.low).toBeCloseTo(low, 13);
      expect(interval.high).toBeCloseTo(high, 13);
    }
  });

  it('holds the rate, stays in [0, 1] and narrows with n', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.nat(500), (n, some) => {
        const x = some % (n + 1);
        const { low, high } = wilson(x, n);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(1);
        expect(low).toBeLessThanOrEqual(x / n);
        expect(high).toBeGreaterThanOrEqual(x / n);
        const more = wilson(10 * x, 10 * n);
        expect(more.high - more.low).toBeLessThan(high - low);
      }),
    );
    expect(wilson(0, 0)).toEqual({ low: 0, high: 1 });
    expect(() => wilson(3, 2)).toThrow(/exceed/);
    expect(() => wilson(1, 2, 1)).toThrow(/confidence/);
  });
});

describe('normalQuantile', () => {
  it('equals known quantiles in the middle and both tails', () => {
    // Python's statistics.NormalDist().inv_cdf, scipy.stats.norm.ppf.
    expect(normalQuantile(0.975)).toBeCloseTo(1.959963984540054, 13);
    expect(normalQuantile(0.6)).toBeCloseTo(0.2533471031357998, 14);
    expect(normalQuantile(0.001)).toBeCloseTo(-3.090232306167813, 13);
    expect(normalQuantile(1e-20)).toBeCloseTo(-9.262340089798405, 12);
    expect(normalQuantile(0.5)).toBe(0);
    expect(() => normalQuantile(1)).toThrow(RangeError);
  });
});
