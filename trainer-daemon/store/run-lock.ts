/**
 * The lock of a run directory: one process writes to a run. `run.lock` names the process; a lock whose process is gone
 * is replaced. On a full disk, where no file can be written, it is a symbolic link whose target is that name.
 */
import { link, readFile, readlink, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { StoreError } from './contract.ts';
import { errorCode, storeError } from './disk-trouble.ts';
import { temporaryName } from './files.ts';
import { startTimeIn } from './process-identity.ts';

const lockSchema = z.object({
  pid: z.number().int().positive(),
  /** When the process started, in clock ticks since boot, so that a later process with its number is not taken for it. */
  startTime: z.string().nullable(),
  /** Identity of the boot that `startTime` counts from, or how it begins. */
  boot: z.string().nullable(),
  host: z.string(),
  /** When the lock was taken. */
  since: z.iso.datetime().optional(),
});
type Lock = z.output<typeof lockSchema>;

/** Contenders that replace the same stale lock get in each other's way only for a moment. */
const TRIES = 600;
const WAIT_MS = 20;
/** Replacing a stale lock takes far less; a guard of this age was left by a crash. */
const GUARD_MS = 10_000;

/** Start time of a live process (field 22 of /proc/PID/stat), undefined for a dead one, null where it cannot be known. */
async function startTimeOf(pid: number): Promise<string | null | undefined> {
  try {
    return startTimeIn(await readFile(`/proc/${pid}/stat`, 'latin1'));
  } catch (error) {
    if (process.platform === 'linux' && ['ENOENT', 'ESRCH'].includes(errorCode(error) ?? '')) return undefined;
  }
  try {
    process.kill(pid, 0);
    return null;
  } catch (error) {
    return errorCode(error) === 'EPERM' ? null : undefined;
  }
}

async function bootId(): Promise<string | null> {
  const text = await readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => undefined);
  return text?.trim() ?? null;
}

/** A target of less than 60 bytes takes no block of the disk on common file systems. */
function shortForm({ pid, startTime, boot, host }: Lock): string {
  return JSON.stringify([pid, startTime, boot?.slice(0, 8) ?? null, host]);
}

function parse(text: string): Lock | undefined {
  try {
    const given = JSON.parse(text);
    const [pid, startTime, boot, host] = Array.isArray(given) ? given : [];
    return lockSchema.parse(Array.isArray(given) ? { pid, startTime, boot, host } : given);
  } catch {
    return undefined;
  }
}

/** Undefined when there is no lock. A link is read and never followed. */
async function lockText(path: string): Promise<string | undefined> {
  const target = await readlink(path).catch(() => undefined);
  return target ?? readFile(path, 'utf8').catch(() => undefined);
}

/** Why the lock must be respected; undefined when its process is gone. */
async function holder(text: string, boot: string | null): Promise<string | undefined> {
  const lock = parse(text);
  if (!lock) return undefined; // locks appear whole, so this one was broken by a power cut or by hand
  if (lock.host !== hostname()) {
    return `process ${lock.pid} on the machine ${lock.host}${since(lock)} (if that one is gone for good, delete run.lock)`;
  }
  if (lock.boot !== null && boot !== null && !boot.startsWith(lock.boot)) return undefined;
  const started = await startTimeOf(lock.pid);
  if (started === undefined) return undefined;
  if (started !== null && lock.startTime !== null && started !== lock.startTime) return undefined;
  return `${lock.pid === process.pid ? `this process (${lock.pid})` : `process ${lock.pid}`}${since(lock)}`;
}

const since = (lock: Lock) => (lock.since === undefined ? '' : ` since ${lock.since}`);

/** Who writes to a run directory right now, in words; undefined when nobody does. */
export async function runWriter(directory: string): Promise<string | undefined> {
  const found = await lockText(join(directory, 'run.lock'));
  return found === undefined ? undefined : holder(found, await bootId());
}

/**
 * Takes the lock of a run directory. The returned function releases it.
 * @throws StoreError naming the process that holds it.
 */
export async function lockRun(directory: string): Promise<() => Promise<void>> {
  const path = join(directory, 'run.lock');
  const boot = await bootId();
  const own: Lock = {
    pid: process.pid,
    startTime: (await startTimeOf(process.pid)) ?? null,
    boot,
    host: hostname(),
    since: new Date().toISOString(),
  };
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const placed = await place(path, own);
    if (placed !== undefined) return () => release(path, placed);
    const found = await lockText(path);
    if (found === undefined) continue; // released in this moment
    const by = await holder(found, boot);
    if (by !== undefined) {
      throw new StoreError(`${directory}: the run is being written by ${by}; stop that one first, or wait for its end`);
    }
    await removeStale(path, found);
  }
  throw new StoreError(`${path}: other processes keep taking and releasing the lock; try again`);
}

/** Puts the lock in place, whole from its first moment. @returns its text; undefined when there is a lock. */
async function place(path: string, own: Lock): Promise<string | undefined> {
  const temporary = temporaryName(path);
  const text = `${JSON.stringify({ ...own, nonce: temporaryName('lock') })}\n`;
  try {
    await writeFile(temporary, text, { flag: 'wx', mode: 0o644 });
    await link(temporary, path);
    return text;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return undefined;
    if (errorCode(error) === 'ENOSPC') return placeLink(path, own, error);
    if (!['EPERM', 'ENOTSUP', 'ENOSYS', 'EOPNOTSUPP'].includes(errorCode(error) ?? '')) {
      throw storeError(path, 'take the lock of the run', error);
    }
  } finally {
    await unlink(temporary).catch(() => {});
  }
  // No hard links on this file system.
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o644 });
    return text;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return undefined;
    throw storeError(path, 'take the lock of the run', error);
  }
}

/** The same on a full disk: what frees space must be able to lock the run. */
async function placeLink(path: string, own: Lock, full: unknown): Promise<string | undefined> {
  const text = shortForm(own);
  try {
    await symlink(text, path);
    return text;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return undefined;
    throw storeError(path, 'take the lock of the run', full);
  }
}

/**
 * Takes a stale lock away. Only who holds `run.lock.replacing` does so, and only if the lock is still the one found
 * stale; so nobody takes away the lock that another has put in its place.
 */
async function removeStale(path: string, found: string): Promise<void> {
  const guard = `${path}.replacing`;
  try {
    await writeFile(guard, '', { flag: 'wx' });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw storeError(path, 'replace a stale lock', error);
    const since = (await stat(guard).catch(() => undefined))?.mtimeMs;
    if (since !== undefined && Date.now() - since > GUARD_MS) await unlink(guard).catch(() => {});
    await new Promise((resume) => setTimeout(resume, WAIT_MS));
    return;
  }
  try {
    if ((await lockText(path)) === found) await unlink(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw storeError(path, 'replace a stale lock', error);
  } finally {
    await unlink(guard).catch(() => {});
  }
}

async function release(path: string, text: string): Promise<void> {
  if ((await lockText(path)) === text) await unlink(path).catch(() => {});
}
