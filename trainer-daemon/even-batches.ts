/** Passes over samples, cut into batches of nearly one size with the turns of an episode side by side. */
import type { Random } from '../protocol/random.ts';

/**
 * In each pass every item once, in `steps` batches whose sizes differ by at most 1. Each pass shuffles the *episodes* and
 * keeps the turns of one together in the order given.
 *
 * @param random Draws of a pass, 0-based.
 * @returns All batches of all passes, in the order of the optimizer steps.
 */
export function evenBatches<T extends { episodeId: string }>(
  items: readonly T[],
  steps: number,
  passes: number,
  random: (pass: number) => Random,
): { pass: number; items: T[] }[] {
  const byEpisode = new Map<string, T[]>();
  for (const item of items) {
    const turns = byEpisode.get(item.episodeId);
    if (turns) turns.push(item);
    else byEpisode.set(item.episodeId, [item]);
  }
  const episodeIds = [...byEpisode.keys()].sort();
  const batches: { pass: number; items: T[] }[] = [];
  for (let pass = 0; pass < passes; pass++) {
    const order = random(pass).shuffle(episodeIds);
    const sequence = order.flatMap((id) => byEpisode.get(id) ?? []);
    const border = (k: number) => Math.floor((k * sequence.length) / steps);
    for (let k = 0; k < steps; k++) batches.push({ pass, items: sequence.slice(border(k), border(k + 1)) });
  }
  return batches;
}
