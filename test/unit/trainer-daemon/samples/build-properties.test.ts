import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Random } from '../../../../protocol/random.ts';
import type { SampleRecord } from '../../../../protocol/records.ts';
import { build, call, failed, fullRound, PLAN, type Recorded, recorded, rl } from './round.ts';

/** What may have happened to a call. */
const fates = ['fine', 'fine', 'fine', 'fine', 'mismatch', 'filtered', 'resent', 'lost', 'stale'] as const;

const episodes = fc.array(
  fc.record({
    reward: fc.constantFrom(0, 0, 1),
    valid: fc.constantFrom(true, true, true, false),
    fates: fc.array(fc.constantFrom(...fates), { maxLength: 24 }),
    successTurn: fc.option(fc.nat(24), { nil: null }),
  }),
  { minLength: 6, maxLength: 6 },
);

function roundOf(drawn: (typeof episodes extends fc.Arbitrary<infer T> ? T : never) & object): Recorded[] {
  return drawn.map(({ reward, valid, fates: turns, successTurn }, index) => {
    const place = { ...PLAN.groups[Math.floor(index / 3)], attempt: index % 3, reward, valid, successTurn };
    const one = recorded(place, turns.length);
    one.calls = turns.flatMap((fate, turn) => {
      if (fate === 'lost') return [];
      if (fate === 'mismatch') return [call(one.episode, turn, { promptTokenIds: [1, 2] })];
      if (fate === 'filtered') return [call(one.episode, turn, { finishReason: 'content_filter' })];
      if (fate === 'stale') return [call(one.episode, turn, { policyVersion: 4 })];
      if (fate === 'fine') return [call(one.episode, turn)];
      const first = call(one.episode, turn, failed('upstream-error'));
      return [first, call(one.episode, turn, { retryOf: first.id }, 1)];
    });
    return one;
  });
}

function byEpisode(samples: SampleRecord[]): Map<string, SampleRecord[]> {
  const groups = new Map<string, SampleRecord[]>();
  for (const sample of samples) groups.set(sample.episode, [...(groups.get(sample.episode) ?? []), sample]);
  return groups;
}

describe('buildSamples, for any round', () => {
  it('accounts for every call, selects at most the limit, sets u = 1 / K', async () => {
    await fc.assert(
      fc.asyncProperty(episodes, fc.integer({ min: 1, max: 16 }), fc.nat(), async (drawn, most, seed) => {
        const round = roundOf(drawn);
        const built = await build(round, { config: rl({ maxResponsesPerEpisode: most }), seed });
        expect(built.samples.length).toBe(round.reduce((sum, one) => sum + one.calls.length, 0));
        expect(Object.values(built.byStatus).reduce((a, b) => a + b, 0)).toBe(built.samples.length);
        expect(built.items.map((item) => item.callId)).toEqual(
          built.samples.filter((sample) => sample.status === 'selected').map((sample) => sample.call),
        );
        for (const samples of byEpisode(built.samples).values()) {
          const selected = samples.filter((sample) => sample.status === 'selected');
          const left = samples.filter((sample) => sample.status === 'not-selected');
          expect(selected.length).toBe(Math.min(most, selected.length + left.length));
          for (const sample of samples) {
            expect(sample.u).toBe(sample.status === 'selected' ? 1 / selected.length : null);
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  it('gives the valid episodes of a group advantages that sum to zero, trainable or not', async () => {
    await fc.assert(
      fc.asyncProperty(episodes, async (drawn) => {
        // A first call everywhere, so that every episode shows its advantage.
        const round = roundOf(drawn.map((one) => ({ ...one, fates: ['fine' as const, ...one.fates] })));
        const built = await build(round);
        const advantages = [...byEpisode(built.samples).values()].map((samples) => {
          expect(new Set(samples.map((sample) => sample.advantage)).size).toBe(1);
          return samples[0].advantage;
        });
        let withSignal = 0;
        for (const group of [0, 1]) {
          const mine = advantages.slice(3 * group, 3 * group + 3);
          const rewards = drawn.slice(3 * group, 3 * group + 3).filter((one) => one.valid);
          const signal = new Set(rewards.map((one) => one.reward)).size > 1;
          if (signal) withSignal++;
          expect(mine.filter((a) => a !== null).length).toBe(signal ? rewards.length : 0);
          expect(mine.reduce<number>((sum, a) => sum + (a ?? 0), 0)).toBeCloseTo(0, 12);
        }
        expect(built.groupsWithSignal).toBe(withSignal);
      }),
      { numRuns: 100 },
    );
  });

  it('does not depend on the order of files and lines', async () => {
    await fc.assert(
      fc.asyncProperty(episodes, fc.nat(), async (drawn, seed) => {
        const round = roundOf(drawn);
        const random = new Random('file-order', seed);
        const shuffled = random.shuffle(round).map((one) => ({ ...one, calls: random.shuffle(one.calls) }));
        expect(await build(shuffled)).toEqual(await build(round));
      }),
      { numRuns: 60 },
    );
  });

  it('chooses as if mismatched prompts were not there', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(29), { maxLength: 29 }), async (mismatched) => {
        const round = fullRound(30);
        const id = round[0].episode.id;
        const built = await build(round, {
          renderPrompt: ({ turn, episode }) => (episode === id && mismatched.includes(turn) ? null : [100, 101, turn]),
        });
        const mine = built.items.filter((item) => item.episodeId === id);
        expect(mine.length).toBe(Math.min(16, 30 - mismatched.length));
        for (const item of mine) expect(item.u).toBe(1 / mine.length);
        expect(built.byStatus['zero-weight:prompt-mismatch'] ?? 0).toBe(mismatched.length);
      }),
      { numRuns: 30 },
    );
  });

  it('chooses uniformly', async () => {
    // One episode pair, 8 turns each, 3 chosen; over n seeds each turn is chosen 3n/8 times within 5 standard errors.
    const plan = { ...PLAN, attempts: 2, groups: [PLAN.groups[0]] };
    const round = [recorded({ attempt: 0, reward: 1 }, 8), recorded({ attempt: 1 }, 8)];
    const n = 1200;
    const counts = new Map<string, number>();
    for (let seed = 0; seed < n; seed++) {
      const { items } = await build(round, { plan, config: rl({ maxResponsesPerEpisode: 3 }), seed });
      for (const { callId } of items) counts.set(callId, (counts.get(callId) ?? 0) + 1);
    }
    expect(counts.size).toBe(16);
    for (const count of counts.values()) {
      expect(Math.abs(count - (3 * n) / 8)).toBeLessThan(5 * Math.sqrt(n * (3 / 8) * (5 / 8)));
    }
  });
});
