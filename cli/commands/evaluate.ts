/** `evaluate`: a finished run's planners, or one checkpoint, on the held-out states of a config. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { CommandError } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';
import { resolvePolicy, resolveRun } from '../run-argument.ts';
import { runTraining, soundConfig, type TrainingRoom, withPlaces } from './train.ts';

interface EvaluateArguments {
  checkpoint?: string;
  run?: string;
  json?: boolean;
}

export function evaluateCommand(terminal: Terminal, load: () => Promise<TrainingRoom>): Command {
  return new Command('evaluate')
    .description("evaluate a run's planners, or one checkpoint, on held-out states")
    .argument(
      '<run-or-config>',
      'a run (its base, SFT and RL planners are compared), one policy of it (RUN/policies/v0002), or a training config',
    )
    .option('--checkpoint <dir>', "with a config: the planner to evaluate instead of the config's")
    .option('--run <dir>', 'with a config: where to write (default: runs/<name>-<UTC time>)')
    .option('--json', 'JSON Lines: every event, then the result')
    .action(async (named: string, options: EvaluateArguments) => {
      if (namesConfig(named)) {
        const looks = { checkpoint: options.checkpoint === undefined, json: options.json };
        const checked = await soundConfig(terminal, named, looks);
        const { config, folder } = checked;
        if (options.checkpoint !== undefined) {
          if (!existsSync(resolve(options.checkpoint, 'config.json')))
            throw new CommandError(`${options.checkpoint} is no checkpoint (it has no config.json)`);
          config.planner = { checkpoint: resolve(options.checkpoint) };
        }
        if (config.planner.checkpoint === undefined)
          throw new CommandError(`${named} names no planner.checkpoint; give one with --checkpoint`);
        await runTraining(
          terminal,
          withPlaces(terminal, await load(), checked),
          { config, configFolder: folder, runDirectory: options.run, stages: ['evaluate'] },
          options.json,
        );
        return;
      }
      if (options.checkpoint !== undefined || options.run !== undefined)
        throw new CommandError('--checkpoint and --run go with a config, not with a run');
      const policy = resolvePolicy(named);
      const directory = policy?.directory ?? resolveRun(named);
      await runTraining(
        terminal,
        await load(),
        { resume: directory, configFolder: directory, stages: ['evaluate'], policies: policy && [policy.version] },
        options.json,
        'evaluate',
      );
    });
}

/** Runs are folders; whatever else is there, or looks like a config's name, is taken for one. */
function namesConfig(path: string): boolean {
  try {
    return !statSync(path).isDirectory();
  } catch {
    return /\.(ya?ml|json)$/i.test(path);
  }
}
