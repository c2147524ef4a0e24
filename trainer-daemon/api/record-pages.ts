/** Pages of a run's records: groups, episodes, calls, samples, steps. Nothing is read but what is asked for. */
import type { CallSummary, EpisodeFilter, GroupSummary } from '../../protocol/daemon.ts';
import { SUCCESS_REWARD, succeeded } from '../../protocol/outcome.ts';
import type { CallRecord, EpisodeRecord, SampleRecord } from '../../protocol/records.ts';
import {
  type Damaged,
  isDamaged,
  type RecordIndex,
  type Recording,
  type Said,
  saidBy,
} from '../../recordings/index.ts';

/** Bytes of JSON after which a page ends early. */
export const PAGE_BYTES = 8 * 1024 * 1024;
/** Records read at a time when a file is searched. */
const BLOCK = 256;

export interface Paging {
  offset: number;
  limit: number;
}

export interface Page<T> {
  total: number;
  items: (T | Damaged)[];
}

/** A page that ends where the next item would make it too large; one item it always has. */
export function fitting<T>(total: number, items: (T | Damaged)[]): Page<T> {
  let bytes = 0;
  const last = items.findIndex((item, i) => {
    bytes += JSON.stringify(item).length;
    return i > 0 && bytes > PAGE_BYTES;
  });
  return { total, items: last < 0 ? items : items.slice(0, last) };
}

/** Part of a file in its order, or from its end. */
export async function pageOf<T extends object>(
  index: RecordIndex<T>,
  { offset, limit }: Paging,
  newestFirst = false,
): Promise<Page<T>> {
  await index.refresh();
  const total = index.length;
  const items = newestFirst
    ? (await index.read(total - offset - limit, total - offset)).reverse()
    : await index.read(offset, offset + limit);
  return fitting(total, items);
}

/** The same of the records that are wanted; damaged lines are left out, save those that are wanted by what they tell. */
export async function wantedOf<T extends object>(
  index: RecordIndex<T>,
  { offset, limit }: Paging,
  wanted: (record: T) => boolean,
  newestFirst = false,
  wantedDamaged: (said: Said) => boolean = () => false,
): Promise<Page<T>> {
  await index.refresh();
  const items: (T | Damaged)[] = [];
  let total = 0;
  const length = index.length;
  for (let from = 0; from < length; from += BLOCK) {
    const block = newestFirst
      ? (await index.read(Math.max(0, length - from - BLOCK), length - from)).reverse()
      : await index.read(from, from + BLOCK);
    for (const record of block) {
      if (isDamaged(record) ? !wantedDamaged(saidBy(record)) : !wanted(record)) continue;
      if (total >= offset && items.length < limit) items.push(record);
      total++;
    }
  }
  return fitting(total, items);
}

/** Whether an episode is meant by a filter. */
export function episodeWanted(filter: EpisodeFilter): (episode: EpisodeRecord) => boolean {
  return (episode) => {
    if (filter.task !== undefined && !episode.task.includes(filter.task)) return false;
    if (filter.init !== undefined && episode.init !== filter.init) return false;
    if (filter.outcome === undefined) return true;
    const outcome = !episode.valid ? 'invalid' : succeeded(episode) ? 'success' : 'failure';
    return outcome === filter.outcome;
  };
}

/** The same for a damaged one: where a group is meant, and it tells that it is of that group. Nobody knows its outcome. */
export function damagedWanted({ task, init, outcome }: EpisodeFilter): (said: Said) => boolean {
  const group = task !== undefined && init !== undefined && outcome === undefined;
  return (said) => group && said.task === task && said.init === init;
}

/**
 * Groups of a section: those of the round's plan first, also before they were played, then others as they come, then
 * damaged lines that do not tell their group. An unfinished last line is just being written.
 */
