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
import { childSeconds, mainThreadSeconds, ownSeconds } from './sides/children.ts';
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
  teacher: { episodesPerTask: 32 },
  sft: { learningRate: 4e-3, betas: [0.9, 0.98], batch: 16, warmupSteps: 5, epochs: 10, checkpoints: 1 },
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
    const rows: [string, RoundTimes][] = [];
    const cpu: BenchTable['rows'] = [];
    for (const concurrency of CONCURRENCY) {
      const directory = join(folder, `round-${concurrency}`);
      const { planner: _, ...rest } = written;
      const config = configSchema.parse({
        ...rest,
        planner: { checkpoint: join(taught, 'policies/v0001') },
        harness: { ...written.harness, concurrency },
      });
      const marks = new Map<string, Usage>();
      await train({
        config,
        configFolder: folder,
        runDirectory: directory,
        stages: ['rl'],
        onEvent: (event) => {
          if (event.kind === 'journal' && !marks.has(event.line.event.type)) marks.set(event.line.event.type, usage());
        },
      });
      rows.push([`${concurrency} at a time`, await roundTimes(directory, 1, concurrency)]);
      cpu.push([`${concurrency} at a time`, ...cpuCells(marks, rows[rows.length - 1][1].calls)]);
    }
    return [
      table('One round by episodes at a time; planner 4 x 128', rows),
      {
        title: 'Processor seconds of the same rounds',
        columns: [
          '',
          'harness (physics)',
          'planner server',
          'proxy, store, scheduling',
          'samples',
          'update to its first step',
          'a call',
        ],
        rows: cpu,
        note: 'Of the collection: the harness processes (starting them included), the threads beside the main one (the planner), the main thread. Then building samples, and the update with its trainer. Last: milliseconds of the collection a call.',
      },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Usage {
  own: number;
  main: number;
  children: number;
}

const usage = (): Usage => ({ own: ownSeconds(), main: mainThreadSeconds(), children: childSeconds() });

/** Processor seconds between a round's journal events. */
function cpuCells(marks: Map<string, Usage>, calls: number): (string | number)[] {
  const spent = (from: string, to: string): Usage => {
    const [a, b] = [marks.get(from), marks.get(to)];
    if (a === undefined || b === undefined) throw new Error(`the journal tells no ${from} or ${to}`);
    return { own: b.own - a.own, main: b.main - a.main, children: b.children - a.children };
  };
  const collect = spent('round-planned', 'round-collected');
  const seconds = [
    collect.children,
    collect.own - collect.main,
    collect.main,
    spent('round-collected', 'samples-built').own,
    // The validation of the new weights follows the last step.
    spent('samples-built', 'step').own,
  ];
  const call = (1000 * (collect.children + collect.own)) / calls;
  return [...seconds.map((value) => value.toFixed(1)), call.toFixed(1)];
}

async function ofRun(directory: string): Promise<BenchTable> {
  const recording = await openRecording(directory);
  const config = configSchema.parse(recording.info.config);
  await recording.close();
  const rounds = (await readdir(join(directory, 'rounds'))).map(Number).sort((a, b) => a - b);
  const rows: [string, RoundTimes][] = [];
  for (const number of rounds) {
    rows.push([`round ${number}`, await roundTimes(directory, number, config.harness.concurrency)]);
  }
  return table(`Rounds of ${config.name}, ${config.harness.concurrency} episodes at a time`, rows);
}

function table(title: string, rows: [string, RoundTimes][]): BenchTable {
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
    ],
    rows: rows.map(([name, times]) => [
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
    ]),
    note: 'Waiting and physics are sums over episodes; calls in flight: mean while there were any; planner idle: share of the collection without a call in flight; not full: share with fewer episodes than allowed (the tail).',
  };
}
