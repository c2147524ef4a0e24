/** One episode from its request to its record. */
import { join } from 'node:path';
import type { EpisodeRequest, Launch, ProcessSpec } from '../../protocol/adapter.ts';
import { episodeId, parseTaskId } from '../../protocol/ids.ts';
import { seedOf } from '../../protocol/random.ts';
import { type EpisodeRecord, RECORD_VERSION } from '../../protocol/records.ts';
import type { ProxyEpisode } from '../proxy/contract.ts';
import { checkWritable } from '../store/index.ts';
import { AdapterError } from './adapter-error.ts';
import type { EpisodeJob, RolloutOptions } from './contract.ts';
import {
  type EpisodeEnd,
  freshOutputFolder,
  outcomeCalls,
  trajectoryIn,
  writeEpisodeFile,
  writeLog,
} from './episode-files.ts';
import { HarnessProcess, type ProcessEnd } from './harness-process.ts';
import { lastWords } from './last-words.ts';
import { type Ending, type EpisodeFacts, judgeEpisode } from './verdict.ts';
import { EpisodeWatch } from './watch.ts';
import type { HarnessWorker, WorkerPool } from './worker-pool.ts';

/** How long a harness may take to end by itself once a limit has been told to it. */
const GRACE_SECONDS = 5;

export interface LaunchProblem {
  from: 'launch()' | 'command';
  /** A whole sentence part, naming the adapter's file when it comes from launch(). */
  problem: string;
}

export interface EpisodeResult {
  /** Undefined when the episode was cancelled. */
  record: EpisodeRecord | undefined;
  /** Why the harness could not even be started: what launch() did wrong, or the command that it gave. */
  launchProblem: LaunchProblem | undefined;
  /** It ended by a crash before its first call. */
  stillborn: boolean;
}

interface HarnessEnd {
  ending: Ending | 'cancelled';
  process: ProcessEnd;
  answer?: Record<string, unknown>;
  stdoutTail: string;
  stderrTail: string;
}

/** @throws StoreError and other failures of our own; everything about harness, adapter and planner is in the result. */
export async function runEpisode(
  job: EpisodeJob,
  options: RolloutOptions,
  pool: WorkerPool,
  signal: AbortSignal,
): Promise<EpisodeResult> {
  const id = episodeId(job.key);
  const outputDir = join(options.section.directory, 'output', id);
  await freshOutputFolder(outputDir);
  const startedAt = new Date();
  const started = performance.now();
  const episode = options.proxy.openEpisode({
    id,
    role: job.key.role,
    upstream: options.upstream,
    sampling: options.sampling,
    responseTokens: options.limits.responseTokens,
    turns: options.limits.turns,
    sink: options.section,
    onUpstreamFailure: options.adapter.onUpstreamFailure,
  });
  try {
    const request = requestOf(job, id, outputDir, episode, options);
    await writeEpisodeFile(request);
    let launch: Launch;
    try {
      launch = await options.adapter.launch(request);
    } catch (error) {
      if (!(error instanceof AdapterError)) throw error;
      await episode.close('cancelled');
      const facts = factsOf(job, options, episode, 'adapter-error', error.message, { ok: false, problem: '' });
      return {
        record: recordOf(job, id, options, episode, startedAt, started, facts, null),
        launchProblem: { from: 'launch()', problem: error.message },
        stillborn: false,
      };
    }
    const end = await playOut(launch, episode, options, pool, signal, request);
    if (end.ending === 'cancelled') {
      await episode.close('cancelled');
      return { record: undefined, launchProblem: undefined, stillborn: false };
    }
    await episode.close(end.ending.endsWith('-limit') ? 'limit' : end.ending === 'hang' ? 'cancelled' : 'done');
    const ending = contextEnd(end.ending, episode);
    const endFile: EpisodeEnd = {
      exitCode: end.process.exitCode,
      signal: end.process.signal,
      timedOut: ending.endsWith('-limit'),
      stdoutTail: end.stdoutTail,
      stderrTail: end.stderrTail,
      answer: end.answer,
      calls: outcomeCalls(episode.calls),
    };
    await writeEpisodeFile(request, endFile);
    const { outcome, trajectory } = await outcomeOf(options, request, endFile);
    if (signal.aborted) return { record: undefined, launchProblem: undefined, stillborn: false };
    const facts = factsOf(job, options, episode, ending, describeEnd(end, options.limits), outcome);
    const record = recordOf(job, id, options, episode, startedAt, started, facts, trajectory);
    // A harness that meets a full disk leaves nothing to judge; such an episode is played again, not recorded.
    if (!record.valid) await checkWritable(outputDir, "an episode's files");
    const { launchError } = end.process;
    return {
      record,
      launchProblem: launchError === null ? undefined : { from: 'command', problem: launchError },
      stillborn: ending === 'crash' && episode.calls.length === 0,
    };
  } finally {
    await episode.close('cancelled');
  }
}

function requestOf(
  job: EpisodeJob,
  id: string,
  outputDir: string,
  episode: ProxyEpisode,
  options: RolloutOptions,
): EpisodeRequest {
  const { suite, index } = parseTaskId(job.key.task);
  return {
    task: job.key.task,
    suite,
    taskIndex: index,
    init: job.key.init,
    attempt: job.key.attempt,
    role: job.key.role,
    seed: seedOf(id),
    limits: options.limits,
    baseUrl: episode.baseUrl,
    apiKey: episode.key,
    model: options.upstream.model,
    outputDir,
  };
}

