/**
 * What everything around the world costs: episodes a second through harness, HTTP, proxy and recording, with a planner
 * that costs nothing (the scripted teacher), against the bare physics loop that carries out the very same skill calls.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseTaskId } from '../protocol/ids.ts';
import { seedOf } from '../protocol/random.ts';

import { isDamaged, openRecording } from '../recordings/index.ts';
import { packageRoot } from '../trainer-daemon/bundles.ts';
import { type RecordingProxy, startProxy } from '../trainer-daemon/proxy/index.ts';
import {
  type LoadedAdapter,
  loadAdapter,
  runEpisodes,
  startScriptedTeacher,
} from '../trainer-daemon/rollouts/index.ts';
import { createRun } from '../trainer-daemon/store/index.ts';
import { median, ratios, spread } from './measure.ts';
import { benchRun } from './run-info.ts';
import { childSeconds, ownSeconds } from './sides/children.ts';
import type { BareEpisode, BareReply } from './sides/physics.side.ts';
import { Side } from './sides/side.ts';
import type { BenchTable } from './table.ts';

const EPISODES = 24;
const ROUNDS = 3;
const CONCURRENCY = [1, 2];
const SECONDS = 60;
const SUITES = ['tabletop_spatial_swap', 'tabletop_object_task', 'tabletop_goal_swap', 'tabletop_long_swap'];

interface WholeRun {
  seconds: number;
  calls: number;
  harness: number;
  teacher: number;
  own: number;
  episodes: (BareEpisode & { success: boolean })[];
}

interface BareRun {
  seconds: number;
  cpu: number;
}

export default async function world(): Promise<BenchTable[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-world-'));
  const adapter = await loadAdapter('tabletop-skills', folder);
  const proxy = await startProxy();
  const rows: BenchTable['rows'] = [];
  const parts: BenchTable['rows'] = [];
  try {
    for (const concurrency of CONCURRENCY) {
      const whole: WholeRun[] = [];
      const bare: BareRun[] = [];
      const end = performance.now() + 1000 * SECONDS;
      for (let round = 0; round < ROUNDS && (round < 1 || performance.now() < end); round++) {
        const directory = join(folder, `${concurrency}-${round}`);
        whole.push(await playWhole(directory, adapter, proxy, concurrency, round));
        bare.push(await playBare(whole[round].episodes, concurrency));
      }
      const shares = ratios(
        bare.map(({ seconds }) => seconds),
        whole.map(({ seconds }) => seconds),
      );
      const rate = (runs: { seconds: number }[]) => spread(runs.map(({ seconds }) => EPISODES / seconds));
      const byCpu = ratios(
        bare.map(({ cpu }) => cpu),
        whole.map(({ harness, own, teacher }) => harness + own + teacher),
      );
      rows.push([concurrency, rate(whole), rate(bare), spread(shares), spread(byCpu), whole.length]);
      const each = (pick: (run: WholeRun) => number) =>
        median(whole.map((run) => (1000 * pick(run)) / run.calls)).toFixed(1);
      parts.push([
        concurrency,
        median(whole.map(({ calls }) => calls / EPISODES)).toFixed(1),
        median(bare.map(({ cpu }, i) => (1000 * cpu) / whole[i].calls)).toFixed(1),
        each((run) => run.harness),
        each((run) => run.own),
        each((run) => run.teacher),
      ]);
    }
  } finally {
    await proxy.close();
    await adapter.close();
    await rm(folder, { recursive: true, force: true });
  }
  return [
    {
      title: `Episodes a second, ${EPISODES} episodes of ${SUITES.length} suites`,
      columns: ['at a time', 'whole', 'bare physics', 'whole / bare', 'by processor time', 'pairs'],
      rows,
      note: 'bare physics: as many processes, the same skill calls with the same results, nothing recorded. Starting the processes is in both. Runs in turn. By processor time: what the bare loop uses of what the whole uses, which other work on the machine disturbs less.',
    },
    {
      title: 'Where the processor time goes: milliseconds a planner call',
      columns: [
        'at a time',
        'calls an episode',
        'bare physics',
        'harness processes',
        'proxy, store, scheduling',
        "teacher's server",
      ],
      rows: parts,
      note: 'Medians; processor time of all threads, so other work on the machine counts little.',
    },
  ];
}

async function playWhole(
  directory: string,
  adapter: LoadedAdapter,
  proxy: RecordingProxy,
  concurrency: number,
  round: number,
): Promise<WholeRun> {
  const run = await createRun(directory, benchRun);
  const teacher = await startScriptedTeacher(adapter);
  const before = { own: ownSeconds(), children: childSeconds() };
  const started = performance.now();
  const records = await runEpisodes({
    adapter,
    jobs: Array.from({ length: EPISODES }, (_, i) => ({
      key: {
        run: benchRun.id,
        role: 'teacher',
        round: 0,
        task: `${SUITES[i % SUITES.length]}/${Math.floor(i / SUITES.length)}`,
        init: 11 + round,
        attempt: concurrency,
        tryNumber: 0,
      },
    })),
    proxy,
    upstream: teacher.upstream,
    section: run.section('teacher'),
    sampling: { temperature: 1, topP: 1, topK: -1, presencePenalty: 0 },
    limits: { turns: 40, seconds: 120, responseTokens: 96, idleSeconds: 60 },
    concurrency,
    workspace: directory,
  });
  const seconds = (performance.now() - started) / 1000;
  const own = ownSeconds() - before.own;
  const harness = childSeconds() - before.children;
  await teacher.close();
  const teacherSeconds = childSeconds() - before.children - harness;
  await run.close();

  const recording = await openRecording(directory);
  const index = await recording.calls('teacher');
  const callsOf = new Map<string, BareEpisode['calls']>();
  for (let i = 0; i < index.length; i++) {
    const call = await index.get(i);
    if (isDamaged(call)) throw new Error(`call ${i} is damaged`);
    const calls = callsOf.get(call.episode) ?? [];
    calls.push(...(call.response?.toolCalls ?? []).map((tool) => tool.function));
    callsOf.set(call.episode, calls);
  }
  const calls = index.length;
  await recording.close();
  const episodes = records.map(({ id, task, init, valid, invalidReason, reward }) => {
    if (!valid) throw new Error(`episode ${id}: ${invalidReason}`);
    const { suite, index } = parseTaskId(task);
    // As rollouts and harness derive it from the episode's id.
    const noiseSeed = `${seedOf(id)}`;
    return { suite, task: index, init, noiseSeed, calls: callsOf.get(id) ?? [], success: reward === 1 };
  });
  return { seconds, calls, own, harness, teacher: teacherSeconds, episodes };
}

async function playBare(episodes: WholeRun['episodes'], concurrency: number): Promise<BareRun> {
  const before = childSeconds();
  const started = performance.now();
  const left = [...episodes];
  const workers = Array.from({ length: concurrency }, async () => {
    const side = new Side(process.execPath, [join(packageRoot(), 'dist/bench/physics.side.mjs')]);
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { success, ...episode } = next;
      const reply = await side.ask<BareReply>(episode);
      if (reply.success !== success) throw new Error(`${next.suite}/${next.task}: the same calls had another result`);
    }
    await side.close();
  });
  await Promise.all(workers);
  const seconds = (performance.now() - started) / 1000;
  return { seconds, cpu: childSeconds() - before };
}
