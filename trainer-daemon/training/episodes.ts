/** Collecting the episodes of one section, leaving out those that are already on disk. */
import type { SamplingConfig } from '../../protocol/config.ts';
import { plural } from '../../protocol/counting.ts';
import { type EpisodeKey, episodeId } from '../../protocol/ids.ts';
import type { Stage } from '../../protocol/journal.ts';
import type { EpisodeRecord } from '../../protocol/records.ts';
import type { Upstream } from '../proxy/contract.ts';
import { runEpisodes } from '../rollouts/index.ts';
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
 * Runs what is missing and returns all records of the section that belong to `keys`, in their order.
 * @throws Stopped when the run was asked to stop before all were there.
 */
export async function collectEpisodes(context: RunContext, collection: Collection): Promise<EpisodeRecord[]> {
  const { section: name, keys, stage, label } = collection;
  const section = context.store.section(name);
  const records = await readEpisodes(context, name);
  const missing = keys.filter((key) => !records.has(episodeId(key)));
  if (missing.length > 0) {
    const moved = await section.setAsideUnfinished();
    if (moved > 0)
      await context.journal({
        type: 'warning',
        message: `${name}: ${plural(moved, 'call')} of unfinished episodes set aside; those episodes run again`,
      });
    const upstream = await collection.upstream();
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
      onEpisode: async (episode) => {
        records.set(episode.id, episode);
        done++;
        await context.journal({
          type: 'episode-finished',
          section: name,
          episode: episode.id,
          task: episode.task,
          init: episode.init,
          attempt: episode.attempt,
          reward: episode.reward,
          valid: episode.valid,
          invalidReason: episode.invalidReason,
          turns: episode.turns,
        });
        tick();
      },
    });
    context.checkStop();
  }
  return keys.flatMap((key) => records.get(episodeId(key)) ?? []);
}

/** Episode records of a section by id; of two with one id the later counts. */
export async function readEpisodes(context: RunContext, section: string): Promise<Map<string, EpisodeRecord>> {
  const index = await (await context.recording()).episodes(section);
  await index.refresh();
  const records = new Map<string, EpisodeRecord>();
  for (let i = 0; i < index.length; i++) {
    const record = await index.get(i);
    if (!('damaged' in record)) records.set(record.id, record);
  }
  return records;
}
