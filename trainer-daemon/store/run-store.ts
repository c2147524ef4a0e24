/** A run directory being written. */
import { readdir, unlink } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { type JournalEvent, type JournalLine, journalLineSchema } from '../../protocol/journal.ts';
import { type RunInfo, runInfoSchema } from '../../protocol/records.ts';
import { readDocument } from '../../recordings/documents.ts';
import { BodyStore } from './bodies.ts';
import { type RunStore, type Section, StoreError } from './contract.ts';
import { errorCode, storeError } from './disk-trouble.ts';
import { type FileLayer, makeDirectory, nodeFiles, READ_WRITE, replaceFile, TEMPORARY } from './files.ts';
import { lastSequence } from './journal-end.ts';
import { isLinesFile, isSectionName } from './names.ts';
import { RecordFile } from './record-file.ts';
import { checkedText } from './record-schemas.ts';
import { lockRun } from './run-lock.ts';
import { RunSection } from './section.ts';

/** Folders whose records are repaired when a run is opened: these, and the folders inside the latter two. */
const SECTION_FOLDERS = ['teacher', 'sft'];
const SECTION_PARENTS = ['rounds', 'evaluations'];

export interface StoreOptions {
  /** Replaced by tests that let the disk fail. */
  files?: FileLayer;
}

/**
 * Starts a new run in an empty or new folder.
 * @throws StoreError when the folder holds something, or cannot be written.
 */
export async function createRun(directory: string, info: RunInfo, options: StoreOptions = {}): Promise<RunStore> {
  const root = resolve(directory);
  const { files = nodeFiles } = options;
  const text = checkedText('run.json', runInfoSchema, info, 2);
  try {
    await makeDirectory(root);
  } catch (error) {
    throw storeError(root, 'create the run directory', error);
  }
  return locked(root, async (release) => {
    const found = (await readdir(root)).filter((name) => !name.startsWith('run.lock') && !TEMPORARY.test(name));
    if (found.includes('run.json'))
      throw new StoreError(`${root}: holds a run already; resume it or give another folder`);
    if (found.length > 0)
      throw new StoreError(`${root}: is not empty (${found[0]}); a new run needs a folder of its own`);
    await replaceFile(join(root, 'run.json'), [Buffer.from(`${text}\n`)], files);
    return openFiles(root, info, files, release);
  });
}

/**
 * Opens a run to go on with. Torn last lines are cut off and told in `repairs`.
 * @throws StoreError when it is no run, another process writes to it, or its journal is damaged.
 */
export async function openRun(directory: string, options: StoreOptions = {}): Promise<RunStore> {
  const root = resolve(directory);
  const path = join(root, 'run.json');
  const info = await readDocument(root, path, runInfoSchema);
  if (info === undefined) throw new StoreError(`${root}: is no run directory (there is no run.json in it)`);
  if ('damaged' in info) throw new StoreError(`${path}: ${info.damaged}`);
  return locked(root, (release) => openFiles(root, info, options.files ?? nodeFiles, release));
}

/** Runs `open` with the lock of the run; a failure releases it. */
async function locked<T>(root: string, open: (release: () => Promise<void>) => Promise<T>): Promise<T> {
  const release = await lockRun(root);
  try {
    return await open(release);
  } catch (error) {
    await release();
    throw error;
  }
}

interface RunParts {
  directory: string;
  info: RunInfo;
  files: FileLayer;
  release: () => Promise<void>;
  repairs: { file: string; bytes: number }[];
  journal: RecordFile;
  messages: RecordFile;
  bodies: BodyStore;
  seq: number;
}

