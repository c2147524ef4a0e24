/** A file of records that is opened on first use, appended to, and now and then rewritten as a whole. */
import { dirname } from 'node:path';
import { AppendFile } from './append-file.ts';
import { StoreError } from './contract.ts';
import { storeError } from './disk-trouble.ts';
import { type FileLayer, makeDirectory } from './files.ts';

export class RecordFile {
  readonly path: string;
  private readonly files: FileLayer;
  private readonly onRepair: (path: string, bytes: number) => void;
  private opened: Promise<AppendFile> | undefined;
  /** Rewrites under way and asked for; appends wait for them. */
  private rewriting: Promise<unknown> = Promise.resolve();
  /** Appends under way; rewrites wait for them. */
  private readonly appending = new Set<Promise<void>>();
  private closed = false;

  constructor(path: string, files: FileLayer, onRepair: (path: string, bytes: number) => void) {
    this.path = path;
    this.files = files;
    this.onRepair = onRepair;
  }

  /**
   * Appends whole lines, durably.
   * @throws StoreError
   */
  async append(lines: string): Promise<void> {
    for (let waited: unknown; waited !== this.rewriting; ) {
      waited = this.rewriting;
      await waited;
    }
    if (this.closed) throw new StoreError(`${this.path}: the run is closed, nothing can be appended`);
    const append = this.appendNow(lines);
    this.appending.add(append);
    try {
      await append;
    } finally {
      this.appending.delete(append);
    }
  }

  /** Runs `work` while nothing is being appended; `work` may put another file in this one's place. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.rewriting.then(async () => {
      if (this.closed) throw new StoreError(`${this.path}: the run is closed, nothing can be written`);
      await this.closeFile();
      await makeDirectory(dirname(this.path));
      return await work();
    });
    this.rewriting = result.catch(() => {});
    return result;
  }

  /** Closes the file until the next append. */
  async release(): Promise<void> {
    const result = this.rewriting.then(() => this.closeFile());
    this.rewriting = result.catch(() => {});
    await result;
  }

  /** Cuts off a torn last line now instead of at the first append; creates the file when it is missing. */
  async repair(): Promise<void> {
    const file = await this.openFile();
    await file.close();
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.rewriting;
    await this.closeFile();
  }

  private async closeFile(): Promise<void> {
    await Promise.allSettled(this.appending);
    const open = this.opened;
    this.opened = undefined;
    await (await open?.catch(() => undefined))?.close();
  }

  private async appendNow(lines: string): Promise<void> {
    this.opened ??= this.open();
    await (await this.opened).append(lines);
  }

  private async open(): Promise<AppendFile> {
    try {
      return await this.openFile();
    } catch (error) {
      this.opened = undefined; // the next append tries again
      throw error;
    }
  }

  private async openFile(): Promise<AppendFile> {
    try {
      await makeDirectory(dirname(this.path));
    } catch (error) {
      throw storeError(this.path, 'create the folder of the file', error);
    }
    const file = await AppendFile.open(this.path, this.files);
    if (file.dropped > 0) this.onRepair(this.path, file.dropped);
    return file;
  }
}
