/** Trying an adapter's `outcome` on output folders of earlier episodes, without running anything. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Outcome } from '../../protocol/adapter.ts';
import type { LoadedAdapter } from './contract.ts';
import { type EpisodeFile, readEpisodeFile, trajectoryIn } from './episode-files.ts';
import { observationDoubts, type PlayedEpisode } from './first-observations.ts';

export interface CheckedOutput {
  directory: string;
  /** Whether the folder says what was asked (our `episode.json`); without it the fields cannot be compared. */
  known: boolean;
  /** What the five fields became. */
  outcome: Outcome | null;
  /** Why there are none, or what is wrong with them. */
  problem: string | null;
  /** What is doubtful about the harness, told from several episodes. */
  warnings: string[];
}

/** Stands in where a folder does not say what was asked. */
const UNKNOWN: EpisodeFile['request'] = {
  task: 'unknown/0',
  suite: 'unknown',
  taskIndex: 0,
  init: 0,
  attempt: 0,
  role: 'evaluation',
  seed: 0,
};

/** Never throws for a folder: each one's problem is in its result. */
export async function checkAdapter(adapter: LoadedAdapter, outputDirs: string[]): Promise<CheckedOutput[]> {
  const results: CheckedOutput[] = [];
  const played: PlayedEpisode[] = [];
  for (const each of outputDirs) {
    const { result, request } = await checkFolder(adapter, resolve(each));
    results.push(result);
    if (request) played.push({ ...request, directory: result.directory });
  }
  const doubts = await observationDoubts(played);
  return results.map((result) => ({ ...result, warnings: doubts.get(result.directory) ?? [] }));
}

async function checkFolder(
  adapter: LoadedAdapter,
  directory: string,
): Promise<{ result: CheckedOutput; request?: EpisodeFile['request'] }> {
  const result: CheckedOutput = { directory, known: false, outcome: null, problem: null, warnings: [] };
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory())
    return { result: { ...result, problem: 'there is no such folder' } };
  let file: EpisodeFile | undefined;
  try {
    file = readEpisodeFile(directory);
    result.known = file !== undefined;
    const request = file?.request ?? UNKNOWN;
    const end = file?.end ?? {
      exitCode: 0,
      signal: null,
      timedOut: false,
      stdoutTail: '',
      stderrTail: '',
      calls: [],
    };
    result.outcome = await adapter.outcome({ ...end, episode: request, outputDir: directory });
    for (const field of ['task', 'init', 'attempt'] as const)
      if (result.known && result.outcome[field] !== request[field])
        result.problem = `${field} became ${JSON.stringify(result.outcome[field])}, but ${JSON.stringify(request[field])} was asked for`;
    result.problem ??= trajectoryIn(directory, result.outcome.trajectory).problem ?? null;
  } catch (error) {
    result.problem = (error as Error).message;
  }
  return { result, request: file?.request };
}
