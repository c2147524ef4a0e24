/**
 * The lock of a run directory: one process writes to a run. `run.lock` names the process; a lock whose process is gone
 * is replaced.
 */
import { link, readFile, stat, unlink, writeFile } from 'node:fs/promises';
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
  /** Identity of the boot that `startTime` counts from. */
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

function parse(text: string): Lock | undefined {
  try {
    return lockSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Why the lock must be respected; undefined when its process is gone. */
async function holder(text: string, boot: string | null): Promise<string | undefined> {
  const lock = parse(text);
  if (!lock) return undefined; // locks appear whole, so this one was broken by a power cut or by hand
  if (lock.host !== hostname()) {
    return `process ${lock.pid} on the machine ${lock.host}${since(lock)} (if that one is gone for good, delete run.lock)`;
  }
  if (lock.boot !== null && boot !== null && lock.boot !== boot) return undefined;
  const started = await startTimeOf(lock.pid);
  if (started === undefined) return undefined;
  if (started !== null && lock.startTime !== null && started !== lock.startTime) return undefined;
  return `${lock.pid === process.pid ? `this process (${lock.pid})` : `process ${lock.pid}`}${since(lock)}`;
}

const since = (lock: Lock) => (lock.since === undefined ? '' : ` since ${lock.since}`);

/** Who writes to a run directory right now, in words; undefined when nobody does. */
export async function runWriter(directory: string): Promise<string | undefined> {
  const found = await readFile(join(directory, 'run.lock'), 'utf8').catch(() => undefined);
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
  const text = `${JSON.stringify({ ...own, nonce: temporaryName('lock') })}\n`;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    if (await place(path, text)) return () => release(path, text);
    const found = await readFile(path, 'utf8').catch(() => undefined);
    if (found === undefined) continue; // released in this moment
    const by = await holder(found, boot);
    if (by !== undefined) {
      throw new StoreError(`${directory}: the run is being written by ${by}; stop that one first, or wait for its end`);
    }
    await removeStale(path, found);
  }
  throw new StoreError(`${path}: other processes keep taking and releasing the lock; try again`);
}

/** Puts the lock in place, whole from its first moment; false when there is one. */
async function place(path: string, text: string): Promise<boolean> {
  const temporary = temporaryName(path);
  try {
    await writeFile(temporary, text, { flag: 'wx', mode: 0o644 });
    await link(temporary, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    if (!['EPERM', 'ENOTSUP', 'ENOSYS', 'EOPNOTSUPP'].includes(errorCode(error) ?? '')) {
      throw storeError(path, 'take the lock of the run', error);
    }
  } finally {
    await unlink(temporary).catch(() => {});
  }
  // No hard links on this file system.
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o644 });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw storeError(path, 'take the lock of the run', error);
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
    if ((await readFile(path, 'utf8').catch(() => undefined)) === found) await unlink(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw storeError(path, 'replace a stale lock', error);
  } finally {
    await unlink(guard).catch(() => {});
  }
}

async function release(path: string, text: string): Promise<void> {
  if ((await readFile(path, 'utf8').catch(() => undefined)) === text) await unlink(path).catch(() => {});
}
