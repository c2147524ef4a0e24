/** `train CONFIG`: a whole run, shown while it goes on; stopped and resumed on request. */
import { Command, InvalidArgumentError } from 'commander';
import type { TrainingConfig } from '../../protocol/config.ts';
import type { Finding } from '../../protocol/finding.ts';
import type { Stage } from '../../protocol/journal.ts';
import { asksForNewRun } from '../../protocol/new-run.ts';
import {
  ConfigError,
  RunFailed,
  type RunForecast,
  type TrainOptions,
  type TrainResult,
} from '../../trainer-daemon/training/contract.ts';
import { commandName, resumeCommand, shellWord } from '../../trainer-daemon/training/resume-command.ts';
import { stageListProblem } from '../../trainer-daemon/training/stages.ts';
import { type ConfigFile, readConfigFile } from '../config-file.ts';
import { checkpointFindings, placed } from '../config-references.ts';
import { CommandError, EXIT } from '../exit.ts';
import { onInterrupt, type StopWish } from '../interrupts.ts';
import { countFindings, findingLine, hasErrors } from '../output/findings.ts';
import { runPresenter } from '../output/run-progress.ts';
import { jsonText } from '../output/safe-text.ts';
import type { Terminal } from '../output/terminal.ts';
import { resolveRun } from '../run-argument.ts';
import { showForecast } from './forecast.ts';

/** What is used of the training room, loaded when needed. */
export interface TrainingRoom {
  train(options: TrainOptions): Promise<TrainResult>;
  planRun(config: TrainingConfig, configFolder: string, stages?: readonly Stage[]): Promise<RunForecast>;
}

interface TrainArguments {
  run?: string;
  resume?: string;
  stages?: Stage[];
  rounds?: number;
  dryRun?: boolean;
  json?: boolean;
}

export function trainCommand(terminal: Terminal, load: () => Promise<TrainingRoom>): Command {
  return new Command('train')
    .description('train a planner: teacher episodes, fine-tuning, reinforcement learning, evaluation')
    .argument('[config]', 'training config; not with --resume, where the run has its own')
    .option('--run <dir>', 'where to write the run (default: runs/<name>-<UTC time>)')
    .option('--resume <run>', 'go on with a run: its directory, or its name in runs/')
    .option('--stages <list>', 'only these of teacher,sft,rl,evaluate', parseStages)
    .option('--rounds <n>', 'fewer or more rounds of reinforcement learning than the config says', parseRounds)
    .option('--dry-run', 'say what the run would do, write nothing')
    .option('--json', 'JSON Lines: every event, then the result')
    .addHelpText(
      'after',
      '\nCtrl-C stops after the running episodes, a second Ctrl-C at once; both end with\nexit code 130 and the command that resumes the run.',
    )
    .action(async (file: string | undefined, options: TrainArguments) => {
      if (options.resume !== undefined) {
        if (file !== undefined)
          throw new CommandError('give a config or --resume, not both: a run keeps its own config');
        if (options.run !== undefined)
          throw new CommandError('--run names a new run; --resume goes on with an old one');
        if (options.dryRun) throw new CommandError('--dry-run needs a config, not --resume');
        const directory = resolveRun(options.resume);
        await runTraining(
          terminal,
          await load(),
          { resume: directory, configFolder: directory, ...chosen(options) },
          options.json,
        );
        return;
      }
      if (file === undefined) throw new CommandError('name a training config, or a run with --resume');
      const checked = await soundConfig(terminal, file, { checkpoint: true, json: options.json });
      const { config, folder } = checked;
      const room = withPlaces(terminal, await load(), checked);
      if (options.dryRun) {
        if (options.rounds !== undefined) config.rl.rounds = options.rounds;
        const forecast = beforeStart(terminal, room.planRun(config, folder, options.stages), options.json);
        showForecast(terminal, await forecast, options);
        return;
      }
      await runTraining(
        terminal,
        room,
        { config, configFolder: folder, runDirectory: options.run, ...chosen(options) },
        options.json,
      );
    });
}

function chosen(options: TrainArguments): Pick<TrainOptions, 'stages' | 'rounds'> {
  return { stages: options.stages, rounds: options.rounds };
}

export interface SoundConfig extends ConfigFile {
  config: TrainingConfig;
}

/** A config with errors: each is on the terminal already, at its place in the file. */
class RefusedConfig extends CommandError {
  readonly findings: Finding[];

  constructor(file: string, findings: Finding[]) {
    super(`${file} has ${countFindings(findings)}; nothing was started`);
    this.findings = findings;
  }
}

/** What `--json` prints of an error. */
function errorLine(error: Error): string {
  return jsonText({
    kind: 'error',
    message: error.message,
    ...(error instanceof RunFailed && { directory: error.directory }),
    ...(error instanceof RefusedConfig && { findings: error.findings }),
  });
}

