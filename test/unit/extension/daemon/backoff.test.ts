import { expect, it } from 'vitest';
import { Backoff } from '../../../../extension/daemon/backoff.ts';

it('doubles up to ten seconds, each between half and the whole, and begins anew after a success', () => {
  const backoff = new Backoff('here', 1);
  const wholes = [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000];
  for (const whole of wholes) {
    const wait = backoff.next();
    expect(wait).toBeGreaterThanOrEqual(whole / 2);
    expect(wait).toBeLessThanOrEqual(whole);
  }
  backoff.reset();
  expect(backoff.next()).toBeLessThanOrEqual(250);
});

it('clients of one moment wait unequally long', () => {
  const first = Array.from({ length: 20 }, (_, pid) => new Backoff('here', pid).next());
  expect(new Set(first.map(Math.round)).size).toBeGreaterThan(15);
});
