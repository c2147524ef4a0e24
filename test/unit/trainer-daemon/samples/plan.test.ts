import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { episodeId } from '../../../../protocol/ids.ts';
import { planSchema, type RoundPlan } from '../../../../protocol/records.ts';
import { groupName, rolloutJobs, roundPlan } from '../../../../trainer-daemon/samples/plan.ts';

const base = {
  round: 1,
  policyVersion: 1,
  tasks: ['s/0', 's/1', 's/2'],
  states: [11, 12, 13, 14],
  groupsPerRound: 5,
  attemptsPerGroup: 6,
  seed: 7,
  earlier: [] as RoundPlan[],
};

function rounds(count: number, groupsPerRound: number): RoundPlan[] {
  const plans: RoundPlan[] = [];
  for (let round = 1; round <= count; round++) {
    plans.push(roundPlan({ ...base, round, policyVersion: round, groupsPerRound, earlier: plans.slice() }));
  }
  return plans;
}
const names = (plans: RoundPlan[]) => plans.flatMap(({ groups }) => groups.map((g) => groupName(g.task, g.init)));

describe('roundPlan', () => {
  it('repeats no group before all were used, and none within a round', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 9 }), (size, count) => {
        const plans = rounds(count, size);
        for (const plan of plans) {
          expect(planSchema.parse(plan)).toEqual(plan);
          expect(new Set(names([plan])).size).toBe(size);
        }
        const uses = new Map<string, number>();
        for (const name of names(plans)) uses.set(name, (uses.get(name) ?? 0) + 1);
        const least = uses.size < 12 ? 0 : Math.min(...uses.values());
        expect(Math.max(...uses.values()) - least).toBeLessThanOrEqual(1);
      }),
      { numRuns: 40 },
    );
  });

  it('is smaller where the pool is', () => {
    expect(roundPlan({ ...base, groupsPerRound: 64 }).groups.length).toBe(12);
  });

  it('depends on the seed and not on the order of tasks and states', () => {
    const shuffled = { ...base, tasks: ['s/2', 's/0', 's/1', 's/0'], states: [14, 11, 13, 12] };
    expect(roundPlan(shuffled)).toEqual(roundPlan(base));
    expect(roundPlan({ ...base, seed: 8 })).not.toEqual(roundPlan(base));
  });

  it('says what is empty or wrong', () => {
    expect(() => roundPlan({ ...base, tasks: [] })).toThrow(/task pool is empty/);
    expect(() => roundPlan({ ...base, states: [] })).toThrow(/splits\.training/);
    expect(() => roundPlan({ ...base, attemptsPerGroup: 1 })).toThrow(/attemptsPerGroup/);
    expect(() => roundPlan({ ...base, groupsPerRound: 0 })).toThrow(/groupsPerRound/);
  });
});

describe('rolloutJobs', () => {
  it('lists every attempt of every group under its own id', () => {
    const plan = roundPlan(base);
    const jobs = rolloutJobs(plan, 'cafecafe');
    expect(new Set(jobs.map(episodeId)).size).toBe(5 * 6);
    expect(jobs.slice(0, 6).map((job) => [job.task, job.init, job.attempt])).toEqual(
      [0, 1, 2, 3, 4, 5].map((attempt) => [plan.groups[0].task, plan.groups[0].init, attempt]),
    );
    expect(jobs.every((job) => job.role === 'rollout' && job.round === 1 && job.tryNumber === 0)).toBe(true);
  });
});
