/** `compare RUN_A RUN_B`: two planners on the same tasks, initial states and attempts, with an exact paired test. */

import { basename } from 'node:path';
import { Command } from 'commander';
import { openRecording } from '../../recordings/index.ts';
import { pairEpisodes } from '../../trainer-daemon/evaluation/compare.ts';
import { comparisonTable } from '../../trainer-daemon/evaluation/tables.ts';
import { CommandError, EXIT } from '../exit.ts';
import { jsonText } from '../output/safe-text.ts';
import type { Terminal } from '../output/terminal.ts';
import { resolveRun } from '../run-argument.ts';
import { episodesOf, evaluationFor } from '../run-evaluations.ts';

export function compareCommand(terminal: Terminal): Command {
  return new Command('compare')
    .description('compare two runs (or two evaluations) on the episodes both have played')
    .argument('<run-a>', 'run directory, or its name in runs/')
    .argument('<run-b>', 'the other one; may be the same run with another evaluation')
    .option('--a <evaluation>', 'evaluation of run A (default: its last on held-out states)')
    .option('--b <evaluation>', 'evaluation of run B')
    .option('--json', 'print one JSON document')
    .action(async (namedA: string, namedB: string, options: { a?: string; b?: string; json?: boolean }) => {
      const sideA = await side(terminal, resolveRun(namedA), '--a', options.a);
      const sideB = await side(terminal, resolveRun(namedB), '--b', options.b);
      if (sideA.directory === sideB.directory && sideA.evaluation === sideB.evaluation)
        throw new CommandError(
          `both sides are ${sideA.evaluation} of ${sideA.directory}; name another with --a or --b`,
        );
      const comparison = pairEpisodes(sideA.episodes, sideB.episodes);
      if (options.json) {
        const named = ({ directory, evaluation, policyVersion }: typeof sideA) => ({
          directory,
          evaluation,
          policyVersion,
        });
        terminal.out(jsonText({ a: named(sideA), b: named(sideB), comparison }, 2));
        return;
      }
      terminal.out(`A: ${sideA.evaluation} of ${sideA.directory}\nB: ${sideB.evaluation} of ${sideB.directory}\n`);
      const same = basename(sideA.directory) === basename(sideB.directory);
      terminal.out(
        comparisonTable(
          same ? `A ${sideA.evaluation}` : `A ${basename(sideA.directory)}`,
          same ? `B ${sideB.evaluation}` : `B ${basename(sideB.directory)}`,
          comparison,
        ),
      );
    });
}

async function side(terminal: Terminal, directory: string, option: string, named: string | undefined) {
  const recording = await openRecording(directory);
  try {
    const evaluation = await evaluationFor(recording, named, option);
    const episodes = await episodesOf(recording, evaluation, (text) => {
      terminal.err(`${terminal.paintErr.red('damaged')}: ${directory}: ${text}`);
      terminal.exitCode = EXIT.failed;
    });
    return { directory, evaluation: evaluation.id, policyVersion: evaluation.policyVersion, episodes };
  } finally {
    await recording.close();
  }
}
