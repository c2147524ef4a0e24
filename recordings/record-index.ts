/**
 * Records of one file of JSON lines, read where they lie: a scan notes where each line starts and hashes of its ids,
 * and a record is read and checked only when it is asked for. The file may grow meanwhile.
 */
import { lstat } from 'node:fs/promises';
import type { z } from 'zod';
import { checkRecord, type Damaged, isDamaged, parseJson } from './documents.ts';
import { keepIndex, loadIndex, WORTH_KEEPING } from './index-cache.ts';
import { HEAD_BYTES, headKeys, LONGEST_LINE, readBytes, scanLines } from './lines.ts';
import { hashKey, NumberList } from './place-table.ts';
import { isUnreadable, openPlainFile } from './plain-file.ts';
import { Snapshot } from './snapshot.ts';

/** What the lines of a file are. */
export interface RecordKind<T> {
  schema: z.ZodType<T>;
  /** Field that names a record, for `byId`. */
  id?: string;
  /** Field that names the episode a record belongs to, for `forEpisode`. */
  episode?: string;
}

/** Where a record was read. */
export interface Origin<T extends object> {
  index: RecordIndex<T>;
  /** Line, from 0. */
  position: number;
  /** Stands for one opening of the file; another one when the file was replaced. */
  snapshot: object;
}
const origins = new WeakMap<object, Origin<object>>();

/** Where a record was read; undefined when it comes from elsewhere or its file was replaced since. */
export function originOf<T extends object>(record: T): Origin<T> | undefined {
  const origin = origins.get(record);
  // What an index of T read is filed under T.
  return origin?.index.isCurrent(origin.snapshot) ? (origin as unknown as Origin<T>) : undefined;
}

/** Bytes that are read at once when records are read in a row. */
const BATCH = 4 * 1024 * 1024;

export class RecordIndex<T extends object> {
  readonly path: string;
  private readonly root: string;
  private readonly kind: RecordKind<T>;
  private snapshot = new Snapshot(undefined, '');
  private refreshing: Promise<unknown> = Promise.resolve();
  private keeping: Promise<void> = Promise.resolve();

  private constructor(root: string, path: string, kind: RecordKind<T>) {
    this.root = root;
    this.path = path;
    this.kind = kind;
  }

  /** Scans a file of the run directory `root`; one that does not exist yet has no records. */
  static async open<T extends object>(root: string, path: string, kind: RecordKind<T>): Promise<RecordIndex<T>> {
    const index = new RecordIndex(root, path, kind);
    await index.refresh();
    return index;
  }

  /** Lines found at the last refresh, damaged ones and an unfinished last one included. */
  get length(): number {
    const { problem, starts, unfinished } = this.snapshot;
    if (problem !== undefined) return 1;
    return starts.length + (unfinished > 0 ? 1 : 0);
  }

  /**
   * The record of line `position` (0-based).
   * @throws RangeError when there is no such line.
   */
  async get(position: number): Promise<T | Damaged> {
    if (!Number.isInteger(position) || position < 0 || position >= this.length) {
      throw new RangeError(`${this.path} has ${this.length} records, there is no record ${position}`);
    }
    return (await this.read(position, position + 1))[0];
  }

  /** The records of lines `from` to `to` (exclusive), as far as there are such lines. */
  read(from = 0, to = this.length): Promise<(T | Damaged)[]> {
    const { snapshot } = this;
    return snapshot.hold(() => this.readFrom(snapshot, Math.max(0, from), Math.min(to, this.length)));
  }

  private async readFrom(snapshot: Snapshot, from: number, last: number): Promise<(T | Damaged)[]> {
    const records: (T | Damaged)[] = [];
    for (let first = from; first < last; ) {
      const problem = this.problemOf(snapshot, first);
      if (problem) {
        records.push(problem);
        first++;
        continue;
      }
      const start = snapshot.starts.at(first);
      let next = first + 1;
      while (next < last && !this.problemOf(snapshot, next) && this.endOf(snapshot, next) - start <= BATCH) next++;
      const length = this.endOf(snapshot, next - 1) - start;
      const bytes = await snapshot
        .use((file) => readBytes(file, start, length), Buffer.alloc(0))
        .catch((error: Error) => error);
      for (; first < next; first++) records.push(this.parse(snapshot, first, bytes, start));
    }
    return records;
  }

  /** All records in order, read a few at a time. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T | Damaged> {
    for (let from = 0; from < this.length; from += 64) yield* await this.read(from, from + 64);
  }

  /**
   * The record with this id; of several the last one.
   * @param before only lines before this position count.
   */
  byId(id: string, before = Number.POSITIVE_INFINITY): Promise<T | Damaged | undefined> {
    const { snapshot } = this;
    return snapshot.hold(async () => {
      for await (const record of this.withId(snapshot, id, before)) return record;
      return undefined;
    });
  }

