/** Whole runs in seconds, for tests of what can go wrong with a run: the quick harness and the smallest planner. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { configSchema, type TrainingConfig, type WrittenConfig } from '../../protocol/config.ts';
import type { JournalEvent, JournalLine } from '../../protocol/journal.ts';

export const quickConfig: WrittenConfig = {
  version: 1,
  name: 'quick',
  seed: 5,
  planner: { init: { layers: 1, hidden: 32, intermediate: 48, heads: 2, kvHeads: 1, vocabulary: 320, context: 512 } },
  harness: {
    adapter: resolve(import.meta.dirname, '../fixtures/quick-harness/quick.adapter.mjs'),
    suites: ['quick'],
    concurrency: 2,
    limits: { turns: 4, seconds: 60, responseTokens: 8, idleSeconds: 30 },
  },
  teacher: { episodesPerTask: 2 },
  sft: { learningRate: 1e-3, batch: 2, warmupSteps: 1, epochs: 1, checkpoints: 2 },
  rl: { rounds: 1, groupsPerRound: 2, attemptsPerGroup: 2, learningRate: 1e-4, batch: 4 },
  evaluation: { states: [1], selectionStates: [45], sampling: { topP: 1, topK: -1, presencePenalty: 0 } },
};

/** The config as training takes it, with other parts where given. */
export function quick(change: Partial<WrittenConfig> = {}): TrainingConfig {
  return configSchema.parse({ ...quickConfig, ...change });
}

/** A folder that goes with the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'arrl quick ü-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function journalOf(run: string): JournalEvent[] {
  return readFileSync(join(run, 'journal.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as JournalLine).event);
}

/** Every file of a folder with its size, time and content: equal before and after when nothing was written. */
export function filesOf(folder: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    const { size, mtimeMs } = statSync(path);
    files[name] = statSync(path).isFile() ? `${size} ${mtimeMs} ${readFileSync(path).toString('base64')}` : 'folder';
  }
  return files;
}
