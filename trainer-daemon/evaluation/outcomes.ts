/** Outcomes of evaluation episodes: which records count, rates, and names of those left out. */
import { parseTaskId } from '../../protocol/ids.ts';
import type { EpisodeRecord } from '../../protocol/records.ts';
import { wilson } from '../../protocol/statistics.ts';

/** An episode that is left out, and why. */
export interface NamedEpisode {
  task: string;
  init: number;
  attempt: number;
  reason: string;
}

/** A success rate over valid episodes with its 95% Wilson interval. */
export interface Rate {
  /** Valid episodes. */
  episodes: number;
  successes: number;
  /** Null without a valid episode. */
  rate: number | null;
  low: number;
  high: number;
}

export function rateOf(successes: number, episodes: number): Rate {
  return { episodes, successes, rate: episodes === 0 ? null : successes / episodes, ...wilson(successes, episodes) };
}

/** What pairs two planners' episodes. */
export function pairName(episode: Pick<EpisodeRecord, 'task' | 'init' | 'attempt'>): string {
  return `${episode.task} init ${episode.init} attempt ${episode.attempt}`;
}

/**
 * The record that counts of every (task, init, attempt): the last valid try, or the last try when none is valid. A try
 * that was lost to infrastructure and repeated with success is thereby neither a failure nor invalid.
 *
 * @returns By {@link pairName}, ordered by suite, task, state and attempt.
 */
export function finalTries(episodes: readonly EpisodeRecord[]): Map<string, EpisodeRecord> {
  const final = new Map<string, EpisodeRecord>();
  for (const episode of [...episodes].sort(byPlace)) {
    const name = pairName(episode);
    const known = final.get(name);
    if (!known || episode.valid || !known.valid) final.set(name, episode);
  }
  return final;
}

function byPlace(a: EpisodeRecord, b: EpisodeRecord): number {
  const [one, two] = [parseTaskId(a.task), parseTaskId(b.task)];
  if (one.suite !== two.suite) return one.suite < two.suite ? -1 : 1;
  const difference = one.index - two.index || a.init - b.init || a.attempt - b.attempt || a.tryNumber - b.tryNumber;
  return difference || (a.id < b.id ? -1 : 1);
}

/** Names the invalid ones. */
export function invalidEpisodes(episodes: Iterable<EpisodeRecord>): NamedEpisode[] {
  return [...episodes]
    .filter((episode) => !episode.valid)
    .map(({ task, init, attempt, invalidReason, end }) => ({ task, init, attempt, reason: invalidReason ?? end }));
}
