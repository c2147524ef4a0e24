/** The attempts of a group: all episodes of one section with the same task and initial state. */
import type { EpisodeRecord } from '../../protocol/records.ts';
import { type Damaged, isDamaged, saidBy } from '../documents.ts';
import { originOf, type RecordIndex } from '../record-index.ts';

export interface ReplayAttempt {
  id: string;
  attempt: number;
  /** Above 0 for an attempt that was repeated after infrastructure lost it. */
  tryNumber: number;
  reward: number;
  valid: boolean;
  invalidReason: string | null;
  successTurn: number | null;
  turns: number;
}

/** An attempt of a group that has no record, or one that cannot be read: nobody knows its reward. */
export interface LackingAttempt {
  /** Null where there is nothing of it. */
  id: string | null;
  /** Null where a damaged record does not tell it. */
  attempt: number | null;
  reason: string;
}

export interface ReplayGroup {
  attempts: ReplayAttempt[];
  lacking: LackingAttempt[];
}

/** What is kept of each record of episodes.jsonl, so that it is read through once, and later only what was appended. */
interface Known {
  first: EpisodeRecord | undefined;
  lines: number;
  /** By task and initial state. */
  groups: Map<string, Map<string, ReplayAttempt | LackingAttempt>>;
}
const known = new WeakMap<RecordIndex<EpisodeRecord>, Known>();

const keyOf = (task: string, init: number) => JSON.stringify([task, init]);

/** Ids of ours end with attempt and try, see `episodeId`. */
const OUR_ID = /^([0-9a-f]{8}\..+\.i\d+)\.a\d+\.\d+$/;
/** Attempts may lack, as many as this in a row: they are running, or their records are damaged. */
const GAP = 16;
/** Attempts without a record are told up to this one. */
const MOST_LACKING = 64;

/**
 * The group of an episode by attempt and try; of an id that is there twice the last record counts. Where ids are ours, only
 * the group's records are read, however many there are; others are looked for among all of the section.
 * @param planned attempts that the group has when it is whole; null where no plan tells.
 */
export async function groupOf(
  index: RecordIndex<EpisodeRecord>,
  episode: EpisodeRecord,
  planned: number | null,
): Promise<ReplayGroup> {
  const [, group] = OUR_ID.exec(episode.id) ?? [];
  const found = group === undefined ? await groupAmongAll(index, episode) : await groupById(index, episode, group);
  // Who does not tell its attempt may be any of those that are not there.
  if (found.lacking.some(({ attempt }) => attempt === null)) return found;
  const there = new Set([...found.attempts, ...found.lacking].map(({ attempt }) => attempt ?? -1));
  const most = Math.min(Math.max(planned ?? 0, ...[...there].map((attempt) => attempt + 1)), MOST_LACKING);
  for (let attempt = 0; attempt < most; attempt++)
    if (!there.has(attempt)) found.lacking.push({ id: null, attempt, reason: 'it has no record' });
  found.lacking.sort((a, b) => (a.attempt ?? 0) - (b.attempt ?? 0));
  return found;
}

async function groupById(
  index: RecordIndex<EpisodeRecord>,
  episode: EpisodeRecord,
  group: string,
): Promise<ReplayGroup> {
  const { task, init } = episode;
  const found: ReplayAttempt[] = [];
  const damaged: LackingAttempt[] = [];
  for (let attempt = 0, lacking = 0; lacking < GAP; attempt++) {
    let any = false;
    for (let tryNumber = 0, missing = 0; missing < 2; tryNumber++) {
      const record = await index.byId(`${group}.a${attempt}.${tryNumber}`);
      missing = record === undefined ? missing + 1 : 0;
      if (record === undefined) continue;
      any = true;
      if (isDamaged(record)) {
        const reason = reasonOf(record);
        damaged.push({ id: `${group}.a${attempt}.${tryNumber}`, attempt, reason });
      } else if (record.task === task && record.init === init) found.push(attemptOf(record));
    }
    lacking = any ? 0 : lacking + 1;
  }
  // Far behind a gap, or under an id that does not say what it is.
  if (!found.some(({ id }) => id === episode.id)) found.push(attemptOf(episode));
  return { attempts: found, lacking: damaged };
}

async function groupAmongAll(
  index: RecordIndex<EpisodeRecord>,
  { task, init }: Pick<EpisodeRecord, 'task' | 'init'>,
): Promise<ReplayGroup> {
  let state = known.get(index);
  // A file that was replaced is read anew.
  if (!state || (state.first && !originOf(state.first))) state = { first: undefined, lines: 0, groups: new Map() };
  known.set(index, state);
  while (state.lines < index.length) {
    const records: (EpisodeRecord | Damaged)[] = await index.read(state.lines, state.lines + 256);
    if (records.length === 0) break;
    for (const record of records) {
      // An unfinished line is looked at again when it is whole.
      if (isDamaged(record) && record.torn) return listed(state, task, init);
      state.lines++;
      const said = isDamaged(record) ? saidBy(record) : record;
      if (said.task === undefined || said.init === undefined) continue;
      if (!isDamaged(record)) state.first ??= record;
      const key = keyOf(said.task, said.init);
      const group = state.groups.get(key) ?? new Map<string, ReplayAttempt | LackingAttempt>();
      const { id = null, attempt = null } = said;
      const told = isDamaged(record) ? { id, attempt, reason: reasonOf(record) } : attemptOf(record);
      state.groups.set(key, group.set(id ?? `line ${state.lines}`, told));
    }
  }
  return listed(state, task, init);
}

function listed(state: Known, task: string, init: number): ReplayGroup {
  const group = [...(state.groups.get(keyOf(task, init))?.values() ?? [])];
  const attempts = group.filter((one): one is ReplayAttempt => !('reason' in one));
  attempts.sort((a, b) => a.attempt - b.attempt || a.tryNumber - b.tryNumber);
  return { attempts, lacking: group.filter((one) => 'reason' in one) };
}

function reasonOf({ line, damaged }: Damaged): string {
  return `episodes.jsonl, line ${line}: ${damaged}`;
}

function attemptOf(record: EpisodeRecord): ReplayAttempt {
  const { id, attempt, tryNumber, reward, valid, invalidReason, successTurn, turns } = record;
  return { id, attempt, tryNumber, reward, valid, invalidReason, successTurn, turns };
}
