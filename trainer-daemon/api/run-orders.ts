/** What a client asks to be run, as options of `train`: from a config of the workspace, or of a run that there is. */
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { z } from 'zod';
import type { TrainingConfig } from '../../protocol/config.ts';
import type { CrossFieldProblem } from '../../protocol/config-checks.ts';
import { LARGEST_CONFIG } from '../../protocol/config-syntax.ts';
import { type ConfigReading, readConfigText } from '../../protocol/config-text.ts';
import { type CheckedParams, validationSchema } from '../../protocol/daemon.ts';
import type { Finding } from '../../protocol/finding.ts';
import { parseTaskId } from '../../protocol/ids.ts';
import type { TrainOptions } from '../training/contract.ts';
import { commandDocument } from './command-line.ts';
import { RpcError } from './rpc-error.ts';
import type { Workspace } from './workspace.ts';

/** Options of `train`, and where a problem that only its adapter can tell is written. */
export interface RunOrder {
  options: TrainOptions;
  findings(problems: readonly CrossFieldProblem[]): Finding[];
}

/** Configs and adapters as `validate` checks them. */
export async function validated(
  workspace: Workspace,
  files: string[],
  runAdapter: boolean,
  signal: AbortSignal,
): Promise<z.output<typeof validationSchema>> {
  const paths = files.map((file) => workspace.path(file));
  const words = ['validate', '--json', ...(runAdapter ? [] : ['--no-adapter']), '--', ...paths];
  return validationSchema.parse(await commandDocument(workspace.folder, words, signal));
}

/** A training run from a config. @throws RpcError `config` with findings, `outside`, `notFound`. */
export async function trainOrder(
  workspace: Workspace,
  params: CheckedParams<'runs.start'>,
  newRun: (name: string) => string,
  signal: AbortSignal,
): Promise<RunOrder> {
  const { config, configFolder, findings } = await soundConfig(workspace, params.config, signal);
  const { stages, rounds } = params;
  const runDirectory = params.directory === undefined ? newRun(config.name) : workspace.path(params.directory);
  return { options: { config, configFolder, runDirectory, stages, rounds }, findings };
}

/** One checkpoint under a config, on its held-out states. */
export async function evaluateOrder(
  workspace: Workspace,
  params: { config: string; checkpoint?: string },
  newRun: (name: string) => string,
  signal: AbortSignal,
): Promise<RunOrder> {
  const { config, configFolder, findings } = await soundConfig(workspace, params.config, signal);
  if (params.checkpoint !== undefined) config.planner = { checkpoint: checkpointIn(workspace, params.checkpoint) };
  if (config.planner.checkpoint === undefined)
    throw new RpcError('failed', `${params.config} names no planner.checkpoint: say which checkpoint is evaluated`);
  // Told apart from trainings of the config by its folder.
  const runDirectory = newRun(`${config.name}-evaluation`);
  return { options: { config, configFolder, runDirectory, stages: ['evaluate'] }, findings };
}

/** One episode of a task as a run of its own. */
export async function episodeOrder(
  workspace: Workspace,
  params: CheckedParams<'episodes.run'>,
  newRun: (name: string) => string,
  signal: AbortSignal,
): Promise<RunOrder> {
  const { config, configFolder, findings } = await soundConfig(workspace, params.config, signal);
  const { suite, index } = parseTaskId(params.task);
  config.name = `${config.name}-episode`;
  config.harness = { ...config.harness, suites: [suite], tasks: { [suite]: [index] }, concurrency: 1 };
  const runDirectory = newRun(config.name);
  if (params.player === 'teacher') {
    config.splits = { ...config.splits, training: [params.init] };
    config.teacher = { ...config.teacher, episodesPerTask: 1 };
    return { options: { config, configFolder, runDirectory, stages: ['teacher'] }, findings };
  }
  config.planner = { checkpoint: checkpointIn(workspace, params.player.checkpoint) };
  config.evaluation = { ...config.evaluation, states: [params.init], episodesPerState: 1 };
  return { options: { config, configFolder, runDirectory, stages: ['evaluate'] }, findings };
}

/** @throws RpcError `outside`, or `notFound` when there is no checkpoint. */
export function checkpointIn(workspace: Workspace, named: string): string {
  const folder = workspace.existing(named, 'checkpoint');
  workspace.existing(`${folder}/config.json`, 'checkpoint:');
  return folder;
}

interface SoundConfig {
  config: TrainingConfig;
  configFolder: string;
  findings: RunOrder['findings'];
}

/** A config that `validate` finds no error in; its adapter is asked by `train` itself. */
async function soundConfig(workspace: Workspace, named: string, signal: AbortSignal): Promise<SoundConfig> {
  const path = workspace.existing(named, 'config');
  const [checked] = (await validated(workspace, [path], false, signal)).files;
  if (!checked.ok) throw configError(named, checked.findings);
  const reading = readConfig(path);
  // It was sound a moment ago; whoever edits it meanwhile is told as well.
  if (!reading.config) throw configError(named, reading.findings);
  const findings = (problems: readonly CrossFieldProblem[]) => placed(reading, path, problems);
  return { config: reading.config, configFolder: dirname(path), findings };
}

export function configError(named: string, findings: readonly Finding[]): RpcError {
  const errors = findings.filter(({ severity }) => severity === 'error');
  const first = errors[0];
  const what = first === undefined ? 'errors' : `line ${first.line}: ${first.message}`;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return new RpcError('config', `${named} cannot be run; nothing was started. ${what}${more}`, {
    findings: findings.map((finding) => ({ ...finding })),
  });
}

function readConfig(path: string): ConfigReading {
  const { size } = statSync(path);
  if (size > 4 * LARGEST_CONFIG + 4) throw new RpcError('failed', `${path} is too large for a config (${size} bytes)`);
  const bytes = readFileSync(path);
  const wide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  const encoding = wide ? (bytes[0] === 0xff ? 'utf-16le' : 'utf-16be') : 'utf-8';
  return readConfigText(new TextDecoder(encoding).decode(bytes), path);
}

function placed(reading: ConfigReading, file: string, problems: readonly CrossFieldProblem[]): Finding[] {
  return problems.map(({ severity, code, path, part, message }) => ({
    code,
    severity,
    message,
    file,
    ...reading.locate(path, part),
    path: path.join('.'),
  }));
}