/**
 * A config without errors in itself and in the files it names.
 * @param looks `checkpoint`: whether the files of `planner.checkpoint` are looked at as well.
 * @throws CommandError after printing what is wrong.
 */
export async function soundConfig(
  terminal: Terminal,
  name: string,
  looks: { checkpoint: boolean; json?: boolean },
): Promise<SoundConfig> {
  const file = readConfigFile(name);
  const findings = [...file.findings, ...(looks.checkpoint ? await checkpointFindings(file) : [])];
  for (const finding of findings)
    if (finding.severity !== 'hint') terminal.err(findingLine(finding, terminal.paintErr));
  if (file.config && !hasErrors(findings)) return { ...file, config: file.config, findings };
  const refusal = new RefusedConfig(name, findings);
  if (looks.json) terminal.out(errorLine(refusal));
  throw refusal;
}

/** A room whose refusals of a config, once the adapter was asked, are shown at their places in the file. */
export function withPlaces(terminal: Terminal, room: TrainingRoom, file: ConfigFile): TrainingRoom {
  const told = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const findings = placed(file, error.problems);
      for (const finding of findings) terminal.err(findingLine(finding, terminal.paintErr));
      throw new RefusedConfig(file.file, findings);
    }
  };
  return {
    train: (options) => told(room.train(options)),
    planRun: (...asked) => told(room.planRun(...asked)),
  };
}

/** Errors before a run has begun are the config's, so to say: nothing was written. */
async function beforeStart<T>(terminal: Terminal, work: Promise<T>, json = false): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (json) terminal.out(errorLine(error as Error));
    throw new CommandError((error as Error).message, EXIT.usage);
  }
}

/**
 * Runs and shows a training; prints the final table, or how to resume.
 * @param command the words that go on with a stopped run, before its directory.
 */
export async function runTraining(
  terminal: Terminal,
  room: Pick<TrainingRoom, 'train'>,
  options: TrainOptions,
  json = false,
  command = 'train --resume',
): Promise<TrainResult | undefined> {
  const stop: StopWish = { mode: 'none' };
  const presenter = runPresenter(terminal, { json });
  const interrupts = onInterrupt(stop, (text) => presenter.note(text));
  let begun = false;
  try {
    const result = await room.train({
      ...options,
      stop,
      onEvent: (event) => {
        begun = true;
        presenter.show(event);
      },
    });
    presenter.close();
    if (json)
      terminal.out(
        jsonText({
          kind: 'result',
          state: result.state,
          alreadyFinished: result.alreadyFinished ?? false,
          directory: result.directory,
          table: result.tableJson ?? null,
          warnings: result.warnings ?? [],
        }),
      );
    else if (result.table !== undefined) terminal.out(result.table);
    if (result.state === 'stopped') {
      terminal.exitCode = EXIT.interrupted;
      terminal.err(
        `stopped; to go on: ${terminal.paintErr.bold(`${commandName()} ${command} ${shellWord(result.directory)}`)}`,
      );
    } else if (result.alreadyFinished)
      terminal.err(`the run is finished: nothing was left to do and nothing was written; it is in ${result.directory}`);
    else if (!json) terminal.err(`the run is in ${result.directory}`);
    for (const warning of result.warnings ?? []) terminal.err(terminal.paintErr.yellow(`warning: ${warning}`));
    return result;
  } catch (error) {
    presenter.close();
    const { message } = error as Error;
    const failed = error instanceof RunFailed ? error.directory : undefined;
    if (json) terminal.out(errorLine(error as Error));
    // A sentence about the disk says so itself.
    const wayOn =
      failed === undefined || message.includes('--resume') || asksForNewRun(message)
        ? ''
        : `\nOnce that is mended, go on with: ${resumeCommand(failed)}`;
    // Before the first event nothing was begun: what is wrong is the config or what it refers to.
    throw new CommandError(message + wayOn, begun ? EXIT.failed : EXIT.usage);
  } finally {
    interrupts.release();
  }
}

function parseStages(text: string): Stage[] {
  const names = text.split(',').map((name) => name.trim());
  const problem = stageListProblem(names);
  if (problem !== undefined) throw new InvalidArgumentError(problem);
  return names as Stage[];
}

/** More rounds than anybody waits for; a slip of the finger is told before it costs anything. */
const MOST_ROUNDS = 100_000;

function parseRounds(text: string): number {
  const rounds = parseCount(text);
  if (rounds > MOST_ROUNDS) throw new InvalidArgumentError(`at most ${MOST_ROUNDS} rounds, not ${text}`);
  return rounds;
}

export function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text))
    throw new InvalidArgumentError(`"${text}" is not a whole number, 0 or more, in at most nine digits`);
  return Number(text);
}
