/** Collecting the episodes of one section, leaving out those that are already on disk. */
import type { SamplingConfig } from '../../protocol/config.ts';
import { plural } from '../../protocol/counting.ts';
import { type EpisodeKey, episodeId } from '../../protocol/ids.ts';
import type { JournalEvent, Stage } from '../../protocol/journal.ts';
import type { EpisodeRecord } from '../../protocol/records.ts';
import type { Recording } from '../../recordings/index.ts';
import type { Upstream } from '../proxy/contract.ts';
import { runEpisodes } from '../rollouts/index.ts';
import { TrainingError } from './contract.ts';
import { commonestReason, invalidWarning } from './invalid.ts';
import type { RunContext } from './run-context.ts';

export interface Collection {
  section: string;
  keys: EpisodeKey[];
  /** Called only when there is something left to run. */
  upstream: () => Promise<Upstream>;
  sampling: SamplingConfig;
  stage: Stage;
  label: string;
}

/**
 * Runs what is missing and returns the records of the section that belong to `keys`, in their order: of several tries
 * of an episode the last valid one, or the last. When an earlier life of the run left not one valid episode, all are
 * tried once more.
 * @returns the records, and how many of them were played now.
 * @throws Stopped when the run was asked to stop before all were there; TrainingError when none is valid.
 */
export async function collectEpisodes(
  context: RunContext,
  collection: Collection,
): Promise<{ episodes: EpisodeRecord[]; played: number }> {
  const { section: name, keys, stage, label } = collection;
  const section = context.store.section(name);
  const records = await readEpisodes(context, name);
  await tellUntold(context, name, records);
  const current = currentTries(keys, records);
  const missing = current.filter((key) => !records.has(episodeId(key)));
  if (missing.length > 0) {
    const moved = await section.setAsideUnfinished();
    if (moved > 0)
      await context.journal({
        type: 'warning',
        message: `${name}: ${plural(moved, 'call')} of unfinished episodes set aside; those episodes run again`,
      });
    const upstream = await collection.upstream().catch((error) => {
      // A Ctrl-C reaches a process that is only just being started as well, before it has a group of its own.
      context.checkStop();
      throw error;
    });
    let done = keys.length - missing.length;
    const tick = () => context.progress({ stage, unit: 'episodes', label, done, total: keys.length });
    tick();
    await runEpisodes({
      adapter: context.adapter,
      jobs: missing.map((key) => ({ key })),
      proxy: context.proxy,
      upstream,
      section,
      sampling: collection.sampling,
      limits: context.config.harness.limits,
      concurrency: context.config.harness.concurrency,
      workspace: context.configFolder,
      signal: context.signal,
      stopStarting: () => context.stopping,
      roster: context.roster,
      workers: context.workers,
      onEpisode: async (episode) => {
        records.set(episode.id, episode);
        done++;
        await context.journal(episodeFinished(name, episode));
        tick();
      },
    });
    context.checkStop();
  }
  const episodes = keys.flatMap((key) => lastTry(key, records) ?? []);
  await tellInvalid(context, name, episodes);
  return { episodes, played: missing.length };
}

function episodeFinished(section: string, episode: EpisodeRecord): JournalEvent {
  const { id, task, init, attempt, reward, valid, invalidReason, turns } = episode;
  return { type: 'episode-finished', section, episode: id, task, init, attempt, reward, valid, invalidReason, turns };
}

/** A kill may have come between an episode's record and its journal entry. */
async function tellUntold(
  context: RunContext,
  section: string,
  records: ReadonlyMap<string, EpisodeRecord>,
): Promise<void> {
  if (records.size === 0) return;
  const told = new Set(
    context.events('episode-finished').flatMap((event) => (event.section === section ? [event.episode] : [])),
  );
  for (const episode of records.values())
    if (!told.has(episode.id)) await context.journal(episodeFinished(section, episode));
}

/** Tries of an episode, 0 first. */
function triesOf(key: EpisodeKey, records: ReadonlyMap<string, EpisodeRecord>): EpisodeRecord[] {
  const tries: EpisodeRecord[] = [];
  for (let tryNumber = 0; ; tryNumber++) {
    const record = records.get(episodeId({ ...key, tryNumber }));
    if (!record) return tries;
    tries.push(record);
  }
}

function lastTry(key: EpisodeKey, records: ReadonlyMap<string, EpisodeRecord>): EpisodeRecord | undefined {
  const tries = triesOf(key, records);
  return tries.findLast((episode) => episode.valid) ?? tries.at(-1);
}

/** The keys under the try that is to be complete: the one begun last, or a new one when none so far has anything valid. */
export function currentTries(keys: readonly EpisodeKey[], records: ReadonlyMap<string, EpisodeRecord>): EpisodeKey[] {
  if (keys.length === 0) return [];
  const tries = keys.map((key) => triesOf(key, records));
  const least = Math.min(...tries.map((one) => one.length));
  const most = Math.max(...tries.map((one) => one.length));
  const anyValid = tries.some((one) => one.some((episode) => episode.valid));
  // A new try has begun when some episodes have one more record than others.
  const tryNumber = least === 0 ? 0 : most > least ? most - 1 : anyValid ? least - 1 : least;
  return keys.map((key) => ({ ...key, tryNumber }));
}

/** Says so in the journal, once, when infrastructure took many of the episodes. @throws TrainingError when it took all. */
async function tellInvalid(context: RunContext, section: string, episodes: EpisodeRecord[]): Promise<void> {
  const common = commonestReason(episodes);
  if (common !== undefined && !episodes.some((episode) => episode.valid))
    throw new TrainingError(
      `${section}: none of ${plural(episodes.length, 'episode')} is valid, so there is nothing to go on with; commonest reason (${common.count} x): ${common.reason}. Mend that and resume the run: these episodes are then played again`,
    );
  const message = invalidWarning(section, episodes);
  if (message !== undefined && !context.events('warning').some((event) => event.message === message))
    await context.journal({ type: 'warning', message });
}

/** Episode records of a section by id; of two with one id the later counts. */
export async function readEpisodes(context: RunContext, section: string): Promise<Map<string, EpisodeRecord>> {
  return recordedEpisodes(await context.recording(), section);
}

/** The same for a run that is only read. */
export async function recordedEpisodes(recording: Recording, section: string): Promise<Map<string, EpisodeRecord>> {
  const index = await recording.episodes(section);
  await index.refresh();
  const records = new Map<string, EpisodeRecord>();
  for await (const record of index) if (!('damaged' in record)) records.set(record.id, record);
  return records;
}
