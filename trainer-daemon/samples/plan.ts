/** Which groups an RL round collects, and the episodes they consist of. */
import type { EpisodeKey } from '../../protocol/ids.ts';
import { Random } from '../../protocol/random.ts';
import type { RoundPlan } from '../../protocol/records.ts';

export interface RoundPlanInput {
  /** 1-based. */
  round: number;
  /** Version of the planner that collects the round. */
  policyVersion: number;
  /** The task pool, as `suite/index`. */
  tasks: readonly string[];
  /** Training states. */
  states: readonly number[];
  groupsPerRound: number;
  attemptsPerGroup: number;
  seed: number;
  /** Plans of the rounds before this one; their groups are avoided as long as others are left. */
  earlier: readonly RoundPlan[];
}

/**
 * Draws the groups of a round, uniformly and without replacement from pool tasks x training states. Groups that earlier
 * rounds used least come first, so that nothing repeats before everything was used once. A round never holds the same
 * (task, state) twice, as that would be one group: a pool with fewer pairs than `groupsPerRound` gives a smaller round.
 *
 * Depends only on its arguments: the order of `tasks` and `states` does not matter.
 *
 * @throws RangeError when there is no task or no state to draw from, or a count is not positive.
 */
export function roundPlan(input: RoundPlanInput): RoundPlan {
  const tasks = [...new Set(input.tasks)].sort();
  const states = [...new Set(input.states)].sort((a, b) => a - b);
  if (tasks.length === 0) {
    throw new RangeError(
      `round ${input.round}: the task pool is empty, so there is nothing to collect; widen harness.suites or harness.tasks, or set rl.taskPool to all`,
    );
  }
  if (states.length === 0) throw new RangeError(`round ${input.round}: splits.training holds no state`);
  for (const [name, value, least] of [
    ['groupsPerRound', input.groupsPerRound, 1],
    ['attemptsPerGroup', input.attemptsPerGroup, 2],
  ] as const) {
    if (!Number.isInteger(value) || value < least) {
      throw new RangeError(`rl.${name} must be a whole number of at least ${least}, not ${value}`);
    }
  }

  const uses = new Map<string, number>();
  for (const plan of input.earlier) {
    for (const group of plan.groups) {
      const name = groupName(group.task, group.init);
      uses.set(name, (uses.get(name) ?? 0) + 1);
    }
  }
  const pairs = tasks.flatMap((task) => states.map((init) => ({ task, init })));
  const drawn = new Random('round-plan', input.seed, input.round)
    .shuffle(pairs)
    .map((group) => ({ group, uses: uses.get(groupName(group.task, group.init)) ?? 0 }))
    // A stable sort: among equally used groups the shuffled order stays.
    .sort((a, b) => a.uses - b.uses)
    .slice(0, input.groupsPerRound);
  return {
    round: input.round,
    policyVersion: input.policyVersion,
    attempts: input.attemptsPerGroup,
    groups: drawn.map(({ group }) => group),
  };
}

/** One name for a (task, initial state). */
export function groupName(task: string, init: number): string {
  return `${task}#${init}`;
}

/** The episodes of a plan: group by group, attempt by attempt, first tries. */
export function rolloutJobs(plan: RoundPlan, run: string): EpisodeKey[] {
  return plan.groups.flatMap(({ task, init }) =>
    Array.from({ length: plan.attempts }, (_, attempt) => ({
      run,
      role: 'rollout' as const,
      round: plan.round,
      task,
      init,
      attempt,
      tryNumber: 0,
    })),
  );
}
