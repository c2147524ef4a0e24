/**
 * A wish that a run ends, left in its directory as `run.stop` by another process (the daemon, `agentic-robo-rl stop`)
 * for the one that writes the run. Whoever may write to the directory may leave one; no signal is needed, so that it
 * also reaches a run on another machine that shares the disk.
 */
import { constants } from 'node:fs';
import { open, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { storeError } from './disk-trouble.ts';
import { temporaryName } from './files.ts';

const stopSchema = z.object({ mode: z.enum(['round', 'episode', 'now']), at: z.iso.datetime() });
export type StopRequest = z.output<typeof stopSchema>;

/** From the latest end to the soonest. */
export const STOP_MODES = ['none', 'round', 'episode', 'now'] as const;
const LARGEST = 4096;

const fileOf = (directory: string) => join(directory, 'run.stop');

/** Whether a wish asks for an earlier end than another. */
export function isSooner(mode: (typeof STOP_MODES)[number], than: (typeof STOP_MODES)[number]): boolean {
  return STOP_MODES.indexOf(mode) > STOP_MODES.indexOf(than);
}

/**
 * Leaves the wish; one for an earlier end stays as it is.
 * @throws StoreError when the directory cannot be written to.
 */
export async function requestStop(directory: string, mode: StopRequest['mode']): Promise<void> {
  const found = await readStopRequest(directory);
  if (found && !isSooner(mode, found.mode)) return;
  const path = fileOf(directory);
  const temporary = temporaryName(path);
  try {
    await writeFile(temporary, `${JSON.stringify({ mode, at: new Date().toISOString() })}\n`, { flag: 'wx' });
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw storeError(path, 'ask the run to stop', error);
  }
}

/** The wish that was left, undefined when there is none that can be read. */
export async function readStopRequest(directory: string): Promise<StopRequest | undefined> {
  try {
    const file = await open(
      fileOf(directory),
      constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
    );
    try {
      const status = await file.stat();
      if (!status.isFile() || status.size > LARGEST) return undefined;
      return stopSchema.parse(JSON.parse(await file.readFile('utf8')));
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

/** Takes away what was left; a run that begins or ends does so. */
export async function clearStopRequest(directory: string): Promise<void> {
  await unlink(fileOf(directory)).catch(() => {});
}
