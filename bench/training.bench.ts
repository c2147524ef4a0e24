/**
 * An optimizer step (forward, backward, clipping, AdamW) against PyTorch: same weights, batch, threads and logits at the
 * target tokens only. Before anything is timed both sides must have the same loss, and after it the same losses again.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Architecture } from '../trainer-daemon/planner/architecture.ts';
import type { TrainingSequence } from '../trainer-daemon/trainers/contract.ts';
import { interleave, median, megabytes, ratios, spread } from './measure.ts';
import type { StepReply } from './sides/protocol.ts';
import type { Side } from './sides/side.ts';
import { torchPeer } from './sides/torch.ts';
import type { BenchTable } from './table.ts';
import {
  countTokens,
  defaultPlanner,
  describe,
  episodeTurns,
  loadRequest,
  optimizer,
  ourSide,
  separateRows,
  sixLayers,
  threads,
} from './workloads.ts';

const SAME_LOSS = 1e-4;
const MICRO_BATCH = 2048;
const ROUNDS = 5;

interface Workload {
  name: string;
  architecture: Architecture;
  items: TrainingSequence[];
  /** Whether the whole batch at once fits PyTorch's memory. */
  whole: boolean;
}

const workloads: Workload[] = [
  {
    name: '16 rows of 192-384 tokens, nothing shared',
    architecture: sixLayers,
    items: separateRows(sixLayers, 16, 384, 64),
    whole: true,
  },
  {
    name: '24 turns of 4 episodes',
    architecture: defaultPlanner,
    items: episodeTurns(defaultPlanner, 4, 6),
    whole: false,
  },
];

export default async function training(): Promise<BenchTable[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-training-'));
  try {
    const tables: BenchTable[] = [];
    for (const workload of workloads) tables.push(await compare(folder, workload));
    return tables;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function compare(folder: string, workload: Workload): Promise<BenchTable> {
  const { architecture, items } = workload;
  const load = await loadRequest(folder, architecture, 'planner');
  const peer = torchPeer();
  const sides: Record<string, { side: Side; microBatchTokens: number }> = {
    ours: { side: ourSide(), microBatchTokens: MICRO_BATCH },
  };
  if (!('skipped' in peer)) {
    sides['PyTorch, micro-batches'] = { side: peer.start(threads), microBatchTokens: MICRO_BATCH };
    if (workload.whole) sides['PyTorch, whole batch'] = { side: peer.start(threads), microBatchTokens: 0 };
  }
  try {
    const losses: Record<string, number> = {};
    for (const [name, { side, microBatchTokens }] of Object.entries(sides)) {
      await side.ask(load);
      losses[name] = (await side.ask<{ loss: number }>({ do: 'loss', items, microBatchTokens })).loss;
    }
    checkEqual('loss before training', losses);
    const steps = await interleave(
      Object.fromEntries(
        Object.entries(sides).map(([name, { side }]) => [name, () => side.ask<StepReply>({ do: 'step', optimizer })]),
      ),
      // The pass that gave the loss was the warm-up.
      { rounds: ROUNDS, warmup: 0, seconds: 45 },
    );
    const rounds = steps['ours'].length;
    for (let round = 0; round < rounds; round++) {
      checkEqual(
        `loss of step ${round}`,
        Object.fromEntries(Object.entries(steps).map(([name, replies]) => [name, replies[round].loss])),
      );
    }
    const ours = steps['ours'];
    const names = Object.keys(sides);
    const worst = Math.max(...names.map((name) => Math.abs(losses[name] - losses['ours'])));
    return {
      title: `Optimizer step: ${workload.name}; planner ${describe(architecture)}; ${countTokens(items)} tokens, ${threads} threads`,
      columns: [
        '',
        'seconds',
        'CPU seconds',
        'times ours (wall)',
        'times ours (CPU)',
        'peak memory MB',
        'ours / its memory',
      ],
      rows: names.map((name) => [
        name,
        spread(steps[name].map(({ seconds }) => seconds)),
        spread(steps[name].map(({ cpu }) => cpu)),
        spread(
          ratios(
            steps[name].map(({ seconds }) => seconds),
            ours.map(({ seconds }) => seconds),
          ),
        ),
        median(
          ratios(
            steps[name].map(({ cpu }) => cpu),
            ours.map(({ cpu }) => cpu),
          ),
        ).toFixed(2),
        megabytes(sides[name].side.peakBytes),
        (sides['ours'].side.peakBytes / sides[name].side.peakBytes).toFixed(2),
      ]),
      note:
        'skipped' in peer
          ? peer.skipped
          : `${peer.words}. Losses ${losses['ours'].toFixed(6)}, equal to ${worst.toExponential(1)} before and to ${SAME_LOSS} during ${rounds} steps, taken in turn. ` +
            (workload.whole
              ? ''
              : 'We compute what turns of an episode share once; PyTorch, as usually written, computes each turn. '),
    };
  } finally {
    for (const { side } of Object.values(sides)) await side.close();
  }
}

function checkEqual(what: string, values: Record<string, number>): void {
  const ours = values['ours'];
  for (const [name, value] of Object.entries(values)) {
    if (!(Math.abs(value - ours) <= SAME_LOSS)) {
      throw new Error(`${what}: ${name} has ${value}, ours is ${ours}; unequal work is not timed`);
    }
  }
}
