/** The run that is killed: a harness whose rewards hang on every token, two checkpoints' worth of steps, two rounds. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import type { WrittenConfig } from '../../protocol/config.ts';

export const parleyConfig: WrittenConfig = {
  version: 1,
  name: 'parley',
  seed: 11,
  planner: { init: { layers: 2, hidden: 32, intermediate: 48, heads: 2, kvHeads: 1, vocabulary: 320, context: 512 } },
  harness: {
    adapter: resolve(import.meta.dirname, '../fixtures/parley-harness/parley.adapter.mjs'),
    suites: ['parley'],
    concurrency: 3,
    // No limit of time may be what ends an episode: that would be the machine's doing.
    limits: { turns: 6, seconds: 900, responseTokens: 12, idleSeconds: 600 },
  },
  serving: { deterministic: true },
  teacher: { episodesPerTask: 4 },
  sft: { learningRate: 3e-3, batch: 4, warmupSteps: 1, epochs: 2, checkpoints: 3 },
  rl: { rounds: 2, groupsPerRound: 4, attemptsPerGroup: 4, learningRate: 1e-3, batch: 8, validateEvery: 1 },
  evaluation: { states: [1, 2], selectionStates: [45, 46], sampling: { topP: 1, topK: -1, presencePenalty: 0 } },
};

/** A folder with the config in it, gone with the test. */
export function parleyFolder(change: Partial<WrittenConfig> = {}): { folder: string; config: string } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'arrl parley ü-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const config = join(folder, 'parley.training.yaml');
  writeFileSync(config, JSON.stringify({ ...parleyConfig, ...change }));
  return { folder, config };
}
