/**
 * How a round of reinforcement learning spends its time, by episodes at a time. A small planner is first taught enough
 * to call skills; then the same round is run with 1, 2 and 4 episodes at a time. Nothing is replaced: real world,
 * harness, proxy, server and trainer, timed from the run's own records.
 *
 * With BENCH_RUN=<run directory> the rounds of that run are read instead.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configSchema, type WrittenConfig } from '../protocol/config.ts';
import { openRecording } from '../recordings/index.ts';
import { train } from '../trainer-daemon/training/index.ts';
import { type RoundTimes, roundTimes } from './round-times.ts';
import { childSeconds, ownSeconds } from './sides/children.ts';
import type { BenchTable } from './table.ts';

const CONCURRENCY = [1, 2, 4];

const written: WrittenConfig = {
  version: 1,
  name: 'bench-round',
  seed: 1,
  harness: {
    adapter: 'tabletop-skills',
    suites: ['tabletop_object_swap'],
    tasks: { tabletop_object_swap: [0, 1] },
    concurrency: 2,
    limits: { turns: 12, seconds: 120, responseTokens: 64, idleSeconds: 60 },
  },
  planner: {
    init: { layers: 4, hidden: 128, intermediate: 384, heads: 4, kvHeads: 2, vocabulary: 700, context: 2048 },
  },
  teacher: { episodesPerTask: 6 },
  sft: { learningRate: 4e-3, betas: [0.9, 0.98], batch: 16, warmupSteps: 5, epochs: 12, checkpoints: 1 },
  rl: { rounds: 1, groupsPerRound: 4, attemptsPerGroup: 4, learningRate: 1e-5, batch: 32 },
  evaluation: { states: [1], selectionStates: [45], sampling: { topP: 1, topK: -1, presencePenalty: 0 } },
};

export default async function round(): Promise<BenchTable[]> {
  const given = process.env['BENCH_RUN'];
  if (given !== undefined) return [await ofRun(given)];
  const folder = await mkdtemp(join(tmpdir(), 'bench-round-'));
  try {
    const taught = join(folder, 'taught');
    await train({
      config: configSchema.parse(written),
      configFolder: folder,
      runDirectory: taught,
      stages: ['teacher', 'sft'],
    });
    const rows: [string, RoundTimes, string][] = [];
    for (const concurrency of CONCURRENCY) {
      const directory = join(folder, `round-${concurrency}`);
      const { planner: _, ...rest } = written;
      const config = configSchema.parse({
        ...rest,
        planner: { checkpoint: join(taught, 'policies/v0001') },
        harness: { ...written.harness, concurrency },
      });
      const before = { own: ownSeconds(), children: childSeconds() };
      await train({ config, configFolder: folder, runDirectory: directory, stages: ['rl'] });
      const cpu = `${(ownSeconds() - before.own).toFixed(1)} + ${(childSeconds() - before.children).toFixed(1)}`;
      rows.push([`${concurrency} at a time`, await roundTimes(directory, 1, concurrency), cpu]);
    }
    return [
      table(
        'One round by episodes at a time; planner 4 x 128',
        rows,
        'CPU: this process (server, proxy, trainer) + harness processes, validation included. ',
      ),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function ofRun(directory: string): Promise<BenchTable> {
  const recording = await openRecording(directory);
  const config = configSchema.parse(recording.info.config);
  await recording.close();
  const rounds = (await readdir(join(directory, 'rounds'))).map(Number).sort((a, b) => a - b);
  const rows: [string, RoundTimes, string][] = [];
  for (const number of rounds) {
    rows.push([`round ${number}`, await roundTimes(directory, number, config.harness.concurrency), '']);
  }
  return table(`Rounds of ${config.name}, ${config.harness.concurrency} episodes at a time`, rows, '');
}

function table(title: string, rows: [string, RoundTimes, string][], more: string): BenchTable {
  const percent = (share: number) => `${Math.round(100 * share)} %`;
  return {
    title,
    columns: [
      '',
      'episodes',
      'calls',
      'collect s',
      'samples s',
      'update s',
      'steps s',
      'waiting for replies s',
      'physics and harness s',
      'calls in flight',
      'planner idle',
      'not full',
      'tokens/s',
      'CPU s',
    ],
    rows: rows.map(([name, times, cpu]) => [
      name,
      times.episodes,
      times.calls,
      times.collect.toFixed(1),
      times.samples.toFixed(1),
      times.update.toFixed(1),
      times.steps.toFixed(1),
      times.waitingSeconds.toFixed(1),
      times.physicsSeconds.toFixed(1),
      times.meanInFlight.toFixed(2),
      percent(times.plannerIdle),
      percent(times.notFull),
      Math.round(times.responseTokens / times.collect),
      cpu,
    ]),
    note: `${more}Waiting and physics are sums over episodes; calls in flight: mean while there were any; planner idle: share of the collection without a call in flight; not full: share with fewer episodes than allowed (the tail).`,
  };
}
