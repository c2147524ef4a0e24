/**
 * The whole loop at its smallest: the real world, harness, proxy, planner and trainer, two tasks, one round.
 * Nothing is replaced by a double.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configSchema, type WrittenConfig } from '../../protocol/config.ts';
import type { RunEvent } from '../../protocol/journal.ts';
import type { EpisodeRecord, SampleRecord, ScoreRecord } from '../../protocol/records.ts';
import { openRecording } from '../../recordings/index.ts';
import { readCheckpoint } from '../../trainer-daemon/planner/checkpoint.ts';
import { type StopControl, train } from '../../trainer-daemon/training/index.ts';

const written: WrittenConfig = {
  version: 1,
  name: 'smallest',
  seed: 3,
  planner: { init: { layers: 2, hidden: 64, intermediate: 128, heads: 4, kvHeads: 2, vocabulary: 600, context: 2048 } },
  harness: {
    adapter: 'tabletop-skills',
    suites: ['tabletop_object_swap'],
    tasks: { tabletop_object_swap: [0, 1] },
    concurrency: 2,
    limits: { turns: 8, seconds: 60, responseTokens: 64, idleSeconds: 30 },
  },
  teacher: { episodesPerTask: 3 },
  sft: { learningRate: 3e-3, batch: 8, warmupSteps: 2, epochs: 2, checkpoints: 2 },
  rl: { rounds: 1, groupsPerRound: 2, attemptsPerGroup: 3, learningRate: 1e-4, batch: 16 },
  evaluation: { states: [1], selectionStates: [45], sampling: { topP: 1, topK: -1, presencePenalty: 0 } },
};

async function lines<T>(file: string): Promise<T[]> {
  return (await readFile(file, 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

describe('a whole run', () => {
  let folder: string;
  let directory: string;
  const events: RunEvent[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whole loop ü '));
    directory = join(folder, 'run');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('stops when asked, resumes, and ends with a table', async () => {
    const stop: StopControl = { mode: 'none' };
    const first = await train({
      config: configSchema.parse(written),
      configFolder: folder,
      runDirectory: directory,
      stop,
      onEvent: (event) => {
        events.push(event);
        // Asked to stop at once in the middle of the teacher's episodes.
        if (event.kind === 'journal' && event.line.event.type === 'episode-finished') stop.mode = 'now';
      },
    });
    expect(first.state).toBe('stopped');
    const before = await readFile(join(directory, 'teacher', 'episodes.jsonl'), 'utf8');
    expect(before.split('\n').length - 1).toBeLessThan(6);

    const result = await train({ configFolder: folder, resume: directory, onEvent: (event) => events.push(event) });
    expect(result.state).toBe('finished');
    expect(result.table).toContain('RL');
    // What was finished before the stop is still there, byte for byte.
    const after = await readFile(join(directory, 'teacher', 'episodes.jsonl'), 'utf8');
    expect(after.startsWith(before)).toBe(true);
    const episodes = await lines<EpisodeRecord>(join(directory, 'teacher', 'episodes.jsonl'));
    expect(new Set(episodes.map((episode) => episode.id)).size).toBe(6);
    expect(episodes.every((episode) => episode.valid)).toBe(true);
  });

  it('wrote one status a call, and a score for every selected one', async () => {
    const recording = await openRecording(directory);
    const calls = await recording.calls('rounds/0001');
    const samples = await lines<SampleRecord>(join(directory, 'rounds', '0001', 'samples.jsonl'));
    expect(samples.length).toBe(calls.length);
    expect(samples.length).toBeGreaterThan(0);
    const selected = samples.filter((sample) => sample.status === 'selected');
    const scores = await lines<ScoreRecord>(join(directory, 'rounds', '0001', 'scores.jsonl'));
    expect(scores.map((score) => score.call).sort()).toEqual(selected.map((sample) => sample.call).sort());
    expect(samples.some((sample) => sample.status === 'zero-weight:prompt-mismatch')).toBe(false);
    await recording.close();
  });

  it('recorded log-probs that the trainer reproduces', async () => {
    const recording = await openRecording(directory);
    const calls = await recording.calls('rounds/0001');
    const scores = await lines<ScoreRecord>(join(directory, 'rounds', '0001', 'scores.jsonl'));
    let compared = 0;
    for (const score of scores) {
      const call = await calls.byId(score.call);
      if (!call || 'damaged' in call) throw new Error(`no record of ${score.call}`);
      expect(call.policyVersion).toBe(1);
      call.logprobs?.forEach((b, i) => {
        // Serving and training graphs differ in the order of sums only.
        expect(Math.abs(b - score.logq[i])).toBeLessThan(2e-3);
        compared++;
      });
    }
    if (scores.length > 0) expect(compared).toBeGreaterThan(0);
    await recording.close();
  });

  it('left three policies that other tools can read', async () => {
    for (const version of ['v0000', 'v0001', 'v0002']) {
      const checkpoint = await readCheckpoint(join(directory, 'policies', version));
      expect(checkpoint.weights.flat.every(Number.isFinite)).toBe(true);
      expect(existsSync(join(directory, 'policies', version, 'policy.json'))).toBe(true);
    }
  });

  it('told its watcher everything the journal holds, in order', async () => {
    const journal = await lines<{ seq: number }>(join(directory, 'journal.jsonl'));
    expect(journal.map((line) => line.seq)).toEqual(journal.map((_, index) => index + 1));
    const told = new Set(events.flatMap((event) => (event.kind === 'journal' ? [event.line.seq] : [])));
    expect([...told].sort((a, b) => a - b)).toEqual(journal.map((line) => line.seq));
  });

  it('counted each unit of work under one label, so that a bar shows all of it', () => {
    const labels = events.flatMap((event) =>
      event.kind === 'progress' && event.tick.stage === 'sft' && event.tick.unit === 'steps' ? [event.tick.label] : [],
    );
    expect(labels.length).toBeGreaterThan(2);
    expect(new Set(labels).size).toBe(1);
  });
});
