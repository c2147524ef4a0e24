/** `train`: a whole run, from a config or from where an earlier one stopped. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { configSchema, type TrainingConfig } from '../../protocol/config.ts';
import { plural } from '../../protocol/counting.ts';
import { runId } from '../../protocol/ids.ts';
import type { JournalLine, Stage } from '../../protocol/journal.ts';
import { RECORD_VERSION, type RunInfo } from '../../protocol/records.ts';
import { openRecording } from '../../recordings/index.ts';
import { packageRoot } from '../bundles.ts';
import { readCheckpoint } from '../planner/checkpoint.ts';
import { CheckpointError } from '../planner/checkpoint-error.ts';
import { requireSoundCheckpoint } from '../planner/inspect-checkpoint.ts';
import { startProxy } from '../proxy/index.ts';
import type { LoadedAdapter } from '../rollouts/contract.ts';
import { keyVariables, loadAdapter, ProcessRoster } from '../rollouts/index.ts';
import type { RunStore } from '../store/contract.ts';
import { clearStopRequest, createRun, diskCode, openRun, storeError } from '../store/index.ts';
import { RunFailed, TrainingError, type TrainOptions, type TrainResult } from './contract.ts';
import { runEvaluateStage } from './evaluate-stage.ts';
import { finishedRun } from './finished.ts';
import { checkFrozen } from './frozen.ts';
import { eventsOf, readJournal } from './history.ts';
import { invalidWarnings } from './invalid.ts';
import { ensureBasePolicy } from './policies.ts';
import { requestNotices } from './request-notices.ts';
import { resumeCommand } from './resume-command.ts';
import { runRlStage } from './rl-stage.ts';
import { RunContext, Stopped } from './run-context.ts';
import { checkRunSize } from './run-size.ts';
import { runSftStage } from './sft-stage.ts';
import { ALL_STAGES, checkStages } from './stages.ts';
import { listingOf, selectTasks } from './tasks.ts';
import { checkTeacher, runTeacherStage } from './teacher-stage.ts';

export * from './contract.ts';
export { planRun } from './forecast.ts';

/**
 * Runs the stages of a training run, or those that are left of it.
 * @throws TrainingError, CheckpointError, StoreError, AdapterError: what is wrong and what to do.
 */
