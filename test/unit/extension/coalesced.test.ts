import { expect, it } from 'vitest';
import { coalesced } from '../../../extension/language/coalesced.ts';

/** Work that ends when told to. */
function held() {
  const ends: ((error?: Error) => void)[] = [];
  let atWork = 0;
  let most = 0;
  const run = coalesced(async () => {
    most = Math.max(most, ++atWork);
    await new Promise<void>((done, fail) => ends.push((error) => (error ? fail(error) : done())));
    atWork--;
  });
  return { run, ends, most: () => most };
}

const turn = () => new Promise((done) => setImmediate(done));

it('runs once for a call, and once more for all that come meanwhile', async () => {
  const { run, ends, most } = held();
  const first = run();
  const later = [run(), run(), run()];
  expect(ends).toHaveLength(1);
  ends[0]();
  await first;
  await turn();
  expect(ends).toHaveLength(2);
  ends[1]();
  await Promise.all(later);
  expect(ends).toHaveLength(2);
  expect(most()).toBe(1);
});

it('runs again after a run that failed, whose caller alone hears of it', async () => {
  const { run, ends } = held();
  const first = run();
  const second = run();
  ends[0](new Error('no'));
  await expect(first).rejects.toThrow('no');
  await turn();
  ends[1]();
  await expect(second).resolves.toBeUndefined();
  const third = run();
  ends[2]();
  await third;
});
