/** The daemon's lock and record: in the user's state folder, with a copy in the workspace. */
import { chmodSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { type DaemonPlaces, type DaemonRecord, daemonPlaces } from '../../protocol/daemon.ts';
import { lockRun, makeFolder, runWriter } from '../store/index.ts';

/** Another daemon serves the workspace. */
export class AlreadyRunning extends Error {
  /** Which, in words. */
  readonly holder: string;

  constructor(holder: string) {
    super(`the workspace has a daemon already: ${holder}`);
    this.holder = holder;
  }
}

/** Where the daemon of a workspace on this machine keeps its files. */
export function placesOf(workspace: string): DaemonPlaces {
  return daemonPlaces(workspace, { platform: process.platform, home: homedir(), environment: process.env });
}

/**
 * Makes the state folder of a workspace, for this user alone, and takes its lock. The lock of a daemon that is gone is
 * replaced. It lies in the state folder, where no repository can put one.
 * @returns what releases the lock.
 * @throws AlreadyRunning, or Error when the folder cannot be made or is another user's.
 */
export async function lockWorkspace(places: DaemonPlaces): Promise<() => Promise<void>> {
  await makeFolder(dirname(places.state));
  try {
    mkdirSync(places.state, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const status = lstatSync(places.state);
  if (!status.isDirectory() || (process.getuid !== undefined && status.uid !== process.getuid()))
    throw new Error(`${places.state}: is no folder of this user; remove it, or set AGENTIC_ROBO_RL_STATE to another`);
  chmodSync(places.state, 0o700);
  try {
    return await lockRun(places.state);
  } catch (error) {
    const holder = await runWriter(places.state);
    throw holder === undefined ? error : new AlreadyRunning(holder);
  }
}

/**
 * Writes the record and its copy, both with mode 0600. A workspace that takes no copy is no reason to fail: clients go
 * by the record in the state folder.
 * @returns why there is no copy, in words.
 */
export function writeRecord(places: DaemonPlaces, record: DaemonRecord): string | undefined {
  const text = `${JSON.stringify(record, null, 2)}\n`;
  replace(places.record, text);
  const folder = dirname(places.copy);
  try {
    mkdirSync(folder, { recursive: true });
    // A link would lead what is written out of the workspace.
    if (!lstatSync(folder).isDirectory()) return `${folder} is no folder`;
    const ignore = join(folder, '.gitignore');
    if (lstatSync(ignore, { throwIfNoEntry: false }) === undefined) writeFileSync(ignore, '*\n', { flag: 'wx' });
    replace(places.copy, text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Removes record and copy as far as they are this daemon's. */
export function removeRecord(places: DaemonPlaces, record: DaemonRecord): void {
  for (const path of [places.copy, places.record]) {
    try {
      const found = JSON.parse(readFileSync(path, 'utf8')) as { token?: unknown };
      if (found.token === record.token) unlinkSync(path);
    } catch {
      // Gone, or another's.
    }
  }
}

/** Puts a file in place whole; whatever was there, a link too, is replaced and not written through. */
function replace(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' });
  renameSync(temporary, path);
}
