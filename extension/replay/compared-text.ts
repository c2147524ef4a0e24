/** Texts of two attempts that are put beside each other: without what differs between any two calls, however alike. */
import { isDamaged } from '../../recordings/index.ts';
import { type ReplayEpisode, Transcript } from '../../recordings/replay/index.ts';

/** The transcript without the times that calls took. Lines stay the lines that they were. */
export async function withoutTimes(episode: ReplayEpisode, transcript: Transcript): Promise<Transcript> {
  const head = transcript.lines.slice(0, (transcript.sections[0]?.line ?? transcript.lines.length + 1) - 1);
  const sections = transcript.sections.map(async (section) => {
    const { call } = section.part === 'call' ? await episode.call(section.call) : { call: undefined };
    if (!call || isDamaged(call)) return section;
    const [heading, ...rest] = section.lines;
    // What stands before the time is ours; the names of tools that stand there, too, are not.
    const before = call.policyVersion === null ? ' · teacher' : ` · policy ${call.policyVersion}`;
    const time = ` · ${Math.round(call.durations.total)} ms`;
    return { ...section, lines: [heading.replace(before + time, before), ...rest] };
  });
  return new Transcript(head, await Promise.all(sections));
}
