/** What a replay is started with (`launch` of launch.json), and the session it opens. */
import { z } from 'zod';
import { openRecording, RecordingError } from '../../../recordings/index.ts';
import { findEpisode } from '../../../recordings/replay/index.ts';
import type { ReplaySession } from '../session.ts';
import type { AdapterHost } from './host.ts';
import { ShownError } from './protocol-server.ts';

const word = z.string().trim().min(1).max(4096);

/** The same as in package.json, `contributes.debuggers`. */
export const launchSchema = z.looseObject({
  /** Folder of the run, or its name in `runs/`. */
  run: word,
  episode: word,
  /** Found by the episode's id where it is left out. */
  section: word.optional(),
  turn: z.number().int().nonnegative().optional(),
  /** Loads every attempt of the episode's group. */
  group: z.boolean().optional(),
});
export type LaunchArguments = z.output<typeof launchSchema>;

/** @throws ShownError with what is wrong, where, and what to do. */
export function checkLaunch(args: unknown): LaunchArguments {
  const checked = launchSchema.safeParse(args ?? {});
  if (checked.success) return checked.data;
  const { path, message } = checked.error.issues[0];
  throw new ShownError(`"${path.join('.')}" of the launch configuration: ${message}`);
}

/** @throws ShownError when there is no such run or episode. */
export async function openLaunched(host: AdapterHost, args: LaunchArguments): Promise<ReplaySession> {
  const directory = host.resolveRun(args.run);
  try {
    let { section } = args;
    if (section === undefined) {
      const recording = await openRecording(directory);
      try {
        section = await findEpisode(recording, args.episode);
      } finally {
        await recording.close();
      }
    }
    return await host.open({ directory, section, episode: args.episode });
  } catch (error) {
    if (error instanceof RecordingError) throw new ShownError(error.message);
    throw error;
  }
}
