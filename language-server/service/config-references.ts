/** What a sound config refers to: the adapter, the checkpoint, the task suites. Asks for files only through a lookup. */
import type { TrainingConfig } from '../../protocol/config.ts';
import { taskCount } from '../../protocol/config-arithmetic.ts';
import type { Add, CrossFieldProblem } from '../../protocol/config-checks.ts';
import { type HarnessListing, harnessProblems } from '../../protocol/config-harness.ts';
import { factProblems } from '../../protocol/config-plan-checks.ts';
import type { ConfigReading } from '../../protocol/config-text.ts';
import type { Finding } from '../../protocol/finding.ts';
import { nearest } from '../../protocol/nearest.ts';

/** The files around a config, as far as findings need them. */
export interface Surroundings {
  /** What lies at a path relative to the config's folder (or at an absolute one). */
  kind(path: string): 'file' | 'folder' | undefined;
  /** Names of the adapters that come with the product. */
  shippedAdapters: readonly string[];
  /** What a shipped adapter lists; undefined for others, which would have to be run. */
  listing?(adapter: string): HarnessListing | undefined;
  /** The text of a small file, at a path like those of `kind`; undefined where there is none. */
  readText?(path: string): string | undefined;
  /** What lies in a folder, by name; undefined where there is none. */
  list?(folder: string): readonly { name: string; kind: 'file' | 'folder' }[] | undefined;
  /** What is wrong with the files of a checkpoint folder; undefined where that is not known (yet). */
  inspection?(checkpoint: string): readonly CheckpointRemark[] | undefined;
}

/** One thing wrong, or doubtful, with a file of a checkpoint. */
export interface CheckpointRemark {
  severity: 'error' | 'warning';
  /** As it is shown. */
  file: string;
  line?: number;
  message: string;
}

/** What was found in the checkpoint of a config without errors, at the key that names it. */
export function inspectionProblems(found: readonly CheckpointRemark[]): CrossFieldProblem[] {
  return found.map(({ severity, file, line, message }) => ({
    severity,
    code: 'checkpoint',
    path: ['planner', 'checkpoint'],
    message: `${file}${line === undefined ? '' : `:${line}`}: ${message}`,
  }));
}

/** Whether `harness.adapter` is a path and not the name of a shipped adapter. */
export function isAdapterPath(adapter: string): boolean {
  return /[\\/]/.test(adapter) || /\.[cm]?[jt]s$/.test(adapter);
}

/** Findings about what a config refers to, as the command line prints them. */
export function referenceFindings(reading: ConfigReading, around: Surroundings, file?: string): Finding[] {
  return referenceProblems(reading, around).map(({ code, severity, message, path, part }) => ({
    code,
    severity,
    message,
    file,
    ...reading.locate(path, part),
    path: path.join('.'),
  }));
}

/**
 * What is wrong with the things a config refers to: adapter, checkpoint, suites, tasks and states, and with numbers
 * that only these make wrong. Of a config with errors, its sound part counts.
 */
export function referenceProblems(reading: ConfigReading, around: Surroundings): CrossFieldProblem[] {
  const config = reading.usable;
  if (!config) return [];
  const problems: CrossFieldProblem[] = [];
  const add: Add = (severity, code, path, message, more) =>
    problems.push({ severity, code, path: path.split('.'), message, ...more });
  checkAdapter(config, around, add);
  checkCheckpoint(config, around, add);
  const { adapter, suites } = config.harness;
  const listing = around.listing?.(adapter);
  // With suites left out as wrong, or an adapter that lists nothing, nothing can be held against its lists.
  const harnessBroken = reading.problems.some(({ severity, path }) => severity === 'error' && path?.[0] === 'harness');
  if (listing && suites.length > 0)
    problems.push(...harnessProblems(config, listing).filter(({ code }) => code !== 'no-tasks' || !harnessBroken));
  problems.push(
    ...factProblems(config, { tasks: taskCount(config, listing), context: checkpointContext(config, around) }),
  );
  return problems;
}

/** The longest sequence a checkpoint's own config.json names. */
function checkpointContext(config: TrainingConfig, around: Surroundings): number | undefined {
  const { checkpoint } = config.planner;
  const text = checkpoint === undefined ? undefined : around.readText?.(`${checkpoint}/config.json`);
  if (text === undefined) return undefined;
  try {
    const told = JSON.parse(text) as { max_position_embeddings?: unknown } | null;
    const context = told?.max_position_embeddings;
    return typeof context === 'number' && context > 0 ? context : undefined;
  } catch {
    return undefined; // The inspection of checkpoints tells what is wrong with it.
  }
}

function checkAdapter(config: TrainingConfig, around: Surroundings, add: Add): void {
  const { adapter } = config.harness;
  const at = 'harness.adapter';
  if (!isAdapterPath(adapter)) {
    if (around.shippedAdapters.includes(adapter)) return;
    const near = nearest(adapter, around.shippedAdapters);
    const advice = near
      ? `did you mean "${near}"?`
      : around.kind(adapter) || around.kind(`${adapter}.ts`) || around.kind(`${adapter}.mjs`)
        ? `for a file beside the config write ./${adapter}`
        : `shipped are ${around.shippedAdapters.join(', ')}; your own is a path such as ./adapters/mine.ts`;
    add('error', 'unknown-adapter', at, `no adapter "${adapter}" is shipped; ${advice}`, {
      fix: near ? { title: `Change to ${near}`, safe: false, set: ['harness', 'adapter'], value: near } : undefined,
    });
    return;
  }
  const kind = around.kind(adapter);
  if (kind === undefined)
    add('error', 'missing-adapter', at, `there is no file ${adapter} (paths start from the config's folder)`);
  else if (kind === 'folder') add('error', 'missing-adapter', at, `${adapter} is a folder; an adapter is one file`);
  else if (!/\.(ts|mts|mjs|js)$/.test(adapter))
    add('error', 'missing-adapter', at, `${adapter} is not a TypeScript or JavaScript module (.ts, .mjs)`);
}

function checkCheckpoint(config: TrainingConfig, around: Surroundings, add: Add): void {
  const { checkpoint } = config.planner;
  if (checkpoint === undefined) return;
  const at = 'planner.checkpoint';
  const kind = around.kind(checkpoint);
  if (kind !== 'folder') {
    add(
      'error',
      'missing-checkpoint',
      at,
      kind === 'file'
        ? `${checkpoint} is a file; a checkpoint is a Hugging Face folder with config.json, tokenizer.json and model.safetensors`
        : `there is no folder ${checkpoint} (paths start from the config's folder)`,
    );
    return;
  }
  const missing = ['config.json', 'tokenizer.json'].filter((name) => around.kind(`${checkpoint}/${name}`) !== 'file');
  if (!around.kind(`${checkpoint}/model.safetensors`) && !around.kind(`${checkpoint}/model.safetensors.index.json`))
    missing.push('model.safetensors');
  if (missing.length > 0) add('error', 'missing-checkpoint', at, `${checkpoint} lacks ${missing.join(' and ')}`);
}
