/** The record of a workspace's daemon, as far as it can be believed. */
import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import {
  type DaemonPlaces,
  type DaemonRecord,
  daemonPlaces,
  daemonRecordSchema,
  LARGEST_RECORD,
} from '../../protocol/daemon.ts';

export type RecordReading =
  | { kind: 'found'; record: DaemonRecord }
  /** There is none. */
  | { kind: 'none' }
  /** There is one, and it is not to be used. */
  | { kind: 'disbelieved'; reason: string };

/** Where the daemon of a workspace keeps its files. @param workspace a folder; links are resolved. */
export async function placesFor(
  workspace: string,
  environment: Record<string, string | undefined> = process.env,
): Promise<DaemonPlaces & { workspace: string }> {
  const real = await realpath(workspace);
  const places = daemonPlaces(real, { platform: process.platform, home: homedir(), environment });
  return { ...places, workspace: real };
}

/**
 * Reads the record that counts: the one in the user's state folder. The copy in the workspace is never read, because a
 * repository may ship one.
 */
export async function readRecord(places: DaemonPlaces & { workspace: string }): Promise<RecordReading> {
  let file: FileHandle;
  try {
    file = await open(places.record, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? { kind: 'none' } : disbelieved(message);
  }
  try {
    const status = await file.stat();
    if (!status.isFile()) return disbelieved('it is no plain file');
    if (process.getuid !== undefined && status.uid !== process.getuid()) return disbelieved('another user owns it');
    if (process.platform !== 'win32' && (status.mode & 0o077) !== 0)
      return disbelieved('others than its owner may open it (its mode is not 0600)');
    if (status.size > LARGEST_RECORD) return disbelieved(`it has ${status.size} bytes`);
    const parsed = daemonRecordSchema.safeParse(JSON.parse((await file.readFile()).toString('utf8')));
    if (!parsed.success) return disbelieved(`it is none of this version's (${parsed.error.issues[0].message})`);
    const record = parsed.data;
    if (record.workspace !== places.workspace) return disbelieved(`it is of the workspace ${record.workspace}`);
    if (record.host !== hostname()) return disbelieved(`it is of the machine ${record.host}`);
    if (!lives(record.pid)) return { kind: 'none' };
    return { kind: 'found', record };
  } catch (error) {
    return disbelieved((error as Error).message);
  } finally {
    await file.close();
  }
}

/** Whether there is a process with this number. Whether it is the daemon, its answer to hello tells. */
export function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function disbelieved(reason: string): RecordReading {
  return { kind: 'disbelieved', reason };
}
