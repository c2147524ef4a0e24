/** Suite names and what a name means: a base suite and at most one perturbation of it. */
import type { GoalStep, TaskSummary } from '../types.ts';
import { GOAL } from './goal.ts';
import { LONG } from './long.ts';
import { OBJECT } from './object.ts';
import { SPATIAL } from './spatial.ts';
import type { Goal, TaskSpec } from './spec.ts';

const BASES = { spatial: SPATIAL, object: OBJECT, goal: GOAL, long: LONG };
export type Base = keyof typeof BASES;
export type Perturbation = '' | 'swap' | 'task';

export const TASKS_PER_SUITE = 10;
export const INITIAL_STATES = 50;

/** The twelve suites: `tabletop_spatial|object|goal|long`, each also with `_swap` and `_task`. */
export function suiteNames(): string[] {
  return (Object.keys(BASES) as Base[]).flatMap((base) => [
    `tabletop_${base}`,
    `tabletop_${base}_swap`,
    `tabletop_${base}_task`,
  ]);
}

export interface ResolvedTask {
  summary: TaskSummary;
  base: Base;
  perturbation: Perturbation;
  spec: TaskSpec;
  /** The instruction's own goal: the task's, or the other one under `_task`. */
  goal: Goal;
}

/** @throws Error when the suite or the task does not exist. */
export function resolveTask(suite: string, task: number): ResolvedTask {
  const match = /^tabletop_(spatial|object|goal|long)(?:_(swap|task))?$/.exec(suite);
  if (!match) throw new Error(`there is no suite "${suite}": the suites are ${suiteNames().join(', ')}`);
  const base = match[1] as Base;
  const perturbation = (match[2] ?? '') as Perturbation;
  const spec = BASES[base][task];
  if (!spec) throw new Error(`suite "${suite}" has no task ${task}: its tasks are 0-${TASKS_PER_SUITE - 1}`);
  const goal = perturbation === 'task' ? spec.other : spec;
  return { summary: { suite, index: task, instruction: goal.instruction }, base, perturbation, spec, goal };
}

/** A suite's ten tasks. @throws Error when the suite does not exist. */
export function tasks(suite: string): TaskSummary[] {
  return Array.from({ length: TASKS_PER_SUITE }, (_, i) => resolveTask(suite, i).summary);
}

/**
 * What an expert has to bring about, step by step, in terms of objects as the instruction singles them out (`singleOut`
 * finds them among detections). For scripted teachers; a planner never sees it. It is alike for every initial state.
 * @throws Error when the suite, task or initial state does not exist.
 */
export function goalOf(suite: string, task: number, init: number): GoalStep[] {
  checkInit(init);
  const { goal } = resolveTask(suite, task);
  return structuredClone(goal.plan ?? goal.goal);
}

/** @throws Error unless `init` is an initial state, 0-49. */
export function checkInit(init: number): void {
  if (!Number.isInteger(init) || init < 0 || init >= INITIAL_STATES) {
    throw new Error(`there is no initial state ${init}: they are 0-${INITIAL_STATES - 1}`);
  }
}
