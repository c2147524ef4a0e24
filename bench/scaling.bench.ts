/**
 * The trainer alone: how much of the machine's measured peak of matrix products a step reaches, and how its time grows
 * with the length of the sequences and with the batch.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Architecture } from '../trainer-daemon/planner/architecture.ts';
import type { TrainingSequence } from '../trainer-daemon/trainers/contract.ts';
import { interleave, median, ratios, spread, type Timing } from './measure.ts';
import type { StepReply } from './sides/protocol.ts';
import type { Side } from './sides/side.ts';
import { torchPeer } from './sides/torch.ts';
import type { BenchTable } from './table.ts';
import {
  countTokens,
  defaultPlanner,
  describe,
  loadRequest,
  optimizer,
  ourSide,
  sixLayers,
  threads,
  tokens,
} from './workloads.ts';

const SIZES = [512, 1024];
const LENGTHS = [128, 256, 512, 1024, 2048];
const BATCHES = [1, 4, 8];
const TARGETS = 64;

export default async function scaling(): Promise<BenchTable[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-scaling-'));
  const peer = torchPeer();
  const ours = ourSide();
  const torch = 'skipped' in peer ? undefined : peer.start(threads);
  try {
    const planners = [sixLayers, defaultPlanner];
    const shares: BenchTable['rows'] = [];
    for (const architecture of planners) {
      const load = await loadRequest(folder, architecture, 'planner');
      const side = ourSide();
      await side.ask(load);
      await ours.ask(load);
      await torch?.ask(load);
      shares.push(await shareOfPeak(architecture, side, ours, torch));
      await side.close();
    }
    const load = await loadRequest(folder, defaultPlanner, 'planner');
    return [
      {
        title: `Share of the peak of matrix products (float32, ${threads} threads)`,
        columns: ['planner', 'peak GFLOP/s', 'of', 'step GFLOP/s', 'share of peak', 'by CPU time'],
        rows: shares,
        note: `Step: 16 rows of 384 tokens, ${TARGETS} targets each; only the products a decoder needs are counted (6 a weight and token, causal attention by half). Peak: the best median of ONNX Runtime and ${'skipped' in peer ? '(left out) PyTorch' : peer.words} at ${SIZES.join(' and ')}; taken in turn with the steps.`,
      },
      await grow(
        'sequence length (4096 tokens a step)',
        load,
        LENGTHS.map((length) => ({ name: `${length}`, items: rows(Math.ceil(4096 / length), length) })),
      ),
      await grow(
        'rows of 512 tokens a step',
        load,
        BATCHES.map((batch) => ({ name: `${batch}`, items: rows(batch, 512) })),
      ),
    ];
  } finally {
    await ours.close();
    await torch?.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function rows(count: number, length: number): TrainingSequence[] {
  return Array.from({ length: count }, (_, i) => ({
    promptTokenIds: tokens(defaultPlanner, length - TARGETS, 'scaling', length, i),
    responseTokenIds: tokens(defaultPlanner, TARGETS, 'scaling response', length, i),
  }));
}

/** Multiplications and additions of forward and backward that no way of computing it can leave out. */
function flops(a: Architecture, items: readonly TrainingSequence[]): number {
  const width = a.headDim * a.heads;
  const layer = 2 * a.hidden * width + 2 * a.hidden * a.headDim * a.kvHeads + 3 * a.hidden * a.intermediate;
  return items.reduce((sum, { promptTokenIds, responseTokenIds }) => {
    const length = promptTokenIds.length + responseTokenIds.length - 1;
    const attention = 2 * width * length * (length / 2);
    const logits = responseTokenIds.length * a.hidden * a.vocabulary;
    return sum + 6 * (a.layers * (length * layer + attention) + logits);
  }, 0);
}

async function shareOfPeak(
  a: Architecture,
  side: Side,
  ours: Side,
  torch: Side | undefined,
): Promise<(string | number)[]> {
  const items = rows(16, 384);
  await side.ask({ do: 'loss', items, microBatchTokens: 2048 });
  const contenders: Record<string, () => Promise<Timing>> = {
    step: () => side.ask<StepReply>({ do: 'step', optimizer }),
  };
  for (const size of SIZES) {
    const repeats = Math.ceil(1e10 / (2 * size ** 3));
    for (const [name, peak] of Object.entries({ 'ONNX Runtime': ours, ...(torch && { PyTorch: torch }) })) {
      contenders[`${name} ${size}`] = async () => {
        const { seconds, cpu } = await peak.ask<Timing>({ do: 'product', size, repeats });
        const scale = 1 / (2 * size ** 3 * repeats);
        return { seconds: seconds * scale, cpu: cpu * scale };
      };
    }
  }
  const runs = await interleave(contenders, { rounds: 4, seconds: 25 });
  const { step, ...peaks } = runs;
  const rate = (timings: Timing[]) => 1 / median(timings.map(({ seconds }) => seconds));
  const best = Object.keys(peaks).reduce((x, y) => (rate(peaks[x]) >= rate(peaks[y]) ? x : y));
  const work = flops(a, items);
  const stepRate = work / median(step.map(({ seconds }) => seconds));
  const share = ratios(
    peaks[best].map(({ seconds }) => seconds),
    step.map(({ seconds }) => seconds / work),
  );
  const leanest = Math.min(...Object.values(peaks).map((timings) => median(timings.map(({ cpu }) => cpu))));
  const byCpu = leanest / (median(step.map(({ cpu }) => cpu)) / work);
  return [
    describe(a),
    (rate(peaks[best]) / 1e9).toFixed(0),
    best,
    (stepRate / 1e9).toFixed(0),
    spread(share),
    byCpu.toFixed(2),
  ];
}

async function grow(
  what: string,
  load: object,
  cases: { name: string; items: TrainingSequence[] }[],
): Promise<BenchTable> {
  const side = ourSide();
  try {
    await side.ask({ ...load });
    const runs: Record<string, StepReply[]> = {};
    const firsts: Record<string, number> = {};
    for (const { name, items } of cases) {
      const started = performance.now();
      await side.ask({ do: 'loss', items, microBatchTokens: 2048 });
      firsts[name] = (performance.now() - started) / 1000;
      runs[name] = [];
      for (let i = 0; i < 2; i++) runs[name].push(await side.ask<StepReply>({ do: 'step', optimizer }));
    }
    return {
      title: `A step by ${what}; planner ${describe(defaultPlanner)}`,
      columns: ['', 'seconds', 'tokens/s', 'CPU ms a 1000 tokens', 'GFLOP a CPU second', 'first pass seconds'],
      rows: cases.map(({ name, items }) => {
        const seconds = runs[name].map((run) => run.seconds);
        const cpu = median(runs[name].map((run) => run.cpu));
        return [
          name,
          spread(seconds),
          Math.round(countTokens(items) / median(seconds)),
          ((1e6 * cpu) / countTokens(items)).toFixed(0),
          (flops(defaultPlanner, items) / cpu / 1e9).toFixed(0),
          firsts[name].toFixed(2),
        ];
      }),
      note: `${TARGETS} targets a row. First pass: making the session for this length, and one forward and backward pass.`,
    };
  } finally {
    await side.close();
  }
}
