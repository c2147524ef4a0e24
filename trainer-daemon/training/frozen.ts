/** Which tensors keep their values, by stage, and whether there are such. */
import { resolve } from 'node:path';
import { defaultPlannerInit, type TrainingConfig } from '../../protocol/config.ts';
import { readArchitecture } from '../planner/checkpoint.ts';
import { architectureOf } from '../planner/initialise.ts';
import { checkFreeze } from '../trainers/index.ts';

/** Prefixes of tensors that reinforcement learning does not train. */
export function frozenInRounds({ trainer, rl }: Pick<TrainingConfig, 'trainer' | 'rl'>): string[] {
  return [...trainer.freeze, ...rl.freeze];
}

/**
 * Tells a prefix that means nothing before the run begins, not when its stage does.
 * @throws TrainerError naming the key; CheckpointError when the planner cannot be read.
 */
export async function checkFrozen(config: TrainingConfig, configFolder: string): Promise<void> {
  const { planner, trainer, rl } = config;
  if (trainer.freeze.length + rl.freeze.length === 0) return;
  const architecture =
    planner.checkpoint === undefined
      ? architectureOf(planner.init ?? defaultPlannerInit)
      : await readArchitecture(resolve(configFolder, planner.checkpoint));
  checkFreeze(trainer.engine, architecture, trainer.freeze, 'trainer.freeze');
  checkFreeze(trainer.engine, architecture, rl.freeze, 'rl.freeze');
  checkFreeze(trainer.engine, architecture, frozenInRounds(config), 'trainer.freeze and rl.freeze together');
}
