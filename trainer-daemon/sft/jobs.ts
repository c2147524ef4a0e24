/** Which episodes the teacher plays. */
import type { EpisodeKey } from '../../protocol/ids.ts';
import { Random } from '../../protocol/random.ts';

export interface TeacherJobsInput {
  run: string;
  /** As `suite/index`. */
  tasks: readonly string[];
  /** Training states. */
  states: readonly number[];
  episodesPerTask: number;
  seed: number;
}

/**
 * `episodesPerTask` episodes of every task over the training states, in an order of states that is seeded by task. When
 * a task has more episodes than states, the same order is gone through again with the next attempt number.
 *
 * @returns Episode keys; the first episode of every task, then the second of every task, and so on, so that a stage
 *   that is stopped early has covered all tasks alike.
 * @throws RangeError when there are no states.
 */
export function teacherJobs(input: TeacherJobsInput): EpisodeKey[] {
  if (input.states.length === 0) throw new RangeError('the teacher has no states to play: splits.training is empty');
  const states = [...new Set(input.states)].sort((a, b) => a - b);
  const orders = input.tasks.map((task) => new Random('teacher-states', input.seed, task).shuffle(states));
  const jobs: EpisodeKey[] = [];
  for (let k = 0; k < input.episodesPerTask; k++) {
    input.tasks.forEach((task, index) => {
      const init = orders[index][k % states.length];
      const attempt = Math.floor(k / states.length);
      jobs.push({ run: input.run, role: 'teacher', round: 0, task, init, attempt, tryNumber: 0 });
    });
  }
  return jobs;
}
