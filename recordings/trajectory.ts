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

type Names = Pick<EpisodeRecord, 'outputDir' | 'trajectory'>;

/** Why a trajectory cannot be shown. */
function failed({ trajectory }: Names, why: string): Damaged {
  return { damaged: `trajectory ${trajectory}: ${why}`, line: 0 };
}

/**
 * The trajectory that an episode's record names as it lies in its file, unchecked; undefined when it names none.
 * @param directory of the run. Nothing outside it is read, whatever the record says.
 * @returns why it cannot be read, when there is one that cannot.
 */
export async function readTrajectoryValue(
  directory: string,
  names: Names,
): Promise<{ value: unknown } | Damaged | undefined> {
  const { outputDir, trajectory } = names;
  if (trajectory === null) return undefined;
  if (outputDir === null) return failed(names, 'the episode has no output folder');
  const folder = join(directory, outputDir);
  const path = join(folder, trajectory);
  if (!folder.startsWith(directory + sep) || !path.startsWith(folder + sep))
    return failed(names, 'lies outside of the output folder');
  const bytes = await readWhole(directory, path);
  if (typeof bytes === 'string') return failed(names, bytes);
  const parsed = parseJson(bytes, 0);
  return 'damaged' in parsed ? failed(names, parsed.damaged) : parsed;
}

/**
 * The trajectory that an episode's record names, unpacked; undefined when it names none.
 * @param directory of the run. Nothing outside it is read, whatever the record says.
 * @returns why it cannot be shown, when there is one that cannot be read.
 */
export async function readTrajectory(
  directory: string,
  names: Names,
): Promise<DecodedTrajectory | Damaged | undefined> {
  const read = await readTrajectoryValue(directory, names);
  if (read === undefined || 'damaged' in read) return read;
  const { value } = read;
  if (typeof value !== 'object' || value === null || !('bodies' in value))
    return failed(
      names,
      'is of another form than the one that is shown here (see "agentic-robo-rl schema trajectory")',
    );
  if ('version' in value && typeof value.version === 'number' && value.version > 1)
    return failed(names, `written by a newer version of AgenticRoboRL (format ${value.version}); update to see it`);
  const checked = checkRecord(value, trajectorySchema, 0);
  if ('damaged' in checked) return failed(names, checked.damaged);
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
