/** Which episodes an evaluation plays. */
import type { TrainingConfig } from '../../protocol/config.ts';
import type { EpisodeKey } from '../../protocol/ids.ts';

export interface EvaluationJobsInput {
  run: string;
  role: 'validation' | 'evaluation';
  /** The policy version evaluated; becomes `round` of the keys. */
  policyVersion: number;
  /** As `suite/index`. */
  tasks: readonly string[];
  states: readonly number[];
  episodesPerState: number;
}

/** The initial states of a kind of evaluation; the words `validation` and `evaluation` stand for the splits of that name. */
export function evaluationStates(config: TrainingConfig, kind: EvaluationJobsInput['role']): number[] {
  const states = kind === 'validation' ? config.evaluation.selectionStates : config.evaluation.states;
  return typeof states === 'string' ? config.splits[states] : states;
}

/**
 * Every task on every state, `episodesPerState` times (attempt 0, 1, ...). Different planners get the same (task, init,
 * attempt) triples, so that their outcomes can be paired.
 *
 * @returns Episode keys; all tasks on the first state, then on the second, and so on.
 */
export function evaluationJobs(input: EvaluationJobsInput): EpisodeKey[] {
  const jobs: EpisodeKey[] = [];
  for (let attempt = 0; attempt < input.episodesPerState; attempt++) {
    for (const init of input.states) {
      for (const task of input.tasks) {
        jobs.push({ run: input.run, role: input.role, round: input.policyVersion, task, init, attempt, tryNumber: 0 });
      }
    }
  }
  return jobs;
}