  /** All records with this id in file order (the scores of a call, one a pass), and damaged lines that may have it. */
  allById(id: string): Promise<(T | Damaged)[]> {
    const { snapshot } = this;
    return snapshot.hold(async () => {
      const found: (T | Damaged)[] = [];
      for await (const record of this.withId(snapshot, id, Number.POSITIVE_INFINITY)) found.push(record);
      return found.reverse();
    });
  }

  /** The records of an episode in file order; of several with one id the last one. */
  forEpisode(episode: string): Promise<(T | Damaged)[]> {
    const { snapshot } = this;
    return snapshot.hold(async () => {
      const found: (T | Damaged)[] = [];
      const seen = new Set<unknown>();
      for (const line of snapshot.episodes.lines(hashKey(episode))) {
        const [record] = await this.readFrom(snapshot, line, line + 1);
        if (!isDamaged(record)) {
          const id = this.field(record, this.kind.id);
          if (this.field(record, this.kind.episode) !== episode || seen.has(id)) continue;
          if (id !== undefined) seen.add(id);
        }
        found.push(record);
      }
      return found.reverse();
    });
  }

  /** Records with this id before a position, last first. */
  private async *withId(snapshot: Snapshot, id: string, before: number): AsyncGenerator<T | Damaged> {
    for (const line of snapshot.ids.lines(hashKey(id))) {
      if (line >= before) continue;
      const [record] = await this.readFrom(snapshot, line, line + 1);
      if (isDamaged(record) || this.field(record, this.kind.id) === id) yield record;
    }
  }

  /** Picks up what was appended, or the whole file when it was replaced. True when there is anything new. */
  refresh(): Promise<boolean> {
    const result = this.refreshing.then(() => this.refreshNow());
    this.refreshing = result.catch(() => {});
    return result;
  }

  async close(): Promise<void> {
    await this.refreshing;
    await this.keeping;
    await this.snapshot.retire();
  }

  /** Whether an {@link Origin.snapshot} is what this index reads now. */
  isCurrent(snapshot: object): boolean {
    return snapshot === this.snapshot;
  }

  private async refreshNow(): Promise<boolean> {
    const old = this.snapshot;
    const identity = await identityOf(this.path);
    if (old.problem !== undefined || identity !== old.identity || !(await this.stillGrowing(old))) {
      const fresh = await this.openSnapshot(identity);
      await this.restore(fresh);
      await this.scan(fresh);
      this.keep(fresh);
      this.snapshot = fresh;
      await old.retire();
      return true;
    }
    const before = [old.end, old.unfinished];
    await this.scan(old);
    this.keep(old);
    return old.end !== before[0] || old.unfinished !== before[1];
  }

  private async openSnapshot(identity: string): Promise<Snapshot> {
    const opened = await openPlainFile(this.root, this.path);
    if (opened === undefined) return new Snapshot(undefined, '');
    if (isUnreadable(opened)) return new Snapshot(undefined, identity, opened.unreadable);
    const { dev, ino } = await opened.stat();
    return new Snapshot(opened, `${dev}:${ino}`);
  }

  /** Whether all that was scanned is still there. */
  private async stillGrowing(snapshot: Snapshot): Promise<boolean> {
    if (snapshot.starts.length === 0) return true;
    const start = snapshot.starts.at(snapshot.starts.length - 1);
    return snapshot
      .use(async (file) => {
        const { size } = await file.stat();
        if (size < snapshot.end) return false;
        const head = await readBytes(file, start, snapshot.lastHead.length);
        const newline = await readBytes(file, snapshot.end - 1, 1);
        return head.equals(snapshot.lastHead) && newline[0] === 10;
      }, false)
      .catch(() => false);
  }

  /** Begins with what another program found in the file. */
  private async restore(snapshot: Snapshot): Promise<void> {
    const { id, episode } = this.kind;
    const found = await snapshot.use((file) => loadIndex(this.path, { id, episode }, file), undefined);
    if (!found) return;
    const { starts, ids, episodes, end } = found;
    snapshot.starts.adopt(starts);
    snapshot.ids.adopt(ids);
    snapshot.episodes.adopt(episodes);
    snapshot.end = end;
    snapshot.kept = end;
    snapshot.lastHead = await this.headOfLast(snapshot);
  }

  /** Keeps what was found for other programs, where scanning it again takes long. Nobody waits for it but `close`. */
  private keep(snapshot: Snapshot): void {
    const { starts, ids, episodes, end, seen } = snapshot;
    if (end - snapshot.kept < WORTH_KEEPING) return;
    snapshot.kept = end;
    const { id, episode } = this.kind;
    // Copies: the index grows on meanwhile.
    const found = { starts: starts.view.slice(), ids: ids.view.slice(), episodes: episodes.view.slice(), end };
    this.keeping = this.keeping.then(() =>
      snapshot.use((file) => keepIndex(this.path, { id, episode }, file, found, seen), undefined),
    );
  }

