/** Sorts a round's episode records into the plan's groups and gives each group its advantages. */
import { Random } from '../../protocol/random.ts';
import type { EpisodeRecord, RoundPlan } from '../../protocol/records.ts';
import { leaveOneOut } from './advantage.ts';
import type { Notices } from './notices.ts';
import { groupName } from './plan.ts';
import { type SampleStatus, STATUS } from './reasons.ts';

export interface PlacedEpisode {
  episode: EpisodeRecord;
  /** Why none of its calls may be trained on, as far as the episode's own record tells; null when it is in V_g. */
  excluded: SampleStatus | null;
  /** A of eq. 4; null when the episode is not in V_g or its group has no signal. */
  advantage: number | null;
  /** Why its group has no signal; null when it has one. */
  noSignal: SampleStatus | null;
}

export interface PlacedRound {
  /** In plan order: groups as planned, attempts, tries; then records that the plan does not hold, by id. */
  episodes: PlacedEpisode[];
  groupsWithSignal: number;
}

const NO_SIGNAL = { 'equal-rewards': STATUS.equalRewards, 'too-few-valid': STATUS.tooFewValid } as const;

/** V_g of a group is every valid episode in it, whether its calls are trainable or not (design section 4). */
export function placeEpisodes(plan: RoundPlan, records: readonly EpisodeRecord[], notices: Notices): PlacedRound {
  const places = new Map(plan.groups.map((group, index) => [groupName(group.task, group.init), index]));
  const groups: PlacedEpisode[][] = plan.groups.map(() => []);
  const strangers: PlacedEpisode[] = [];
  for (const { episode, contradicted } of distinct(records)) {
    const place = places.get(groupName(episode.task, episode.init));
    const planned = episode.role === 'rollout' && episode.round === plan.round && episode.attempt < plan.attempts;
    const placed: PlacedEpisode = { episode, excluded: null, advantage: null, noSignal: null };
    if (place === undefined || !planned) {
      placed.excluded = STATUS.notPlanned;
      strangers.push(placed);
      notices.add(`episodes are not in the plan of round ${plan.round}`, episode.id);
      continue;
    }
    groups[place].push(placed);
    if (contradicted) {
      placed.excluded = STATUS.noOutcome;
      notices.add('episodes have records that contradict each other', episode.id);
    } else if (!Number.isFinite(episode.reward) || episode.end === 'cancelled' || episode.end === 'adapter-error') {
      placed.excluded = STATUS.noOutcome;
      notices.add('episodes have no outcome', `${episode.id} (${episode.invalidReason ?? episode.end})`);
    } else if (!episode.valid) {
      placed.excluded = STATUS.invalidEpisode;
      notices.add('episodes are invalid', `${episode.id} (${episode.invalidReason ?? 'no reason given'})`);
    }
  }

  let groupsWithSignal = 0;
  groups.forEach((group, index) => {
    group.sort((a, b) => a.episode.attempt - b.episode.attempt || a.episode.tryNumber - b.episode.tryNumber);
    supersede(group, notices);
    const missing = plan.attempts - new Set(group.map(({ episode }) => episode.attempt)).size;
    if (missing > 0) {
      const { task, init } = plan.groups[index];
      notices.add('groups lack planned attempts', `${task} init ${init} lacks ${missing} of ${plan.attempts}`);
    }
    const valid = group.filter((placed) => placed.excluded === null);
    const result = leaveOneOut(valid.map(({ episode }) => episode.reward));
    if ('reason' in result) for (const placed of group) placed.noSignal = NO_SIGNAL[result.reason];
    else {
      groupsWithSignal++;
      valid.forEach((placed, i) => {
        placed.advantage = result.advantages[i];
      });
    }
  });
  return { episodes: [...groups.flat(), ...strangers], groupsWithSignal };
}

/**
 * The control of `rl.advantage: permuted-control`: the advantages of a round, dealt out anew among the episodes that have
 * one. Size, spread and number of the updates stay, what they say about the episodes is gone.
 */
export function permuteAdvantages(round: PlacedRound, seed: number, number: number): void {
  const credited = round.episodes.filter(({ advantage }) => advantage !== null);
  const dealt = new Random('permuted-control', seed, number).shuffle(credited.map(({ advantage }) => advantage));
  credited.forEach((placed, i) => {
    placed.advantage = dealt[i];
  });
}

/** One entry an episode id, by id. A record that was written twice alike counts once; two that differ cannot be trusted. */
function distinct(records: readonly EpisodeRecord[]): { episode: EpisodeRecord; contradicted: boolean }[] {
  const byId = new Map<string, { episode: EpisodeRecord; text: string; contradicted: boolean }>();
  for (const episode of records) {
    const text = canonical(episode);
    const known = byId.get(episode.id);
    if (!known) byId.set(episode.id, { episode, text, contradicted: false });
    else if (known.text !== text) {
      known.contradicted = true;
      // The smaller text stands for both, whichever came first in the file.
      if (text < known.text) Object.assign(known, { episode, text });
    }
  }
  return [...byId.values()].sort((a, b) => (a.episode.id < b.episode.id ? -1 : 1));
}

const canonical = (episode: EpisodeRecord) =>
  JSON.stringify(Object.entries(episode).sort(([a], [b]) => (a < b ? -1 : 1)));

/** An attempt counts once: of several valid tries the last one. `group` is sorted by attempt and try. */
function supersede(group: PlacedEpisode[], notices: Notices): void {
  const last = new Map<number, PlacedEpisode>();
  for (const placed of group) {
    if (placed.excluded !== null) continue;
    const before = last.get(placed.episode.attempt);
    if (before) {
      before.excluded = STATUS.superseded;
      notices.add('valid episodes were repeated by a later try', before.episode.id);
    }
    last.set(placed.episode.attempt, placed);
  }
}
