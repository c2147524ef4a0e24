/** The command line: which commands there are, and how every one of them ends. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { packageRoot } from '../trainer-daemon/bundles.ts';
import { checkAdapterCommand } from './commands/check-adapter.ts';
import { compareCommand } from './commands/compare.ts';
import { daemonCommand } from './commands/daemon.ts';
import { doctorCommand, doctorProbeCommand } from './commands/doctor.ts';
import { evaluateCommand } from './commands/evaluate.ts';
import { proxyCommand } from './commands/proxy.ts';
import { pruneCommand } from './commands/prune.ts';
import { replayCommand } from './commands/replay.ts';
import { reportCommand } from './commands/report.ts';
import { samplesCommand } from './commands/samples.ts';
import { schemaCommand } from './commands/schema.ts';
import { serveCommand } from './commands/serve.ts';
import { stopCommand } from './commands/stop.ts';
import { trainCommand } from './commands/train.ts';
import { validateCommand } from './commands/validate.ts';
import { CommandError, EXIT } from './exit.ts';
import type { Terminal } from './output/terminal.ts';

export function buildProgram(terminal: Terminal): Command {
  const { version, description } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    version: string;
    description: string;
  };
  const program = new Command('agentic-robo-rl')
    .description(description)
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help on a command')
    .showSuggestionAfterError()
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 findings or a failed run, 2 usage or a config with errors,\n130 interrupted and resumable. --json makes any command machine-readable.',
    )
    .hook('preAction', (_, command) => refuseEmptyNames(command));
  const training = () => import('../trainer-daemon/training/index.ts');
  const commands = [
    trainCommand(terminal, training),
    evaluateCommand(terminal, training),
    stopCommand(terminal),
    reportCommand(terminal),
    compareCommand(terminal),
    samplesCommand(terminal),
    replayCommand(terminal),
    validateCommand(terminal, version),
    pruneCommand(terminal),
    checkAdapterCommand(terminal),
    proxyCommand(terminal),
    serveCommand(terminal),
    daemonCommand(terminal),
    schemaCommand(terminal),
    doctorCommand(terminal),
  ];
  for (const command of commands) program.addCommand(command);
  program.addCommand(doctorProbeCommand(terminal), { hidden: true });
  for (const command of [program, ...program.commands])
    command
      .exitOverride()
      .configureHelp({ helpWidth: terminal.columns, subcommandTerm: (one) => one.name() })
      .configureOutput({
        writeOut: (text) => terminal.out(text.replace(/\n$/, '')),
        writeErr: (text) => terminal.err(text.replace(/\n$/, '')),
      });
  return program;
}

/** An empty name, as of an unset variable of a shell, would mean the current folder. @throws CommandError */
function refuseEmptyNames(command: Command): void {
  command.registeredArguments.forEach((argument, i) => {
    if ([command.processedArgs[i]].flat().includes(''))
      throw new CommandError(`the argument ${argument.name()} is empty; give it a name, or leave it out`);
  });
  for (const option of command.options)
    if (/<(dir|run|file)>/.test(option.flags) && command.getOptionValue(option.attributeName()) === '')
      throw new CommandError(`${option.long} is empty; give it a name, or leave it out`);
}

/** Runs one command and gives its exit code; whatever goes wrong becomes a sentence on standard error. */
export async function runCommand(terminal: Terminal, words: string[]): Promise<number> {
  try {
    await buildProgram(terminal).parseAsync(words, { from: 'user' });
    return terminal.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    const told = error instanceof CommandError;
    const message = error instanceof Error ? error.message : String(error);
    terminal.err(`${terminal.paintErr.red('error')}: ${message}`);
    if (!told && process.env.AGENTIC_ROBO_RL_DEBUG) terminal.err(error instanceof Error ? (error.stack ?? '') : '');
    return told ? error.exitCode : EXIT.failed;
  }
}
