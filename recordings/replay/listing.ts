/** The episodes of a section as lists show them: those that ended, and those whose record is damaged or not there (yet). */
import type { EpisodeRecord } from '../../protocol/records.ts';
import { isDamaged, saidBy } from '../documents.ts';
import type { Recording } from '../recording.ts';

export interface ListedEpisode {
  /** Null for a damaged line that does not even tell its id: it cannot be opened. */
  id: string | null;
  /** `running`: it has calls and no record yet. `unfinished`: it has none although its run has ended. */
  state: 'ended' | 'damaged' | 'running' | 'unfinished';
  record: EpisodeRecord | null;
  /** Null as far as nothing tells it. */
  task: string | null;
  init: number | null;
  attempt: number | null;
  /** Why a damaged record cannot be read, with its line; null for the others. */
  damaged: string | null;
}

/** Lines at the end of a file of calls among which episodes are looked for that have no record. */
const RECENT = 256;
/** Records read at a time. */
const BLOCK = 256;

/**
 * Lists a section's episodes in the order of their lines (of several with one id the last one counts), then those without
 * a record. An unfinished last line counts as none: it is just being written.
 * @param most lines of episodes.jsonl that are looked at, the last ones.
 */
export async function listedEpisodes(
  recording: Recording,
  section: string,
  most = Number.POSITIVE_INFINITY,
): Promise<ListedEpisode[]> {
  const index = await recording.episodes(section);
  const found = new Map<string, ListedEpisode>();
  const { length } = index;
  for (let from = Math.max(0, length - most); from < length; from += BLOCK) {
    for (const record of await index.read(from, Math.min(from + BLOCK, length))) {
      if (!isDamaged(record)) {
        const { id, task, init, attempt } = record;
        found.set(id, { id, state: 'ended', record, task, init, attempt, damaged: null });
        continue;
      }
      if (record.torn) continue;
      const { id = null, task = null, init = null, attempt = null } = saidBy(record);
      const damaged = `episodes.jsonl, line ${record.line}: ${record.damaged}`;
      found.set(id ?? `line ${record.line}`, { id, state: 'damaged', record: null, task, init, attempt, damaged });
    }
  }
  const state = (await isOver(recording)) ? 'unfinished' : 'running';
  const calls = await recording.calls(section);
  const recent = new Set<string>();
  for (const call of await calls.read(calls.length - RECENT)) if (!isDamaged(call)) recent.add(call.episode);
  const none = { record: null, task: null, init: null, attempt: null, damaged: null };
  for (const id of recent) {
    if (found.has(id) || (await index.byId(id)) !== undefined) continue;
    found.set(id, { id, state, ...none });
  }
  return [...found.values()];
}

/** Nobody writes the run now, as its journal says. One that was stopped can be resumed, and says so then. */
export async function isOver(recording: Recording): Promise<boolean> {
  const journal = await recording.journal();
  const last = journal.length > 0 ? await journal.get(journal.length - 1) : undefined;
  return last !== undefined && !isDamaged(last) && /^run-(finished|stopped|failed)$/.test(last.event.type);
}
