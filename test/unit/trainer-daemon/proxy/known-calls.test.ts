import { expect, it } from 'vitest';
import { KeptReplies } from '../../../../trainer-daemon/proxy/kept-replies.ts';
import { type CallTry, KnownCalls, type Outcome } from '../../../../trainer-daemon/proxy/known-calls.ts';

const MEGABYTE = 1024 * 1024;
let count = 0;

function answered(known: KnownCalls, characters: number): CallTry {
  const outcome: Outcome = { ok: true, reply: { json: 'x'.repeat(characters) } };
  const call: CallTry = {
    id: `call ${count}`,
    turn: count++,
    resend: 0,
    bodyHash: `body ${count}`,
    idempotencyKey: undefined,
    waiting: 0,
    repeats: 0,
    delivered: true,
    abort: undefined,
    concurrent: false,
    outcome,
    settled: Promise.resolve(outcome),
  };
  known.add(call, undefined);
  known.keep(call);
  return call;
}

const has = (call: CallTry) => call.outcome?.ok === true && call.outcome.reply !== undefined;
const kept = (calls: CallTry[]) => calls.filter(has).length;

it('an episode keeps its newest replies up to eight megabytes, and always eight', () => {
  const known = new KnownCalls(new KeptReplies());
  const small = Array.from({ length: 20 }, () => answered(known, MEGABYTE));
  expect(small.map(has)).toEqual(small.map((_, i) => i >= 12));
  const large = Array.from({ length: 10 }, () => answered(known, 3 * MEGABYTE));
  expect(large.map(has)).toEqual(large.map((_, i) => i >= 2));
  expect(kept(small)).toBe(0);
  // Still known, so that it is not asked for anew.
  expect(known.find({ bodyHash: small[0].bodyHash, idempotencyKey: undefined, retry: 1 })).toBe(small[0]);
});

it('all episodes together are bounded: the oldest replies go first, of each episode eight stay', () => {
  const replies = new KeptReplies();
  const episodes = Array.from({ length: 40 }, () => new KnownCalls(replies));
  const calls = episodes.map((known) => Array.from({ length: 64 }, () => answered(known, MEGABYTE / 16)));
  expect(calls.every((each) => kept(each) >= 8)).toBe(true);
  // 4 MB each would be 160. Eight of each are 20 already, so no more is kept.
  expect(calls.reduce((sum, each) => sum + kept(each), 0)).toBe(40 * 8);
  expect(calls[0].slice(-8).every(has)).toBe(true);
});

it('a closed episode makes room for the others', () => {
  const replies = new KeptReplies();
  const open = () => new KnownCalls(replies);
  const [first, second] = [open(), open()];
  for (const known of [first, second]) for (let i = 0; i < 16; i++) answered(known, MEGABYTE / 2);
  first.clear();
  const third = open();
  const calls = Array.from({ length: 16 }, () => answered(third, MEGABYTE / 2));
  expect(kept(calls)).toBe(16);
  expect(second.keptReplies).toBe(16);
});
