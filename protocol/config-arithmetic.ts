/** What the numbers of a config multiply out to: episodes, samples, optimizer steps, tokens and disk. */
import type { TrainingConfig } from './config.ts';
import type { HarnessListing } from './config-harness.ts';

/** Rough bytes of one recorded call (ids, log-probs, new messages); images come on top. Mean of the embedded world. */
export const CALL_BYTES = 4_000;
/** Rough bytes of one episode's output (trajectory, log). Mean of the embedded world. */
export const EPISODE_BYTES = 25_000;
/** Calls of a typical episode, where only the limit is known. */
export const TYPICAL_CALLS = 10;

/** A round of reinforcement learning; everything but `episodes` is the most there can be, `disk` a typical size. */
export interface RoundArithmetic {
  episodes: number;
  samples: number;
  optimizerSteps: number;
  tokens: number;
  diskBytes: number;
}

/** Of one round: groups x attempts episodes, at most `maxResponsesPerEpisode` samples of each (paper, 3.3.2). */
export function roundArithmetic(config: TrainingConfig): RoundArithmetic {
  const { rl, harness } = config;
  const { turns, responseTokens } = harness.limits;
  const episodes = rl.groupsPerRound * rl.attemptsPerGroup;
  const samples = episodes * Math.min(rl.maxResponsesPerEpisode, turns);
  return {
    episodes,
    samples,
    optimizerSteps: rl.passes * Math.ceil(samples / rl.batch),
    tokens: samples * Math.min(rl.maxTokens, responseTokens),
    diskBytes: episodes * (EPISODE_BYTES + Math.min(TYPICAL_CALLS, turns) * CALL_BYTES),
  };
}

/** Fine-tuning: the most targets there can be, and the optimizer steps they give. */
export interface FineTuningArithmetic {
  episodes: number;
  targets: number;
  optimizerSteps: number;
}

/** Every teacher episode successful and as long as allowed; an epoch has round(targets / batch) steps. */
export function fineTuningArithmetic(config: TrainingConfig, tasks: number): FineTuningArithmetic {
  const episodes = tasks * config.teacher.episodesPerTask;
  const targets = episodes * config.harness.limits.turns;
  return { episodes, targets, optimizerSteps: config.sft.epochs * Math.max(1, Math.round(targets / config.sft.batch)) };
}

/** Tasks a config trains on; undefined where only the adapter could tell and nothing is known of it. */
export function taskCount(config: TrainingConfig, listing?: HarnessListing): number | undefined {
  let count = 0;
  for (const suite of new Set(config.harness.suites)) {
    const { tasks } = config.harness;
    const listed = listing && Object.hasOwn(listing.tasks, suite) ? listing.tasks[suite] : undefined;
    if (tasks === 'all') {
      if (!listed) return undefined;
      count += listed.length;
    } else if (Object.hasOwn(tasks, suite)) count += tasks[suite].length;
  }
  return count;
}