/** Runs the harness until it ends or is ended. */
async function playOut(
  launch: Launch,
  episode: ProxyEpisode,
  options: RolloutOptions,
  pool: WorkerPool,
  signal: AbortSignal,
  request: EpisodeRequest,
): Promise<HarnessEnd> {
  let worker: HarnessWorker | undefined;
  let harness: HarnessProcess;
  let answered: Promise<Record<string, unknown>> = new Promise(() => undefined);
  if ('worker' in launch) {
    worker = await pool.take(launch.worker);
    harness = worker.process;
    answered = worker.play(launch.episode);
  } else {
    harness = new HarnessProcess(launch as ProcessSpec, options.workspace, options.adapter.withheld, options.roster);
    harness.endInput();
  }
  const watch = new EpisodeWatch({
    episode,
    seconds: options.limits.seconds,
    idleSeconds: options.limits.idleSeconds,
    lastOutput: () => harness.lastOutput,
    signal,
  });
  let answer: Record<string, unknown> | undefined;
  let forget: () => void = () => undefined;
  const over = new Promise<'over'>((resolve) => {
    answered.then((value) => {
      answer = value;
      resolve('over');
    });
    forget = harness.onEnd(() => resolve('over'));
  });
  try {
    const reason = await Promise.race([over, watch.ended]);
    if (reason === 'time-limit') await episode.close('limit');
    if (reason === 'turn-limit' || reason === 'time-limit') await withinGrace(over, signal);
    const letGo = answer === undefined && harness.end === undefined;
    if (letGo) await harness.kill(signal.aborted ? 1000 : undefined);
    else if (worker && answer !== undefined) pool.release(worker);
    const process = harness.end ?? { exitCode: 0, signal: null, launchError: null };
    const crashed = worker ? answer === undefined : process.exitCode !== 0;
    return {
      ending: reason === 'over' ? (crashed ? 'crash' : 'exit') : signal.aborted ? 'cancelled' : reason,
      process,
      answer,
      stdoutTail: harness.stdout.toString(),
      stderrTail: harness.stderr.toString(),
    };
  } finally {
    watch.stop();
    forget();
    await writeLog(request.outputDir, request.apiKey, harness.stdout, harness.stderr);
  }
}

async function withinGrace(over: Promise<unknown>, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, GRACE_SECONDS * 1000);
    onAbort = () => resolve();
    signal.addEventListener('abort', onAbort, { once: true });
  });
  await Promise.race([over, waited]);
  clearTimeout(timer);
  signal.removeEventListener('abort', onAbort);
}

/** A harness that ended because the planner's context was full met a limit, whatever its exit code. */
function contextEnd(ending: Ending, episode: ProxyEpisode): Ending {
  const byItself = ending === 'exit' || ending === 'crash';
  return byItself && episode.contextLimitReached && episode.calls.at(-1)?.status === 'limit' ? 'token-limit' : ending;
}

async function outcomeOf(
  options: RolloutOptions,
  request: EpisodeRequest,
  end: EpisodeEnd,
): Promise<{ outcome: EpisodeFacts['outcome']; trajectory: string | null }> {
  const { task, suite, taskIndex, init, attempt, role, seed, outputDir } = request;
  try {
    const value = await options.adapter.outcome({
      ...end,
      episode: { task, suite, taskIndex, init, attempt, role, seed },
      outputDir,
    });
    const trajectory = trajectoryIn(outputDir, value.trajectory);
    if (trajectory.problem) return { outcome: { ok: false, problem: trajectory.problem }, trajectory: null };
    return { outcome: { ok: true, value }, trajectory: trajectory.path };
  } catch (error) {
    if (!(error instanceof AdapterError)) throw error;
    return { outcome: { ok: false, problem: error.message }, trajectory: null };
  }
}

function describeEnd(end: HarnessEnd, limits: RolloutOptions['limits']): string {
  const { process, ending } = end;
  if (process.launchError !== null) return process.launchError;
  const words = lastWords(end.stderrTail) ?? lastWords(end.stdoutTail);
  const ended: Partial<Record<HarnessEnd['ending'], string>> = {
    'time-limit': `the harness was still running at its time limit of ${limits.seconds} s and was ended (harness.limits.seconds)`,
    'turn-limit': `the harness was ended at its turn limit of ${limits.turns} (harness.limits.turns)`,
  };
  const how = ended[ending] ?? process.signal ?? `exit code ${process.exitCode}`;
  return `${how}${words === undefined ? '' : `, last words: ${words}`}`;
}

function factsOf(
  job: EpisodeJob,
  options: RolloutOptions,
  episode: ProxyEpisode,
  ending: Ending,
  detail: string,
  outcome: EpisodeFacts['outcome'],
): EpisodeFacts {
  const { task, init, attempt } = job.key;
  return {
    task,
    init,
    attempt,
    ending,
    detail: detail.replaceAll(episode.key, '<key>'),
    calls: episode.calls,
    lostCalls: episode.lostCalls,
    idleSeconds: options.limits.idleSeconds,
    outcome,
  };
}

function recordOf(
  job: EpisodeJob,
  id: string,
  options: RolloutOptions,
  episode: ProxyEpisode,
  startedAt: Date,
  started: number,
  facts: EpisodeFacts,
  trajectory: string | null,
): EpisodeRecord {
  const { role, round, task, init, attempt, tryNumber } = job.key;
  return {
    version: RECORD_VERSION,
    id,
    role,
    round,
    task,
    init,
    attempt,
    ...judgeEpisode(facts),
    trajectory,
    policyVersion: episode.calls[0]?.policyVersion ?? options.upstream.policyVersion(),
    seconds: (performance.now() - started) / 1000,
    tryNumber,
    outputDir: `${options.section.name}/output/${id}`,
    startedAt: startedAt.toISOString(),
  };
}