export async function groupsOf(recording: Recording, section: string): Promise<(GroupSummary | Damaged)[]> {
  const round = roundOf(section);
  const plan = round === undefined ? undefined : await recording.plan(round);
  const known = plan && !isDamaged(plan) ? plan : undefined;
  const groups = new Map<string, { summary: GroupSummary; rewards: number[] }>();
  const groupFor = (task: string, init: number) => {
    const name = `${task} ${init}`;
    let found = groups.get(name);
    if (!found) {
      const none = { episodes: 0, successes: 0, invalid: 0, meanReward: null, planned: null };
      found = { summary: { task, init, ...none, signal: round === undefined ? null : false }, rewards: [] };
      groups.set(name, found);
    }
    return found;
  };
  for (const { task, init } of known?.groups ?? []) groupFor(task, init).summary.planned = known?.attempts ?? null;
  const nowhere: Damaged[] = [];
  const index = await recording.episodes(section);
  await index.refresh();
  for await (const episode of index) {
    if (isDamaged(episode)) {
      const { task, init } = saidBy(episode);
      if (task !== undefined && init !== undefined) {
        const { summary } = groupFor(task, init);
        summary.unread = (summary.unread ?? 0) + 1;
      } else if (!episode.torn) nowhere.push(episode);
      continue;
    }
    const { summary, rewards } = groupFor(episode.task, episode.init);
    summary.episodes++;
    if (!episode.valid) summary.invalid++;
    else {
      rewards.push(episode.reward);
      if (episode.reward >= SUCCESS_REWARD) summary.successes++;
    }
  }
  const told = [...groups.values()].map(({ summary, rewards }) => ({
    ...summary,
    meanReward: rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length,
    signal: summary.signal === null ? null : rewards.some((reward) => reward !== rewards[0]),
  }));
  return [...told, ...nowhere];
}

/** Whether a group is meant by a filter: an outcome that one of its episodes has. A damaged line tells none, and no task. */
export function groupWanted(filter: EpisodeFilter): (group: GroupSummary | Damaged) => boolean {
  return (group) => {
    if (isDamaged(group)) return false;
    if (filter.task !== undefined && !group.task.includes(filter.task)) return false;
    if (filter.init !== undefined && group.init !== filter.init) return false;
    if (filter.outcome === 'success') return group.successes > 0;
    if (filter.outcome === 'invalid') return group.invalid > 0;
    return filter.outcome === undefined || group.episodes > group.successes + group.invalid;
  };
}

/** Calls of an episode by turn, without their texts, each with its sample where it has one. */
export async function callsOf(
  recording: Recording,
  section: string,
  episode: string,
): Promise<(CallSummary | Damaged)[]> {
  const index = await recording.calls(section);
  await index.refresh();
  const calls = await index.forEpisode(episode);
  const turn = (call: CallRecord | Damaged) => (isDamaged(call) ? Number.POSITIVE_INFINITY : call.turn);
  calls.sort((a, b) => turn(a) - turn(b));
  const sampled = await samplesOf(recording, section, episode);
  return calls.map((call) => (isDamaged(call) ? call : summaryOf(call, sampled.get(call.id) ?? null)));
}

async function samplesOf(recording: Recording, section: string, episode: string): Promise<Map<string, SampleRecord>> {
  const round = roundOf(section);
  if (round === undefined) return new Map();
  const index = await recording.samples(round);
  await index.refresh();
  const samples = await index.forEpisode(episode);
  return new Map(samples.flatMap((sample) => (isDamaged(sample) ? [] : [[sample.call, sample]])));
}

function summaryOf(call: CallRecord, sample: SampleRecord | null): CallSummary {
  const { id, episode, turn, status, finishReason, policyVersion, startedAt } = call;
  return {
    id,
    episode,
    turn,
    status,
    finishReason,
    policyVersion,
    promptTokens: call.prompt?.length ?? call.usage?.prompt_tokens ?? null,
    responseTokens: call.responseTokenIds?.length ?? call.usage?.completion_tokens ?? null,
    duration: call.durations.total,
    startedAt,
    tools: call.response?.toolCalls.map((tool) => tool.function.name) ?? [],
    sample,
  };
}

/** The round of a section `rounds/0001`; undefined for others. */
export function roundOf(section: string): number | undefined {
  const digits = /^rounds\/(\d{4,9})$/.exec(section)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