export async function train(options: TrainOptions): Promise<TrainResult> {
  if (options.resume !== undefined) {
    const finished = await finishedRun(resolve(options.resume), options);
    if (finished) {
      for (const line of finished.history) options.onEvent?.({ kind: 'journal', line, past: true });
      return finished.result;
    }
  }
  const stop = options.stop ?? { mode: 'none' as const };
  const opened = options.resume === undefined ? await begin(options) : await goOn(options.resume, options);
  const { store, config, configFolder, adapter, stages } = opened;
  const started = performance.now();
  const roster = new ProcessRoster(join(store.directory, 'run.processes'));
  let context: RunContext | undefined;
  let proxy: Awaited<ReturnType<typeof startProxy>> | undefined;
  try {
    // Whoever asked an earlier life of the run to stop does not mean this one.
    await clearStopRequest(store.directory);
    const orphans = await roster.endOrphans();
    proxy = await startProxy({ listen: config.serving.proxy.listen, onNotice: requestNotices(() => context) });
    context = new RunContext({
      store,
      config,
      configFolder,
      adapter,
      proxy,
      roster,
      history: opened.history,
      stop,
      signal: options.signal,
      onEvent: options.onEvent,
    });
    for (const line of opened.history) options.onEvent?.({ kind: 'journal', line, past: true });
    if (options.resume === undefined)
      await context.journal({ type: 'run-started', run: store.info.id, stages: [...stages] });
    else await context.journal({ type: 'run-resumed', afterSeq: store.seq });
    if (store.info.adapterSha256 !== null && adapter.sha256 !== store.info.adapterSha256) {
      await context.journal({
        type: 'warning',
        message: `the adapter ${adapter.file} has changed since the run started`,
      });
    }
    for (const message of opened.warnings) await context.journal({ type: 'warning', message });
    if (orphans > 0)
      await context.journal({
        type: 'warning',
        message: `${orphans === 1 ? '1 process' : `${orphans} processes`} of an earlier life of this run had outlived it and ended now`,
      });
    for (const repair of store.repairs)
      await context.journal({
        type: 'warning',
        message: `${repair.file}: a torn last line of ${plural(repair.bytes, 'byte')} was dropped`,
      });

    let table: Awaited<ReturnType<typeof runEvaluateStage>> | undefined;
    const rounds = options.rounds ?? config.rl.rounds;
    for (const stage of ALL_STAGES.filter((name) => stages.includes(name))) {
      const finished = context.events('stage-finished').some((event) => event.stage === stage);
      if (finished && stage !== 'evaluate' && !(stage === 'rl' && options.rounds !== undefined)) continue;
      context.checkStop('round');
      const stageStarted = performance.now();
      await context.journal({ type: 'stage-started', stage });
      if (stage === 'teacher') await runTeacherStage(context);
      if (stage === 'sft' || stage === 'rl') await ensureBasePolicy(context);
      if (stage === 'sft') await runSftStage(context);
      if (stage === 'rl') await runRlStage(context, rounds);
      if (stage === 'evaluate') {
        await ensureBasePolicy(context);
        table = await runEvaluateStage(context, options.policies);
      }
      await context.journal({ type: 'stage-finished', stage, seconds: (performance.now() - stageStarted) / 1000 });
    }
    await context.journal({ type: 'run-finished', seconds: (performance.now() - started) / 1000 });
    return {
      state: 'finished',
      directory: store.directory,
      table: table?.text,
      tableJson: table?.json,
      warnings: invalidWarnings(context.lines),
    };
  } catch (error) {
    // An abort surfaces in many places as many kinds of errors; what counts is that we were asked to stop.
    const stopped =
      error instanceof Stopped
        ? error
        : context?.signal.aborted || stop.mode === 'now'
          ? new Stopped(options.signal?.aborted ? 'signal' : 'now')
          : undefined;
    if (stopped) {
      await context?.journal({ type: 'run-stopped', reason: stopped.reason });
      return { state: 'stopped', directory: store.directory, warnings: invalidWarnings(context?.lines ?? []) };
    }
    // The journal may be what failed (disk full); the first error is the one to report.
    const message = failureSentence(error, store.directory);
    await context?.journal({ type: 'run-failed', message }).catch(() => {});
    throw new RunFailed(message, store.directory, error);
  } finally {
    await context?.close();
    await proxy?.close();
    await adapter.close();
    roster.clear();
    await clearStopRequest(store.directory);
    await store.close();
  }
}

/** A failure of the disk, or of a policy that the run made, says which command goes on once it is mended. */
function failureSentence(error: unknown, directory: string): string {
  if (error instanceof CheckpointError && error.file.startsWith(join(directory, 'policies', '/')))
    return `${error.message}; the run made this policy and needs it: restore it from a copy of the run, then: ${resumeCommand(directory)}`;
  if (diskCode(error) === undefined) return (error as Error).message;
  const path = (error as NodeJS.ErrnoException).path ?? directory;
  return `${storeError(path, 'read or write it', error).message}; then: ${resumeCommand(directory)}`;
}

interface Opened {
  store: RunStore;
  config: TrainingConfig;
  configFolder: string;
  adapter: LoadedAdapter;
  history: JournalLine[];
  /** What is doubtful about the planner's checkpoint; told once, when the run begins. */
  warnings: string[];
  stages: readonly Stage[];
}

