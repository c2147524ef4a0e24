/** The attempts of a group: all episodes of one section with the same task and initial state. */
import type { EpisodeRecord } from '../../protocol/records.ts';
import { type Damaged, isDamaged } from '../documents.ts';
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

/** What is kept of each record of episodes.jsonl, so that it is read through once, and later only what was appended. */
interface Known {
  first: EpisodeRecord | undefined;
  lines: number;
  /** By task and initial state. */
  groups: Map<string, Map<string, ReplayAttempt>>;
}
const known = new WeakMap<RecordIndex<EpisodeRecord>, Known>();

const keyOf = (task: string, init: number) => JSON.stringify([task, init]);

/** Ids of ours end with attempt and try, see `episodeId`. */
const OUR_ID = /^([0-9a-f]{8}\..+\.i\d+)\.a\d+\.\d+$/;
/** Attempts may lack, as many as this in a row: they are running, or their records are damaged. */
const GAP = 16;

/**
 * The group of an episode by attempt and try; of an id that is there twice the last record counts. Where ids are ours, only
 * the group's records are read, however many there are; others are looked for among all of the section.
 */
export async function attemptsOf(index: RecordIndex<EpisodeRecord>, episode: EpisodeRecord): Promise<ReplayAttempt[]> {
  const [, group] = OUR_ID.exec(episode.id) ?? [];
  return group === undefined ? attemptsAmongAll(index, episode) : attemptsById(index, episode, group);
}

async function attemptsById(
  index: RecordIndex<EpisodeRecord>,
  episode: EpisodeRecord,
  group: string,
): Promise<ReplayAttempt[]> {
  const { task, init } = episode;
  const found: ReplayAttempt[] = [];
  for (let attempt = 0, lacking = 0; lacking < GAP; attempt++) {
    let any = false;
    for (let tryNumber = 0, missing = 0; missing < 2; tryNumber++) {
      const record = await index.byId(`${group}.a${attempt}.${tryNumber}`);
      missing = record === undefined ? missing + 1 : 0;
      if (record === undefined) continue;
      any = true;
      if (!isDamaged(record) && record.task === task && record.init === init) found.push(attemptOf(record));
    }
    lacking = any ? 0 : lacking + 1;
  }
  // Far behind a gap, or under an id that does not say what it is.
  if (!found.some(({ id }) => id === episode.id)) found.push(attemptOf(episode));
  return found;
}

async function attemptsAmongAll(
  index: RecordIndex<EpisodeRecord>,
  { task, init }: Pick<EpisodeRecord, 'task' | 'init'>,
): Promise<ReplayAttempt[]> {
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
      if (isDamaged(record)) continue;
      state.first ??= record;
      const key = keyOf(record.task, record.init);
      const group = state.groups.get(key) ?? new Map<string, ReplayAttempt>();
      state.groups.set(key, group.set(record.id, attemptOf(record)));
    }
  }
  return listed(state, task, init);
}

function listed(state: Known, task: string, init: number): ReplayAttempt[] {
  const group = state.groups.get(keyOf(task, init))?.values() ?? [];
  return [...group].sort((a, b) => a.attempt - b.attempt || a.tryNumber - b.tryNumber);
}

function attemptOf(record: EpisodeRecord): ReplayAttempt {
  const { id, attempt, tryNumber, reward, valid, invalidReason, successTurn, turns } = record;
  return { id, attempt, tryNumber, reward, valid, invalidReason, successTurn, turns };
}
