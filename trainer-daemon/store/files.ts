/** Writing files so that they outlast a power cut; the few operations on the file system a test may replace. */
import { constants, type FileHandle, open, readdir, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode, makeFolder, storeError } from './disk-trouble.ts';

/** An open file, as far as the store uses it. */
export type OpenFile = Pick<FileHandle, 'read' | 'write' | 'datasync' | 'truncate' | 'stat' | 'close'>;

/** The operations that can fail for want of space or because a disk breaks. */
export interface FileLayer {
  open(path: string, flags: number): Promise<OpenFile>;
  rename(from: string, to: string): Promise<void>;
}

export const nodeFiles: FileLayer = { open: (path, flags) => open(path, flags, 0o644), rename };

// Windows has no O_NOFOLLOW. A link planted in a run directory must not make us write elsewhere.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
export const READ_WRITE = constants.O_RDWR | NO_FOLLOW;
export const CREATE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;

/** Temporary files end in this; what a crash left of them is removed when the run is opened. */
export const TEMPORARY = /\.tmp-\d+-\d+$/;
/** Whether a file's name is that of a temporary one. */
export function isTemporary(name: string): boolean {
  return TEMPORARY.test(name);
}

let temporaries = 0;

/** A name beside `path` that nobody else uses. */
export function temporaryName(path: string): string {
  return `${path}.tmp-${process.pid}-${temporaries++}`;
}

/** Writes all of `bytes` at `position`. */
export async function writeAll(file: OpenFile, bytes: Uint8Array, position: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/** Makes the entries of a folder durable. File systems that cannot do so (Windows, some network disks) are let be. */
export async function syncDirectory(path: string): Promise<void> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'r');
  } catch (error) {
    if (['EISDIR', 'EPERM', 'EACCES'].includes(errorCode(error) ?? '')) return;
    throw error;
  }
  try {
    await handle.sync();
  } catch (error) {
    if (!['EINVAL', 'ENOTSUP', 'EPERM', 'EISDIR'].includes(errorCode(error) ?? '')) throw error;
  } finally {
    await handle.close();
  }
}

/** Makes a folder durable with everything in it. */
export async function syncTree(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) await syncTree(inside);
    if (!entry.isFile()) continue;
    const file = await open(inside, 'r+');
    try {
      await file.datasync();
    } finally {
      await file.close();
    }
  }
  await syncDirectory(path);
}

/** Creates a folder with its parents, durably. */
export async function makeDirectory(path: string): Promise<void> {
  const first = await makeFolder(path);
  if (first === undefined) return;
  for (let made = path; ; made = dirname(made)) {
    await syncDirectory(dirname(made));
    if (made === first || dirname(made) === made) return;
  }
}

/**
 * Replaces a file: writes a temporary one, flushes it, renames it over the old one, flushes the folder. Readers see the
 * old content or the new one, never a mixture.
 * @throws StoreError; the old file is then untouched.
 */
export async function replaceFile(
  path: string,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  files: FileLayer,
): Promise<void> {
  const temporary = temporaryName(path);
  try {
    const file = await files.open(temporary, CREATE);
    try {
      let position = 0;
      for await (const chunk of chunks) {
        await writeAll(file, chunk, position);
        position += chunk.length;
      }
      await file.datasync();
    } finally {
      await file.close();
    }
    await files.rename(temporary, path);
    await syncDirectory(dirname(path));
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw storeError(path, 'write the file', error);
  }
}
