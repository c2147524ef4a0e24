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

/** The group of a task and initial state by attempt and try; of an id that is there twice the last record counts. */
export async function attemptsOf(
  index: RecordIndex<EpisodeRecord>,
  { task, init }: { task: string; init: number },
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