  private async scan(snapshot: Snapshot): Promise<void> {
    const { id, episode } = this.kind;
    const keyed = id !== undefined || episode !== undefined;
    const read = headKeys(id ?? episode ?? 'id', id === undefined ? undefined : episode);
    const keys = { first: Number.NaN, second: Number.NaN };
    const starts = new NumberList();
    const ids = new NumberList();
    const episodes = new NumberList();
    const first = snapshot.starts.length;
    const unknown: number[] = [];
    const found = await snapshot
      .use(async (file) => {
        snapshot.seen = await file.stat();
        return scanLines(file, snapshot.end, (line) => {
          starts.push(line.offset);
          if (!keyed) return;
          const known = read(line, keys);
          if (!known) unknown.push(ids.length);
          ids.push(known && id !== undefined ? keys.first : Number.NaN);
          const group = id === undefined ? keys.first : keys.second;
          episodes.push(known && episode !== undefined ? group : Number.NaN);
        });
      }, undefined)
      .catch(() => undefined);
    if (!found) return; // no file, or a disk that fails: what was known stays
    for (let line = 0; line < starts.length; line++) snapshot.starts.push(starts.at(line));
    snapshot.end = found.end;
    snapshot.unfinished = found.unfinished;
    if (starts.length > 0) snapshot.lastHead = await this.headOfLast(snapshot);
    for (const line of unknown) {
      const record = await this.rawLine(snapshot, first + line);
      ids.set(line, keyOf(record, id));
      episodes.set(line, keyOf(record, episode));
    }
    for (let line = 0; line < ids.length; line++) {
      if (id !== undefined) snapshot.ids.add(ids.at(line));
      if (episode !== undefined) snapshot.episodes.add(episodes.at(line));
    }
  }

  private async headOfLast(snapshot: Snapshot): Promise<Buffer> {
    const last = snapshot.starts.length - 1;
    const start = snapshot.starts.at(last);
    const length = Math.min(HEAD_BYTES, this.endOf(snapshot, last) - start);
    return snapshot.use((file) => readBytes(file, start, length), Buffer.alloc(0)).catch(() => Buffer.alloc(0));
  }

  /** A line that is written in another way than ours, parsed to learn its ids. */
  private async rawLine(snapshot: Snapshot, line: number): Promise<unknown> {
    if (this.problemOf(snapshot, line)) return undefined;
    const start = snapshot.starts.at(line);
    const length = this.endOf(snapshot, line) - start;
    const bytes = await snapshot
      .use((file) => readBytes(file, start, length), Buffer.alloc(0))
      .catch(() => Buffer.alloc(0));
    const parsed = parseJson(bytes, line + 1);
    return 'damaged' in parsed ? undefined : parsed.value;
  }

  /** End of a whole line, without its newline. */
  private endOf(snapshot: Snapshot, line: number): number {
    return (line + 1 < snapshot.starts.length ? snapshot.starts.at(line + 1) : snapshot.end) - 1;
  }

  /** Why a line is not to be read at all. */
  private problemOf(snapshot: Snapshot, line: number): Damaged | undefined {
    if (snapshot.problem !== undefined) return { damaged: snapshot.problem, line: 0 };
    if (line >= snapshot.starts.length) {
      const bytes = snapshot.unfinished;
      return { damaged: `unfinished last line of ${bytes} bytes (being written, or torn)`, line: line + 1, torn: true };
    }
    const length = this.endOf(snapshot, line) - snapshot.starts.at(line);
    if (length <= LONGEST_LINE) return undefined;
    return { damaged: `a line of ${length} bytes is too long to be a record`, line: line + 1 };
  }

  /** @param bytes the file from byte `start` on, or why it could not be read. */
  private parse(snapshot: Snapshot, line: number, bytes: Buffer | Error, start: number): T | Damaged {
    if (bytes instanceof Error) return { damaged: `could not be read: ${bytes.message}`, line: line + 1 };
    const from = snapshot.starts.at(line) - start;
    const to = this.endOf(snapshot, line) - start;
    if (to > bytes.length) return { damaged: 'the file was closed or cut while it was being read', line: line + 1 };
    const parsed = parseJson(bytes.subarray(from, to), line + 1);
    if ('damaged' in parsed) return parsed;
    const record = checkRecord(parsed.value, this.kind.schema, line + 1);
    if (!isDamaged(record)) {
      origins.set(record, { index: this as unknown as RecordIndex<object>, position: line, snapshot });
    }
    return record;
  }

  private field(record: T, name: string | undefined): unknown {
    return name === undefined ? undefined : (record as Record<string, unknown>)[name];
  }
}

function keyOf(record: unknown, field: string | undefined): number {
  if (field === undefined || typeof record !== 'object' || record === null) return Number.NaN;
  const value = (record as Record<string, unknown>)[field];
  return typeof value === 'string' ? hashKey(value) : Number.NaN;
}

/** Tells one file from another in the same place; empty when there is none. */
async function identityOf(path: string): Promise<string> {
  try {
    const { dev, ino } = await lstat(path);
    return `${dev}:${ino}`;
  } catch {
    return '';
  }
}
