/** What a config will do, before anything is written (`train --dry-run`). */
import { resolve } from 'node:path';
import { defaultPlannerInit, type TrainingConfig } from '../../protocol/config.ts';
import { CALL_BYTES, EPISODE_BYTES, TYPICAL_CALLS } from '../../protocol/config-arithmetic.ts';
import { approximate, plural } from '../../protocol/counting.ts';
import type { Stage } from '../../protocol/journal.ts';
import { type Architecture, parameterCount } from '../planner/architecture.ts';
import { architectureOf } from '../planner/initialise.ts';
import { requireSoundCheckpoint } from '../planner/inspect-checkpoint.ts';
import { keyVariables, loadAdapter } from '../rollouts/index.ts';
import type { ForecastRow, RunForecast } from './contract.ts';
import { checkRunSize, plannedEpisodes } from './run-size.ts';
import { ALL_STAGES, checkStages } from './stages.ts';
import { listingOf, selectTasks } from './tasks.ts';

/** @throws TrainingError or AdapterError when a stage finds nothing to build on, or the adapter, a suite or the checkpoint does not exist. */
export async function planRun(
  config: TrainingConfig,
  configFolder: string,
  stages: readonly Stage[] = ALL_STAGES,
): Promise<RunForecast> {
  checkStages(stages, config, []);
  const adapter = await loadAdapter(config.harness.adapter, configFolder, { withheld: keyVariables(config) });
  let tasks: string[];
  try {
    tasks = selectTasks(config, await listingOf(adapter));
  } finally {
    await adapter.close();
  }
  checkRunSize(config, tasks.length, stages);
  const checkpointBytes = 4 * parameterCount(await plannerArchitecture(config, configFolder));
  const { limits } = config.harness;
  const row = (
    stage: string,
    episodes: number,
    optimizerSteps: number,
    weightBytes: number,
    note: string,
  ): ForecastRow => ({
    stage,
    episodes,
    calls: episodes * limits.turns,
    optimizerSteps,
    diskBytes: episodes * (EPISODE_BYTES + TYPICAL_CALLS * CALL_BYTES) + weightBytes,
    note,
  });

  const planned = plannedEpisodes(config, tasks.length);
  const rollouts = config.rl.groupsPerRound * config.rl.attemptsPerGroup;
  const samples = rollouts * Math.min(config.rl.maxResponsesPerEpisode, limits.turns);
  return {
    tasks: tasks.length,
    suites: config.harness.suites,
    rows: [
      row(
        'teacher',
        planned.teacher,
        0,
        0,
        `${approximate(config.teacher.episodesPerTask)} of each of ${plural(tasks.length, 'task')}`,
      ),
      row(
        'sft',
        planned.sft,
        config.sft.epochs *
          Math.max(1, Math.round((planned.teacher * Math.min(TYPICAL_CALLS, limits.turns)) / config.sft.batch)),
        checkpointBytes * (config.sft.checkpoints + 2),
        `steps for about ${TYPICAL_CALLS} targets an episode; ${plural(config.sft.checkpoints, 'checkpoint')} validated`,
      ),
      row(
        'rl',
        planned.rl,
        config.rl.rounds * config.rl.passes * Math.ceil(samples / config.rl.batch),
        checkpointBytes * (config.rl.rounds + 2),
        `${approximate(config.rl.rounds)} ${config.rl.rounds === 1 ? 'round' : 'rounds'} of ${approximate(config.rl.groupsPerRound)} x ${approximate(config.rl.attemptsPerGroup)} episodes; steps at most`,
      ),
      row('evaluate', planned.evaluate, 0, 0, 'base, SFT and RL planner on the same states'),
    ],
  };
}

async function plannerArchitecture(config: TrainingConfig, configFolder: string): Promise<Architecture> {
  const { checkpoint, init } = config.planner;
  if (checkpoint !== undefined) return (await requireSoundCheckpoint(resolve(configFolder, checkpoint))).architecture;
  return architectureOf(init ?? defaultPlannerInit);
}
