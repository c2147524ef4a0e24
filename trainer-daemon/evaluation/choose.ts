/** Decisions taken on the validation states only: which checkpoint goes on, which tasks RL trains on. */
import type { TrainingConfig } from '../../protocol/config.ts';
import { succeeded } from '../../protocol/outcome.ts';
import type { EpisodeRecord } from '../../protocol/records.ts';
import { finalTries } from './outcomes.ts';

export interface Candidate {
  number: number;
  /** Optimizer step after which it was taken. */
  step: number;
  successes: number;
  /** Valid validation episodes. */
  episodes: number;
}

/**
 * The candidate with the highest success rate; ties go to the earlier step. Rates are compared, not counts, so that a
 * candidate does not lose by episodes that infrastructure took from it. A candidate without a valid episode has no rate
 * and is not chosen.
 *
 * @throws RangeError without a candidate that has a valid episode.
 */
export function chooseCheckpoint<C extends Candidate>(candidates: readonly C[]): C {
  const rated = candidates.filter((candidate) => candidate.episodes > 0);
  if (rated.length === 0)
    throw new RangeError(
      candidates.length === 0
        ? 'there is no checkpoint to choose from'
        : 'there is no checkpoint to choose: none has a valid validation episode',
    );
  // Fractions are compared by cross-multiplication, so that equal rates are equal.
  const better = (one: C, two: C) => two.successes * one.episodes - one.successes * two.episodes || one.step - two.step;
  return rated.sort(better)[0];
}

export interface TaskPool {
  /** The tasks groups are drawn from, in the order of the task list (or by suite and index). */
  tasks: string[];
  /** Left out, as their groups would have equal rewards: never solved, always solved. */
  never: string[];
  always: string[];
  /** Left out, as no valid validation episode tells. */
  unknown: string[];
}

/**
 * The task pool of RL. `all`: every task. `solved-1-to-4-of-5` (paper C.3): tasks that the planner solves between one
 * and four times in five validation episodes. With another number of valid episodes the same idea holds: solved at
 * least once, and not always.
 *
 * @param tasks All tasks of the run; default: those that occur in the episodes.
 */
export function taskPool(
  validationEpisodes: readonly EpisodeRecord[],
  rule: TrainingConfig['rl']['taskPool'],
  tasks?: readonly string[],
): TaskPool {
  const tallies = new Map<string, { valid: number; solved: number }>();
  for (const task of tasks ?? []) tallies.set(task, { valid: 0, solved: 0 });
  for (const episode of finalTries(validationEpisodes).values()) {
    if (tasks && !tallies.has(episode.task)) continue;
    const tally = tallies.get(episode.task) ?? { valid: 0, solved: 0 };
    tallies.set(episode.task, tally);
    if (episode.valid) tally.valid++;
    if (succeeded(episode)) tally.solved++;
  }
  const pool: TaskPool = { tasks: [], never: [], always: [], unknown: [] };
  for (const [task, { valid, solved }] of tallies) {
    if (rule === 'all') pool.tasks.push(task);
    else if (valid === 0) pool.unknown.push(task);
    else if (solved === 0) pool.never.push(task);
    else if (solved === valid) pool.always.push(task);
    else pool.tasks.push(task);
  }
  return pool;
}
