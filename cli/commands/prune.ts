/** `prune RUN`: gives back the space of what a run no longer needs. */
import { Command } from 'commander';
import { RecordingError } from '../../recordings/index.ts';
import { StoreError } from '../../trainer-daemon/store/contract.ts';
import { TrainingError } from '../../trainer-daemon/training/contract.ts';
import { type PruneResult, pruneRun } from '../../trainer-daemon/training/prune.ts';
import { CommandError, EXIT } from '../exit.ts';
import { bytes, plural } from '../output/format.ts';
import { jsonText } from '../output/safe-text.ts';
import { table } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import { resolveRun } from '../run-argument.ts';

interface PruneArguments {
  policies?: boolean;
  outputs?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

export function pruneCommand(terminal: Terminal): Command {
  return new Command('prune')
    .description('remove what a run no longer needs: old optimizer states, checkpoints not chosen')
    .argument('<run>', 'run directory, or its name in runs/')
    .option('--policies', 'also weights of policies that are neither compared, best nor newest')
    .option('--outputs', "also the harness's output folders (trajectories, images, logs)")
    .option('--dry-run', 'say what would be removed, remove nothing')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nRecords always stay, and the run can still be resumed, evaluated and reported.\nWhat --policies and --outputs remove cannot be made again. Without the outputs\nan episode is replayed from its calls alone.',
    )
    .action(async (named: string, options: PruneArguments) => {
      const result = await pruneRun(resolveRun(named), options).catch((error: unknown) => {
        const told = error instanceof StoreError || error instanceof TrainingError || error instanceof RecordingError;
        throw told ? new CommandError(error.message, EXIT.usage) : error;
      });
      if (options.json) terminal.out(jsonText({ dryRun: options.dryRun === true, ...result }, 2));
      else print(terminal, result, options.dryRun === true);
      // Links are left on purpose; anything else that is left could not be removed.
      if (result.left.some(({ reason }) => !reason.includes('symbolic link'))) terminal.exitCode = EXIT.failed;
    });
}

function print(terminal: Terminal, result: PruneResult, dryRun: boolean): void {
  const { items, left, directory } = result;
  if (items.length > 0)
    terminal.out(
      table(
        terminal,
        [
          { title: dryRun ? 'Would be removed' : 'Removed', wrap: true },
          { title: 'Why', wrap: true },
          { title: 'Size', align: 'right' },
        ],
        items.map((item) => [item.path, item.reason, bytes(item.bytes)]),
      ),
    );
  for (const { path, reason } of left) terminal.err(`${terminal.paintErr.yellow('left')}: ${path}: ${reason}`);
  const what = items.length === 0 ? 'nothing to remove' : `${plural(items.length, 'item')}, ${bytes(result.bytes)}`;
  terminal.out(`${what}${items.length === 0 ? '' : dryRun ? ' would be freed' : ' freed'} in ${directory}`);
}
