/** Which entry of a trajectory's spans each action of an episode is. */
import { z } from 'zod';
import type { EpisodeRecord } from '../../protocol/records.ts';
import { readTrajectoryValue } from '../trajectory.ts';
import { type ReplayAction, skillFailed } from './actions.ts';

const spansSchema = z.looseObject({
  spans: z.array(z.looseObject({ name: z.string(), start: z.number(), end: z.number(), held: z.string().nullable() })),
});

/** What one action did in the world: simulated seconds, and what the gripper held at its end. */
export interface ReplaySpan {
  name: string;
  start: number;
  end: number;
  held: string | null;
}

/** The spans of an episode's trajectory; null when it recorded none, `problem` when they cannot be read. */
export async function readSpans(
  run: string,
  episode: Pick<EpisodeRecord, 'outputDir' | 'trajectory'> | null,
): Promise<{ spans: ReplaySpan[] } | { problem: string } | null> {
  const read = episode && (await readTrajectoryValue(run, episode));
  if (!read) return null;
  if ('damaged' in read) return { problem: read.damaged };
  const checked = spansSchema.safeParse(read.value);
  if (!checked.success) {
    const { path, message } = checked.error.issues[0];
    return { problem: `trajectory ${episode.trajectory}: ${path.join('.')}: ${message}` };
  }
  return { spans: checked.data.spans };
}

/**
 * Gives each action its span, in the order of the episode: an action that was refused has none, any other has the next
 * one where the names agree (`place_at` is a `place`, `move_to` a `moveTo`). @returns how many spans were given.
 */
export function assignSpans(actions: readonly ReplayAction[], spans: readonly ReplaySpan[]): number {
  let next = 0;
  for (const action of actions) {
    if (next >= spans.length) break;
    if (isOf(action, spans[next])) action.span = next++;
  }
  return next;
}

/** The same from the end of the episode. @param first number of the first of these spans. */
export function assignSpansBack(actions: readonly ReplayAction[], spans: readonly ReplaySpan[], first: number): void {
  let last = spans.length - 1;
  for (const action of actions.toReversed()) {
    if (last < 0) return;
    if (isOf(action, spans[last])) action.span = first + last--;
  }
}

function isOf({ name, failed, result }: ReplayAction, span: ReplaySpan): boolean {
  return (!failed || skillFailed(result)) && plain(name).startsWith(plain(span.name));
}

function plain(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase();
}
