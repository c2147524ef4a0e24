/** `check-adapter ADAPTER OUTPUT_DIR...`: what an adapter makes of episodes that have been played already. */
import { resolve } from 'node:path';
import { Command } from 'commander';
import type { StateCounts, TaskList } from '../../protocol/adapter.ts';
import { SUCCESS_REWARD } from '../../protocol/outcome.ts';
import type { CheckedOutput } from '../../trainer-daemon/rollouts/index.ts';
import { CommandError, EXIT } from '../exit.ts';
import { plural } from '../output/format.ts';
import { jsonText } from '../output/safe-text.ts';
import { table } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import { wrap } from '../output/wrap.ts';

export function checkAdapterCommand(terminal: Terminal): Command {
  return new Command('check-adapter')
    .description('load an adapter and try its outcome() on the output folders of earlier episodes')
    .argument('<adapter>', 'a shipped name, or the path of an adapter file')
    .argument('[output...]', "output folders of episodes (a run's episode records name them)")
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nNothing is played. Exit code 1 when an output folder has a problem,\n2 when the adapter cannot be loaded.',
    )
    .action(async (reference: string, outputs: string[], options: { json?: boolean }) => {
      const { checkAdapter, loadAdapter } = await import('../../trainer-daemon/rollouts/index.ts');
      const adapter = await loadAdapter(reference, process.cwd()).catch((error: Error) => {
        throw new CommandError(error.message, EXIT.usage);
      });
      try {
        const tasks = await adapter.tasks();
        const states = await adapter.states();
        const checked = await checkAdapter(
          adapter,
          outputs.map((output) => resolve(output)),
        );
        const remarks = checked.map((one) => one.problem ?? remark(one, tasks, states));
        const doubtful = checked.filter((one) => one.warnings.length > 0).length;
        const failed = checked.some((one) => one.problem !== null);
        if (failed) terminal.exitCode = EXIT.failed;
        if (options.json) {
          const { name, file, sha256, hasScriptedTeacher } = adapter;
          terminal.out(
            jsonText(
              {
                ok: !failed,
                adapter: { name, file, sha256, hasScriptedTeacher, tasks, states: states ?? null },
                outputs: checked.map((one, i) => ({ ...one, remark: one.problem === null ? remarks[i] : null })),
              },
              2,
            ),
          );
          return;
        }
        const suites = Object.entries(tasks).map(([suite, instructions]) => `${suite} (${instructions.length})`);
        terminal.out(`adapter ${terminal.paint.bold(adapter.name)} in ${adapter.file}`);
        const listed = suites.length > 0 ? `suites and their tasks: ${suites.join(', ')}` : 'it lists no suites';
        terminal.out(wrap(listed, terminal.columns));
        if (states !== undefined) terminal.out(wrap(statesLine(states), terminal.columns));
        terminal.out(adapter.hasScriptedTeacher ? 'it ships a scripted teacher' : 'it ships no scripted teacher');
        if (checked.length > 0) terminal.out(outcomeTable(terminal, outputs, checked, remarks));
        if (doubtful > 0)
          terminal.out(terminal.paint.yellow(`${plural(doubtful, 'output folder')} with a warning about the harness`));
        terminal.out(
          failed
            ? terminal.paint.red(
                `${plural(checked.filter((one) => one.problem !== null).length, 'output folder')} with a problem`,
              )
            : terminal.paint.green(`${plural(checked.length, 'output folder')} checked: no problems`),
        );
      } finally {
        await adapter.close();
      }
    });
}

function statesLine(states: StateCounts): string {
  if (typeof states === 'number') return `${plural(states, 'initial state')} a task`;
  return `initial states a task: ${Object.entries(states)
    .map(([suite, count]) => `${count} in ${suite}`)
    .join(', ')}`;
}

/** What is worth a second look though nothing is wrong. */
function remark(checked: CheckedOutput, tasks: TaskList, states: StateCounts | undefined): string {
  const { outcome, known } = checked;
  if (!outcome) return '';
  const remarks: string[] = [];
  if (!known) remarks.push('no episode.json: task, init and attempt could not be compared');
  else {
    const slash = outcome.task.lastIndexOf('/');
    const instructions = tasks[outcome.task.slice(0, slash)];
    if (Object.keys(tasks).length > 0 && instructions?.[Number(outcome.task.slice(slash + 1))] === undefined)
      remarks.push(`the adapter lists no task ${outcome.task}`);
    const count = typeof states === 'number' ? states : states?.[outcome.task.slice(0, slash)];
    if (count !== undefined && outcome.init >= count)
      remarks.push(`the adapter has ${plural(count, 'initial state')}, so none numbered ${outcome.init}`);
  }
  if (!outcome.valid)
    remarks.push(outcome.invalidReason ? `invalid: ${outcome.invalidReason}` : 'invalid without a reason');
  if (outcome.valid && outcome.reward !== 0 && outcome.reward !== SUCCESS_REWARD)
    remarks.push(`only a reward of ${SUCCESS_REWARD} or more counts as success`);
  return remarks.join('; ');
}

function outcomeTable(terminal: Terminal, outputs: string[], checked: CheckedOutput[], remarks: string[]): string {
  return table(
    terminal,
    [
      { title: 'Output', wrap: true },
      { title: 'Task', wrap: true },
      { title: 'Init', align: 'right' },
      { title: 'Attempt', align: 'right' },
      { title: 'Reward', align: 'right' },
      { title: 'Valid' },
      { title: 'Remark', wrap: true },
    ],
    checked.map((one, i) => {
      const outcome = one.outcome;
      const text = [one.problem !== null ? `PROBLEM: ${remarks[i]}` : remarks[i]]
        .concat(one.warnings.map((warning) => `WARNING: ${warning}`))
        .filter((part) => part !== '')
        .join('; ');
      return outcome
        ? [
            outputs[i],
            one.known ? outcome.task : '-',
            one.known ? String(outcome.init) : '-',
            one.known ? String(outcome.attempt) : '-',
            String(outcome.reward),
            outcome.valid ? 'yes' : 'no',
            text,
          ]
        : [outputs[i], '-', '-', '-', '-', '-', text];
    }),
  );
}
