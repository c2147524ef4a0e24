/** Where an episode's records lie, when only its id is known. */
import { roundSection } from '../../protocol/ids.ts';
import { type Recording, RecordingError } from '../recording.ts';

/**
 * The section that holds an episode. Ids tell their section, so a large run is not searched through for one of ours.
 * @throws RecordingError when no section holds a record or a call of it.
 */
export async function findEpisode(recording: Recording, episode: string): Promise<string> {
  for (const section of await likelyFirst(recording, episode)) {
    if ((await (await recording.episodes(section)).byId(episode)) !== undefined) return section;
    if ((await (await recording.calls(section)).forEpisode(episode)).length > 0) return section;
  }
  throw new RecordingError(`${recording.directory}: the run holds no episode ${JSON.stringify(episode.slice(0, 300))}`);
}

/** Sections with the likeliest first. */
async function likelyFirst(recording: Recording, episode: string): Promise<string[]> {
  const { teacher, rounds, evaluations } = await recording.sections();
  const all = [...teacher, ...rounds, ...evaluations];
  const [, role, round] = /^[0-9a-f]{8}\.([trve])(\d+)/.exec(episode) ?? [];
  const likely = (section: string) => {
    if (role === 't') return section === 'teacher';
    if (role === 'r') return section === roundSection(Number(round));
    return role !== undefined && section.startsWith('evaluations/');
  };
  return [...all.filter(likely), ...all.filter((section) => !likely(section))];
}
