/** What writes a run directory (design section 3.1). Implemented in this folder; reading lies in recordings/. */
import type { JournalEvent, JournalLine } from '../../protocol/journal.ts';
import type { EpisodeRecord, ResolvedCall, RunInfo } from '../../protocol/records.ts';

/** Takes recorded calls. */
export interface CallSink {
  /**
   * Stores bodies and images not stored yet and appends the call's record. Resolves when everything is on disk
   * (fsynced; concurrent appends share one flush). Message parts with `data:` image URLs are moved to blobs/.
   * @throws StoreError when the disk is full or the record breaks its schema; then nothing of the record counts.
   */
  appendCall(call: ResolvedCall): Promise<void>;
}

/** One folder of records: `teacher`, `rounds/0001`, `evaluations/<id>`, `sft`. */
export interface Section extends CallSink {
  readonly name: string;
  /** Absolute path. */
  readonly directory: string;
  appendEpisode(episode: EpisodeRecord): Promise<void>;
  /** Appends records (one JSON line each) to a file of the section and flushes. */
  appendLines(file: string, records: unknown[]): Promise<void>;
  /** Replaces a whole file of JSON lines atomically (for stages that are redone from the start on resume). */
  replaceLines(file: string, records: Iterable<unknown>): Promise<void>;
  /** Writes a JSON document atomically. */
  writeJson(file: string, value: unknown): Promise<void>;
  /**
   * Moves calls whose episode has no episode record from calls.jsonl to interrupted.jsonl, so that such episodes can
   * run again under the same ids. Returns how many calls were moved.
   */
  setAsideUnfinished(): Promise<number>;
  /** Closes the section's files; what is appended later opens them again. */
  release(): Promise<void>;
}

export interface RunStore {
  readonly directory: string;
  readonly info: RunInfo;
  /** Created on first use. */
  section(name: string): Section;
  /** Appends to the journal; resolves when on disk. Sequence numbers start at 1 and have no gaps. */
  journal(event: JournalEvent): Promise<JournalLine>;
  /** Last sequence number on disk; 0 for a new run. */
  readonly seq: number;
  /** What was repaired when the run was opened: torn last lines dropped, by file. */
  readonly repairs: { file: string; bytes: number }[];
  /** Flushes, releases the run's lock. */
  close(): Promise<void>;
}

export class StoreError extends Error {}