async function openFiles(
  directory: string,
  info: RunInfo,
  files: FileLayer,
  release: () => Promise<void>,
): Promise<RunStore> {
  const repairs: RunParts['repairs'] = [];
  const onRepair = (path: string, bytes: number) => void repairs.push({ file: relative(directory, path), bytes });
  const journal = new RecordFile(join(directory, 'journal.jsonl'), files, onRepair);
  const messages = new RecordFile(join(directory, 'messages.jsonl'), files, onRepair);
  try {
    await removeTemporaries(directory);
    await journal.repair();
    await messages.repair();
    const bodies = await BodyStore.open(directory, messages, files);
    const seq = await journalEnd(journal.path, files);
    const run = new OpenRun({ directory, info, files, release, repairs, journal, messages, bodies, seq });
    for (const name of await sectionsOnDisk(directory)) await run.repairSection(name);
    return run;
  } catch (error) {
    await journal.close();
    await messages.close();
    throw storeError(directory, 'open the run', error);
  }
}

async function journalEnd(path: string, files: FileLayer): Promise<number> {
  const file = await files.open(path, READ_WRITE);
  try {
    return await lastSequence(path, file);
  } finally {
    await file.close();
  }
}

/** Removes what a crash left of files that were being replaced. */
async function removeTemporaries(directory: string): Promise<void> {
  const folders = [directory, ...(await sectionsOnDisk(directory)).map((name) => join(directory, name))];
  const blobs = join(directory, 'blobs');
  for (const name of await folderNames(blobs)) folders.push(join(blobs, name));
  for (const folder of folders) {
    for (const name of await readdir(folder)) {
      // Those of the lock belong to whoever is asking for it at this moment.
      if (TEMPORARY.test(name) && !name.startsWith('run.lock')) await unlink(join(folder, name)).catch(() => {});
    }
  }
}

async function sectionsOnDisk(directory: string): Promise<string[]> {
  const names = (await folderNames(directory)).filter((name) => SECTION_FOLDERS.includes(name));
  for (const parent of SECTION_PARENTS) {
    for (const name of await folderNames(join(directory, parent))) names.push(`${parent}/${name}`);
  }
  return names.filter(isSectionName);
}

async function folderNames(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return [];
    throw error;
  }
}

class OpenRun implements RunStore {
  seq: number;
  private readonly parts: RunParts;
  private readonly sections = new Map<string, RunSection>();
  private lastEntry: Promise<unknown> = Promise.resolve();
  private closing: Promise<void> | undefined;

  constructor(parts: RunParts) {
    this.parts = parts;
    this.seq = parts.seq;
  }

  get directory(): string {
    return this.parts.directory;
  }

  get info(): RunInfo {
    return this.parts.info;
  }

  get repairs(): { file: string; bytes: number }[] {
    return this.parts.repairs;
  }

  section(name: string): Section {
    return this.runSection(name);
  }

  journal(event: JournalEvent): Promise<JournalLine> {
    // One after another: a number is given only once the number before it is on disk.
    const entry = this.lastEntry.then(async () => {
      const line: JournalLine = { seq: this.seq + 1, at: new Date().toISOString(), event };
      await this.parts.journal.append(`${checkedText('journal.jsonl', journalLineSchema, line)}\n`);
      this.seq = line.seq;
      return line;
    });
    this.lastEntry = entry.catch(() => {});
    return entry;
  }

  close(): Promise<void> {
    this.closing ??= this.closeFiles().finally(() => this.parts.release());
    return this.closing;
  }

  /** Cuts off the torn last lines of a section that is on disk. */
  async repairSection(name: string): Promise<void> {
    const section = this.runSection(name);
    const entries = await readdir(section.directory, { withFileTypes: true });
    await section.repair(
      entries
        .filter((entry) => entry.isFile())
        .map((entry) => entry.name)
        .filter(isLinesFile),
    );
  }

  private runSection(name: string): RunSection {
    let section = this.sections.get(name);
    if (!section) {
      const { directory, files, bodies, repairs } = this.parts;
      const onRepair = (path: string, bytes: number) => void repairs.push({ file: relative(directory, path), bytes });
      section = new RunSection(name, { runDirectory: directory, files, bodies, onRepair });
      this.sections.set(name, section);
    }
    return section;
  }

  private async closeFiles(): Promise<void> {
    await this.lastEntry;
    for (const section of this.sections.values()) await section.close();
    await this.parts.messages.close();
    await this.parts.journal.close();
  }
}
