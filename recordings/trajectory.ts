/** Reading the trajectory of a recorded episode. */
import { join, sep } from 'node:path';
import type { PoseTrack } from '../protocol/poses.ts';
import type { EpisodeRecord } from '../protocol/records.ts';
import { decodeTrajectory, type Trajectory, trajectorySchema } from '../protocol/trajectory.ts';
import { checkRecord, type Damaged, parseJson } from './documents.ts';
import { isUnreadable, openPlainFile } from './plain-file.ts';

export interface DecodedTrajectory extends Omit<Trajectory, 'poses'> {
  poses: PoseTrack;
}

/** An hour of the embedded world takes about 10 MB. */
const LARGEST_FILE = 64 * 1024 * 1024;

/**
 * The trajectory that an episode's record names, unpacked; undefined when it names none.
 * @param directory of the run. Nothing outside it is read, whatever the record says.
 * @returns why it cannot be shown, when there is one that cannot be read.
 */
export async function readTrajectory(
  directory: string,
  { outputDir, trajectory }: Pick<EpisodeRecord, 'outputDir' | 'trajectory'>,
): Promise<DecodedTrajectory | Damaged | undefined> {
  if (trajectory === null) return undefined;
  const fail = (damaged: string): Damaged => ({ damaged: `trajectory ${trajectory}: ${damaged}`, line: 0 });
  if (outputDir === null) return fail('the episode has no output folder');
  const folder = join(directory, outputDir);
  const path = join(folder, trajectory);
  if (!folder.startsWith(directory + sep) || !path.startsWith(folder + sep))
    return fail('lies outside of the output folder');
  const bytes = await readWhole(directory, path);
  if (typeof bytes === 'string') return fail(bytes);
  const parsed = parseJson(bytes, 0);
  if ('damaged' in parsed) return fail(parsed.damaged);
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || !('bodies' in value))
    return fail('is of another form than the one that is shown here (see "agentic-robo-rl schema trajectory")');
  if ('version' in value && typeof value.version === 'number' && value.version > 1)
    return fail(`written by a newer version of AgenticRoboRL (format ${value.version}); update to see it`);
  const checked = checkRecord(value, trajectorySchema, 0);
  if ('damaged' in checked) return fail(checked.damaged);
  try {
    return { ...checked, poses: decodeTrajectory(checked) };
  } catch (error) {
    return { damaged: (error as Error).message, line: 0 };
  }
}

/** A file's bytes, or why there are none. */
async function readWhole(root: string, path: string): Promise<Buffer | string> {
  const file = await openPlainFile(root, path);
  if (file === undefined) return 'the file is gone (output folders may be pruned)';
  if (isUnreadable(file)) return file.unreadable;
  try {
    const { size } = await file.stat();
    if (size > LARGEST_FILE) return `is too large to be shown (${size} bytes, at most ${LARGEST_FILE})`;
    return await file.readFile();
  } catch (error) {
    return (error as Error).message;
  } finally {
    await file.close();
  }
}
