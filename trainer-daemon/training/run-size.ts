/** How many episodes a run plays, stage by stage, and more of them than anybody can mean. */
import type { TrainingConfig } from '../../protocol/config.ts';
import { approximate } from '../../protocol/counting.ts';
import type { Stage } from '../../protocol/journal.ts';
import { evaluationStates } from '../evaluation/jobs.ts';
import { TrainingError } from './contract.ts';

/** At a second an episode this takes four months. */
export const MOST_EPISODES = 10_000_000;

/** What makes the number of a stage. */
const CAUSES: Record<Stage, string> = {
  teacher: 'teacher.episodesPerTask',
  sft: 'sft.checkpoints, evaluation.episodesPerState or the validation states',
  rl: 'rl.rounds, rl.groupsPerRound or rl.attemptsPerGroup',
  evaluate: 'evaluation.episodesPerState or the evaluation states',
};

/** Episodes of one validation of one planner. */
function validationEpisodes(config: TrainingConfig, tasks: number): number {
  return tasks * evaluationStates(config, 'validation').length * config.evaluation.episodesPerState;
}

/** @param tasks how many the run trains on. */
export function plannedEpisodes(config: TrainingConfig, tasks: number): Record<Stage, number> {
  const { teacher, sft, rl, evaluation } = config;
  const validation = validationEpisodes(config, tasks);
  return {
    teacher: tasks * teacher.episodesPerTask,
    sft: validation * sft.checkpoints,
    rl: rl.rounds * rl.groupsPerRound * rl.attemptsPerGroup + Math.ceil(rl.rounds / rl.validateEvery) * validation,
    // The base, the fine-tuned and the reinforced planner.
    evaluate: 3 * tasks * evaluationStates(config, 'evaluation').length * evaluation.episodesPerState,
  };
}

/** @throws TrainingError for more than {@link MOST_EPISODES}, naming the keys that the largest stage comes from. */
export function checkRunSize(config: TrainingConfig, tasks: number, stages: readonly Stage[]): void {
  const planned = plannedEpisodes(config, tasks);
  const all = stages.reduce((sum, stage) => sum + planned[stage], 0);
  if (all <= MOST_EPISODES) return;
  const largest = stages.reduce((most, stage) => (planned[stage] > planned[most] ? stage : most));
  throw new TrainingError(
    `the run would play ${approximate(all)} episodes, ${approximate(planned[largest])} of them in the stage ${largest}; at most ${MOST_EPISODES.toLocaleString('en')} can be meant: lower ${CAUSES[largest]}`,
  );
}
