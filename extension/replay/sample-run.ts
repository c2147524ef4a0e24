/** The recorded run that comes with the extension: which of its episodes is shown to who sees one for the first time. */
import { succeeded } from '../../protocol/outcome.ts';
import type { EpisodeRecord } from '../../protocol/records.ts';
import { isDamaged, openRecording } from '../../recordings/index.ts';
import type { ReplayTarget } from './session.ts';

/**
 * The longest success of the last round among attempts that ended unlike each other: only those were trained on.
 * @throws RecordingError when there is no such run, Error when its last round has no such episode.
 */
export async function sampleEpisode(directory: string): Promise<ReplayTarget> {
  const recording = await openRecording(directory);
  try {
    const section = (await recording.sections()).rounds.at(-1);
    const records = section === undefined ? [] : await (await recording.episodes(section)).read(0);
    const episodes = records.filter((record): record is EpisodeRecord => !isDamaged(record) && record.valid);
    const failures = new Set(episodes.filter((one) => !succeeded(one)).map(groupOf));
    const shown = episodes
      .filter((one) => succeeded(one) && failures.has(groupOf(one)))
      .sort((a, b) => b.turns - a.turns || a.id.localeCompare(b.id))[0];
    if (section === undefined || !shown) throw new Error(`${directory} has no group with success and failure`);
    return { directory, section, episode: shown.id };
  } finally {
    await recording.close();
  }
}

function groupOf({ task, init }: EpisodeRecord): string {
  return JSON.stringify([task, init]);
}
