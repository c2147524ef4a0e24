/**
 * A run of many tiny rounds in a process of its own, which tells after each round what it holds: one JSON line
 * `{round, rss, heap, outside, files, threads}` in bytes and numbers. Arguments: a folder and the number of rounds.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { configSchema } from '../../protocol/config.ts';
import { packageRoot } from '../../trainer-daemon/bundles.ts';
import { train } from '../../trainer-daemon/training/index.ts';

const [folder, rounds] = process.argv.slice(2);

const config = configSchema.parse({
  version: 1,
  name: 'endurance',
  seed: 1,
  planner: { init: { layers: 1, hidden: 32, intermediate: 48, heads: 2, kvHeads: 1, vocabulary: 320, context: 512 } },
  harness: {
    adapter: join(packageRoot(), 'test/fixtures/parley-harness/parley.adapter.mjs'),
    suites: ['parley'],
    concurrency: 2,
    limits: { turns: 6, seconds: 600, responseTokens: 8, idleSeconds: 300 },
  },
  teacher: { episodesPerTask: 2 },
  sft: { learningRate: 1e-3, batch: 4, warmupSteps: 1, epochs: 1, checkpoints: 1 },
  rl: { rounds: Number(rounds), groupsPerRound: 3, attemptsPerGroup: 3, learningRate: 1e-4, batch: 8 },
  evaluation: { states: [1], selectionStates: [45], sampling: { topP: 1, topK: -1, presencePenalty: 0 } },
});

const count = (path: string) => readdirSync(path).length;
const proc = process.platform === 'linux';
const threads = () => Number(/^Threads:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);

await train({
  config,
  configFolder: folder,
  runDirectory: join(folder, 'run'),
  stages: ['teacher', 'sft', 'rl'],
  onEvent: (event) => {
    if (event.kind !== 'journal' || event.line.event.type !== 'round-finished') return;
    // Twice: what the first collection finalises, the second frees.
    global.gc?.();
    global.gc?.();
    const { rss, heapUsed, external } = process.memoryUsage();
    const told = {
      round: event.line.event.round,
      rss,
      heap: heapUsed,
      outside: external,
      files: proc ? count('/proc/self/fd') : null,
      threads: proc ? threads() : null,
      journal: event.line.seq,
    };
    process.stdout.write(`${JSON.stringify(told)}\n`);
  },
});
