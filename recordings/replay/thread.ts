/** An episode as the cursor walks through it. */
import type { CursorThread } from './cursor.ts';
import type { ReplayEpisode } from './episode.ts';

/** @param id of the thread, free to choose. A damaged call has no parts. */
export function threadOf(id: number, episode: ReplayEpisode): CursorThread {
  return {
    id,
    get calls() {
      return episode.length;
    },
    get ended() {
      return !episode.open;
    },
    parts: async (call: number) => (await episode.call(call)).toolCalls.length,
  };
}
