/** One opening of a file of records: the file, and where its lines are. */
import type { FileHandle } from 'node:fs/promises';
import type { FileState } from './index-cache.ts';
import { NumberList, PlaceTable } from './place-table.ts';

/** One opening of the file with what was found in it. A file that was replaced is opened and scanned anew. */
export class Snapshot {
  readonly file: FileHandle | undefined;
  readonly problem: string | undefined;
  readonly identity: string;
  readonly starts = new NumberList();
  readonly ids = new PlaceTable();
  readonly episodes = new PlaceTable();
  /** End of the last whole line. */
  end = 0;
  /** Bytes of an unfinished line after it. */
  unfinished = 0;
  /** The file before the last scan of it. */
  seen: FileState = { size: 0, mtimeMs: 0 };
  /** End of what is in the index that is kept for other programs. */
  kept = 0;
  /** Start of the last whole line, to notice that a file was cut and written again. */
  lastHead: Buffer = Buffer.alloc(0);
  private readers = 0;
  private retired = false;
  private closed = false;

  constructor(file: FileHandle | undefined, identity: string, problem?: string) {
    this.file = file;
    this.identity = identity;
    this.problem = problem;
  }

  /** Reads while the file is sure to stay open. */
  async use<R>(work: (file: FileHandle) => Promise<R>, closed: R): Promise<R> {
    const { file } = this;
    if (!file || (this.retired && this.readers === 0)) return closed;
    return this.hold(() => work(file));
  }

  /** Keeps the file open over several reads, also when another one takes its place meanwhile. */
  async hold<R>(work: () => Promise<R>): Promise<R> {
    this.readers++;
    try {
      return await work();
    } finally {
      this.readers--;
      await this.closeUnused();
    }
  }

  async retire(): Promise<void> {
    if (this.retired) return;
    this.retired = true;
    await this.closeUnused();
  }

  private async closeUnused(): Promise<void> {
    if (!this.retired || this.readers > 0 || this.closed) return;
    this.closed = true;
    await this.file?.close();
  }
}
