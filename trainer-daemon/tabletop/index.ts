/**
 * The embedded tabletop world: suites of tasks as data, and episodes in a physics simulation. Importing this loads no
 * physics; the engine is loaded with the first episode.
 */
import type { EpisodeStart, Tabletop } from './types.ts';

export { rankBy, singleOut } from './relations.ts';
export { goalOf, INITIAL_STATES, suiteNames, TASKS_PER_SUITE, tasks } from './suites/registry.ts';
export type * from './types.ts';

/**
 * Starts one episode: lays the scene out, lets it settle and returns the world. Everything follows from the start
 * alone; equal starts and equal calls give bit-identical results in every process.
 * @throws Error when the suite, task or initial state does not exist, or the physics engine cannot be loaded.
 */
export async function startEpisode(start: EpisodeStart): Promise<Tabletop> {
  const { TabletopEpisode } = await import('./episode.ts');
  return TabletopEpisode.start(start);
}
