/**
 * One append-only file with group commit: all appends that wait while a flush is under way share the next write and the
 * next flush. An append that fails leaves the file as it was.
 */
import { dirname } from 'node:path';
import { StoreError } from './contract.ts';
import { errorCode, storeError } from './disk-trouble.ts';
import { CREATE, type FileLayer, type OpenFile, READ_WRITE, syncDirectory, writeAll } from './files.ts';
import { wholeLength } from './tail.ts';

/** A batch takes no further append beyond this many bytes. */
const LARGEST_BATCH = 16 * 1024 * 1024;

interface Waiting {
  bytes: Buffer;
  resolve: () => void;
  reject: (error: Error) => void;
}

export class AppendFile {
  readonly path: string;
  /** Bytes of a torn end that were cut off on opening. */
  readonly dropped: number;
  private readonly file: OpenFile;
  /** Everything before this offset is whole and on disk. */
  private length: number;
  /** Bytes beyond `length` may be in the file: a failed write could not be undone yet. */
  private soiled = false;
  private readonly queue: Waiting[] = [];
  private running: Promise<void> | undefined;
  private closed = false;

  private constructor(path: string, file: OpenFile, length: number, dropped: number) {
    this.path = path;
    this.file = file;
    this.length = length;
    this.dropped = dropped;
  }

  /**
   * Opens the file, creates it when it is missing, and cuts off a torn last line.
   * @throws StoreError when that is not possible.
   */
  static async open(path: string, files: FileLayer): Promise<AppendFile> {
    let file: OpenFile | undefined;
    try {
      try {
        file = await files.open(path, READ_WRITE);
      } catch (error) {
        if (errorCode(error) !== 'ENOENT') throw error;
        file = await files.open(path, CREATE);
        await syncDirectory(dirname(path));
      }
      const { size } = await file.stat();
      const length = await wholeLength(file, size);
      if (length < size) {
        await file.truncate(length);
        await file.datasync();
      }
      return new AppendFile(path, file, length, size - length);
    } catch (error) {
      await file?.close().catch(() => {});
      throw storeError(path, 'open the file for appending', error);
    }
  }

  /**
   * Appends whole lines. Resolves when they are on disk.
   * @throws StoreError when they could not be written; then none of them is in the file.
   */
  append(lines: string): Promise<void> {
    if (this.closed) return Promise.reject(new StoreError(`${this.path}: the run is closed, nothing can be appended`));
    return new Promise((resolve, reject) => {
      this.queue.push({ bytes: Buffer.from(lines), resolve, reject });
      this.running ??= this.drain();
    });
  }

  /** Resolves when no append is waiting. */
  async idle(): Promise<void> {
    await this.running;
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.running;
    if (this.soiled) await this.restore().catch(() => {});
    await this.file.close();
  }

  private async drain(): Promise<void> {
    // Appends of the same moment join the first batch.
    await Promise.resolve();
    while (this.queue.length > 0) {
      const batch = this.nextBatch();
      try {
        await this.commit(batch);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        const failure = storeError(this.path, 'append a record (none of it was kept)', error);
        for (const { reject } of batch) reject(failure);
      }
    }
    this.running = undefined;
  }

  private nextBatch(): Waiting[] {
    let bytes = 0;
    let count = 0;
    while (count < this.queue.length && (count === 0 || bytes + this.queue[count].bytes.length <= LARGEST_BATCH)) {
      bytes += this.queue[count++].bytes.length;
    }
    return this.queue.splice(0, count);
  }

  private async commit(batch: Waiting[]): Promise<void> {
    if (this.soiled) await this.restore();
    const bytes = batch.length === 1 ? batch[0].bytes : Buffer.concat(batch.map((waiting) => waiting.bytes));
    try {
      await writeAll(this.file, bytes, this.length);
      await this.file.datasync();
    } catch (error) {
      this.soiled = true;
      await this.restore().catch(() => {}); // tried again before the next write
      throw error;
    }
    this.length += bytes.length;
  }

  /** Cuts off what a failed write left. */
  private async restore(): Promise<void> {
    await this.file.truncate(this.length);
    await this.file.datasync();
    this.soiled = false;
  }
}
