/** Opening files of a run directory that somebody else may have made: only plain files, only inside the directory. */
import { constants, type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { dirname, sep } from 'node:path';

const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Why a file cannot be read, in words; it exists. */
export interface Unreadable {
  unreadable: string;
}

/** Opens a file for reading; undefined when it does not exist. Links and devices are not followed or opened. */
export async function openPlainFile(root: string, path: string): Promise<FileHandle | Unreadable | undefined> {
  let handle: FileHandle | undefined;
  try {
    const status = await lstat(path);
    if (status.isSymbolicLink()) return { unreadable: 'is a symbolic link; a run directory holds plain files' };
    if (!status.isFile()) return { unreadable: 'is no plain file' };
    const folder = await realpath(dirname(path));
    const top = await realpath(root);
    if (folder !== top && !folder.startsWith(top + sep)) return { unreadable: 'lies outside of the run directory' };
    handle = await open(path, FLAGS);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
    return { unreadable: 'is no plain file' };
  } catch (error) {
    await handle?.close().catch(() => {});
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : { unreadable: message };
  }
}

export function isUnreadable(opened: FileHandle | Unreadable | undefined): opened is Unreadable {
  return opened !== undefined && 'unreadable' in opened;
}

const LARGEST_FILE = 256 * 1024 * 1024;

/** Reads a whole small file; undefined when it does not exist. */
export async function readPlainFile(root: string, path: string): Promise<Buffer | Unreadable | undefined> {
  const opened = await openPlainFile(root, path);
  if (opened === undefined || isUnreadable(opened)) return opened;
  try {
    const { size } = await opened.stat();
    if (size > LARGEST_FILE) return { unreadable: `is too large to be read (${size} bytes)` };
    return await opened.readFile();
  } catch (error) {
    return { unreadable: (error as Error).message };
  } finally {
    await opened.close();
  }
}
