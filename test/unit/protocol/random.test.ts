import { describe, expect, it } from 'vitest';
import { Random, seedOf } from '../../../protocol/random.ts';

describe('Random', () => {
  it('gives equal streams for equal names and different ones otherwise', () => {
    const first = new Random('call', 7);
    const again = new Random('call', 7);
    const other = new Random('call', 8);
    const a = Array.from({ length: 20 }, () => first.next());
    expect(Array.from({ length: 20 }, () => again.next())).toEqual(a);
    expect(Array.from({ length: 20 }, () => other.next())).not.toEqual(a);
  });

  it('is uniform and normal to within sampling error', () => {
    const random = new Random('moments');
    const n = 20_000;
    let mean = 0;
    let square = 0;
    let uniform = 0;
    for (let i = 0; i < n; i++) {
      const z = random.normal();
      mean += z / n;
      square += (z * z) / n;
      uniform += random.next() / n;
    }
    // Four standard errors: 4/sqrt(n) for the mean, 4*sqrt(2/n) for the variance, 4/sqrt(12 n) for the uniform mean.
    expect(Math.abs(mean)).toBeLessThan(4 / Math.sqrt(n));
    expect(Math.abs(square - 1)).toBeLessThan(4 * Math.sqrt(2 / n));
    expect(Math.abs(uniform - 0.5)).toBeLessThan(4 / Math.sqrt(12 * n));
  });

  it('shuffles without losing elements', () => {
    const items = Array.from({ length: 50 }, (_, i) => i);
    const shuffled = new Random('shuffle').shuffle(items);
    expect(shuffled).not.toEqual(items);
    expect([...shuffled].sort((x, y) => x - y)).toEqual(items);
  });

  it('does not confuse parts', () => {
    expect(seedOf('a', 'b')).not.toBe(seedOf('ab'));
  });
});
