/** Failures of the disk in words: what could not be done with which file, why, how much space is left, what to do. */
import { statfsSync } from 'node:fs';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { StoreError } from './contract.ts';

const TROUBLE: Record<string, { what: string; todo?: string }> = {
  ENOSPC: { what: 'the disk is full', todo: 'free some space and go on' },
  EDQUOT: { what: 'the disk quota is used up', todo: 'free some space and go on' },
  EIO: { what: 'the disk reports an error' },
  EROFS: { what: 'the disk is mounted read-only', todo: 'mount it writable and go on' },
  EACCES: { what: 'permission is denied' },
  EPERM: { what: 'permission is denied' },
  ELOOP: { what: 'a symbolic link is in its place' },
};

export function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

/** The code of a disk's failure behind an error, wherever in its chain of causes; undefined for any other error. */
export function diskCode(error: unknown): string | undefined {
  for (let one = error, depth = 0; one instanceof Error && depth < 10; one = one.cause, depth++) {
    const code = errorCode(one);
    if (code !== undefined && Object.hasOwn(TROUBLE, code)) return code;
  }
  return undefined;
}

/** A {@link StoreError} that says what could not be done with which file, and why. */
export function storeError(path: string, action: string, cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause;
  const code = diskCode(cause);
  if (code === undefined) return new StoreError(`${path}: could not ${action}: ${(cause as Error).message}`, { cause });
  const { what, todo } = TROUBLE[code];
  const space = ['ENOSPC', 'EDQUOT'].includes(code) ? spaceLeft(path) : undefined;
  const reason = `${what}${todo === undefined ? '' : `: ${todo}`} (${code}${space === undefined ? '' : `; ${space}`})`;
  return new StoreError(`${path}: could not ${action}: ${reason}`, { cause });
}

/** Runs what writes a file or folder; a failure of the disk becomes a {@link StoreError} about `path`. */
export async function writing<T>(path: string, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskCode(error) === undefined ? error : storeError(path, `write ${what}`, error);
  }
}

/**
 * Creates a folder with its parents; gives the topmost one that was made. Made one by one: Node's recursive `mkdir` never
 * ends on file systems that take no new folders (`/proc`), and says ENOENT for a disk that is mounted read-only.
 */
export async function makeFolder(path: string): Promise<string | undefined> {
  const missing: string[] = [];
  for (let place = resolve(path); !(await exists(place)); place = dirname(place)) missing.unshift(place);
  // Something is there: nothing is to be made of a folder, and a file says so itself.
  if (missing.length === 0 && !(await isFolder(path))) await mkdir(path);
  for (const folder of missing) {
    try {
      await mkdir(folder);
    } catch (error) {
      // Another process may have been faster.
      if (errorCode(error) === 'EEXIST' && (await isFolder(folder))) continue;
      if (errorCode(error) === 'ENOENT' && (await isFolder(dirname(folder))))
        throw new Error(`no folder can be made in ${dirname(folder)}; name a place on a disk`, { cause: error });
      throw error;
    }
  }
  return missing[0];
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' && dirname(path) !== path) return false;
    throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

/** Bytes that {@link checkWritable} tries to write: more than the files of an episode that must not fail unnoticed. */
const PROBE_BYTES = 256 * 1024;

/** Finds out whether a folder can still be written to. @throws StoreError when it cannot. */
export async function checkWritable(folder: string, what: string): Promise<void> {
  const probe = join(folder, `.probe.tmp-${process.pid}-0`);
  await writing(folder, what, async () => {
    await makeFolder(folder);
    try {
      await writeFile(probe, Buffer.alloc(PROBE_BYTES));
    } finally {
      await rm(probe, { force: true });
    }
  });
}

/** Free space of the file system that a path lies, or would lie, on. */
function spaceLeft(path: string): string | undefined {
  for (let place = path; ; place = dirname(place)) {
    try {
      const { bavail, bsize, files, ffree } = statfsSync(place);
      if (files > 0 && ffree === 0) return 'no further file can be made: all its inodes are used';
      return `${(bavail * bsize).toLocaleString('en')} bytes are free`;
    } catch {
      if (dirname(place) === place) return undefined;
    }
  }
}
