import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pairEpisodes } from '../../../../trainer-daemon/evaluation/compare.ts';
import { episode } from './episodes.ts';

describe('pairEpisodes', () => {
  it("gives the paper's comparison: 121 won, 74 lost of 800, p = 0.001", () => {
    // 447 solved by both, 121 by RL alone, 74 by SFT alone: 521 (65.1%) and 568 (71.0%).
    const outcome = (i: number) => (i < 447 ? [1, 1] : i < 568 ? [0, 1] : i < 642 ? [1, 0] : [0, 0]);
    const make = (which: number) =>
      Array.from({ length: 800 }, (_, i) =>
        episode({
          task: `suite${Math.floor(i / 100)}/${i % 10}`,
          init: Math.floor(i / 10) % 10,
          reward: outcome(i)[which],
        }),
      );
    const { overall, suites } = pairEpisodes(make(0), make(1));
    expect(overall.pairs).toBe(800);
    expect([overall.wins, overall.losses]).toEqual([121, 74]);
    expect(overall.p.toFixed(3)).toBe('0.001');
    expect(overall.a.rate?.toFixed(3)).toBe('0.651');
    expect(overall.b.rate).toBe(0.71);
    expect(Object.keys(suites).length).toBe(8);
    expect(Object.values(suites).reduce((sum, suite) => sum + suite.wins, 0)).toBe(121);
    // Suite 4: episodes 400-446 by both, 447-499 by RL alone: 2 * 2^-53.
    expect(suites['suite4']).toMatchObject({ pairs: 100, wins: 53, losses: 0 });
    expect(suites['suite4'].p * 2 ** 52).toBeCloseTo(1, 12);
  });

  it('leaves invalid and unpaired episodes out and names them', () => {
    const a = [
      episode({ init: 1, reward: 1 }),
      episode({ init: 2, reward: 1 }),
      episode({ init: 3, reward: 1, valid: false }),
      episode({ init: 4, reward: 1 }),
    ];
    const b = [
      episode({ init: 1, reward: 0 }),
      episode({ init: 2, reward: 0, valid: false, invalidReason: 'hang' }),
      episode({ init: 3, reward: 1 }),
      episode({ init: 4, attempt: 1, reward: 1 }),
    ];
    const comparison = pairEpisodes(a, b);
    expect(comparison.overall).toMatchObject({ pairs: 1, wins: 0, losses: 1, p: 1 });
    expect(comparison.invalid).toEqual({
      a: [{ task: 's/0', init: 3, attempt: 0, reason: 'simulator crashed' }],
      b: [{ task: 's/0', init: 2, attempt: 0, reason: 'hang' }],
    });
    expect(comparison.missing).toEqual({ a: ['s/0 init 4 attempt 1'], b: ['s/0 init 4 attempt 0'] });
  });

  it('counts a repeated episode once, by its last valid try', () => {
    const lost = episode({ init: 1, valid: false });
    const again = episode({ init: 1, tryNumber: 1, reward: 1 });
    const later = episode({ init: 1, tryNumber: 2, valid: false });
    const comparison = pairEpisodes([later, again, lost], [episode({ init: 1, reward: 0 })]);
    expect(comparison.overall).toMatchObject({ pairs: 1, losses: 1, wins: 0 });
    expect(comparison.invalid.a).toEqual([]);
  });

  it('swaps with its arguments, counts partial credit as no success, and holds without any pair', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(0, 0.5, 1), fc.constantFrom(0, 0.5, 1)), { maxLength: 30 }),
        (pairs) => {
          const make = (which: 0 | 1) => pairs.map((pair, init) => episode({ init, reward: pair[which] }));
          const forth = pairEpisodes(make(0), make(1)).overall;
          const back = pairEpisodes(make(1).reverse(), make(0)).overall;
          expect([back.wins, back.losses, back.p]).toEqual([forth.losses, forth.wins, forth.p]);
          expect(forth.a.successes).toBe(pairs.filter(([one]) => one === 1).length);
          expect(forth.b.successes - forth.a.successes).toBe(forth.wins - forth.losses);
        },
      ),
      { numRuns: 40 },
    );
    expect(pairEpisodes([], []).overall).toMatchObject({ pairs: 0, p: 1, a: { rate: null } });
  });
});
