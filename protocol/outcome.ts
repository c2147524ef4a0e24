/** What counts as success, in one place for all stages and screens. */
import type { EpisodeRecord } from './records.ts';

/** Reward from which an episode is a success: the paper's R = 1[task success]. Partial credit below it is no success. */
export const SUCCESS_REWARD = 1;

/** Whether an episode is valid and solved its task. */
export function succeeded(episode: Pick<EpisodeRecord, 'valid' | 'reward'>): boolean {
  return episode.valid && episode.reward >= SUCCESS_REWARD;
}