/** A new run directory. Everything that can be wrong with the config's references is found before it is created. */
async function begin(options: TrainOptions): Promise<Opened> {
  const { config, configFolder } = options;
  if (!config) throw new TrainingError('train needs a config, or a run to resume');
  const stages = options.stages ?? ALL_STAGES;
  checkStages(stages, config, []);
  const warnings =
    config.planner.checkpoint === undefined ? [] : await checkPlanner(resolve(configFolder, config.planner.checkpoint));
  await checkFrozen(config, configFolder);
  const adapter = await loadAdapter(config.harness.adapter, configFolder, { withheld: keyVariables(config) });
  try {
    const tasks = selectTasks(config, await listingOf(adapter));
    const rl = { ...config.rl, rounds: options.rounds ?? config.rl.rounds };
    checkRunSize({ ...config, rl }, tasks.length, stages);
    if (stages.includes('teacher')) checkTeacher(config, adapter);
    const stamp = new Date()
      .toISOString()
      .replace(/[-:]/g, '')
      .replace(/\.\d+Z$/, 'Z');
    const directory = resolve(options.runDirectory ?? join('runs', `${config.name}-${stamp}`));
    const info: RunInfo = {
      version: RECORD_VERSION,
      id: runId(config.name, config.seed, config),
      name: config.name,
      createdAt: new Date().toISOString(),
      config: config as unknown as Record<string, unknown>,
      configFolder,
      software: await softwareVersions(),
      adapterSha256: adapter.sha256,
      workspaceCommit: await workspaceCommit(configFolder),
    };
    return { store: await createRun(directory, info), config, configFolder, adapter, history: [], stages, warnings };
  } catch (error) {
    await adapter.close();
    throw error;
  }
}

/** Reads tokenizer and weights whole, once, so that damage is told before the teacher has worked for hours. */
async function checkPlanner(folder: string): Promise<string[]> {
  const { warnings } = await requireSoundCheckpoint(folder);
  await readCheckpoint(folder);
  return warnings;
}

async function goOn(directory: string, options: TrainOptions): Promise<Opened> {
  const store = await openRun(resolve(directory));
  let adapter: LoadedAdapter | undefined;
  try {
    const parsed = configSchema.safeParse(store.info.config);
    if (!parsed.success)
      throw new TrainingError(
        `${join(directory, 'run.json')} holds a config this version cannot read: ${parsed.error.issues[0].path.join('.')}: ${parsed.error.issues[0].message}`,
      );
    const config = parsed.data;
    const loaded = await loadAdapter(config.harness.adapter, store.info.configFolder, {
      withheld: keyVariables(config),
    });
    adapter = loaded;
    const recording = await openRecording(store.directory);
    const journal = await readJournal(recording).finally(() => recording.close());
    if ('damaged' in journal)
      throw new TrainingError(
        `${join(directory, 'journal.jsonl')}: line ${journal.line} is damaged (${journal.damaged}); the run cannot be resumed safely`,
      );
    const history = journal.lines;
    const stages = options.stages ?? eventsOf(history, 'run-started').at(-1)?.stages ?? ALL_STAGES;
    checkStages(stages, config, history);
    return { store, config, configFolder: store.info.configFolder, adapter: loaded, history, stages, warnings: [] };
  } catch (error) {
    await adapter?.close();
    await store.close();
    throw error;
  }
}

async function softwareVersions(): Promise<Record<string, string>> {
  const own = JSON.parse(await readFile(join(packageRoot(), 'package.json'), 'utf8')) as {
    version: string;
    dependencies?: Record<string, string>;
  };
  return {
    'agentic-robo-rl': own.version,
    node: process.version,
    'onnxruntime-node': own.dependencies?.['onnxruntime-node'] ?? 'unknown',
    '@mujoco/mujoco': own.dependencies?.['@mujoco/mujoco'] ?? 'unknown',
  };
}

async function workspaceCommit(folder: string): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('git', ['rev-parse', 'HEAD'], { cwd: folder, timeout: 5000 });
    return stdout.trim() || null;
  } catch {
    return null;
  }
}
