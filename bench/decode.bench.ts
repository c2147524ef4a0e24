/**
 * Responses with log-probs, eight at a time, against PyTorch with a key/value cache. Both sides first give the same
 * greedy tokens with the same log-probs.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Architecture } from '../trainer-daemon/planner/architecture.ts';
import { fastest, interleave, median, megabytes, ratios, spread, type Timing } from './measure.ts';
import type { GreedyReply, SampleReply } from './sides/protocol.ts';
import type { Side } from './sides/side.ts';
import { torchPeer } from './sides/torch.ts';
import type { BenchTable } from './table.ts';
import { defaultPlanner, describe, loadRequest, ourSide, sixLayers, threads, tokens } from './workloads.ts';

const BATCH = 8;
const RESPONSE = 64;
/** What the prompts of a round begin with together: about the instructions and tools of the embedded harness. */
const COMMON = 400;
const ROUNDS = 5;
const SAME_LOGPROB = 1e-4;

export default async function decode(): Promise<BenchTable[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-decode-'));
  try {
    return [
      await compare(folder, defaultPlanner, 512),
      await compare(folder, sixLayers, 256),
      await compare(folder, defaultPlanner, 512, COMMON),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param common how many tokens all prompts begin with together. */
async function compare(
  folder: string,
  architecture: Architecture,
  promptLength: number,
  common = 0,
): Promise<BenchTable> {
  const load = await loadRequest(folder, architecture, 'planner');
  const peer = torchPeer();
  // Small products gain little from a second thread: each side is measured with both.
  const sides: Record<string, Side> = {};
  const counts = threads > 1 ? [1, threads] : [1];
  for (const count of counts) {
    sides[`ours, ${count} threads`] = ourSide();
    if (!('skipped' in peer)) sides[`PyTorch, ${count} threads`] = peer.start(count);
  }
  const beginning = tokens(architecture, common, 'decode prompt', -1);
  const prompts = Array.from({ length: BATCH }, (_, i) => [
    ...beginning,
    ...tokens(architecture, promptLength - common, 'decode prompt', i),
  ]);
  try {
    let reference: GreedyReply | undefined;
    let largest = 0;
    for (const [name, side] of Object.entries(sides)) {
      await side.ask({ ...load, threads: Number(/(\d+) threads/.exec(name)![1]) });
      const reply = await side.ask<GreedyReply>({ do: 'greedy', prompts, tokens: RESPONSE });
      reference ??= reply;
      largest = Math.max(largest, difference(name, reference, reply));
    }
    let seed = 0;
    const runs = await interleave(
      Object.fromEntries(
        Object.entries(sides).map(([name, side]) => [
          name,
          () => side.ask<SampleReply>({ do: 'sample', prompts, tokens: RESPONSE, seed: seed++ }),
        ]),
      ),
      { rounds: ROUNDS, seconds: 40 },
    );
    const names = Object.keys(sides);
    const wall = (name: string) => runs[name].map(({ decode }) => decode.seconds);
    const whole = (name: string, key: keyof Timing) => runs[name].map((run) => run.prompt[key] + run.decode[key]);
    const undisturbed = (name: string) => fastest(runs[name].flatMap(({ steps }) => steps));
    const best = names
      .filter((name) => name.startsWith('ours'))
      .reduce((a, b) => (median(wall(a)) <= median(wall(b)) ? a : b));
    return {
      title: `Decoding with log-probs: batch ${BATCH}, prompt ${promptLength}${common > 0 ? ` (the first ${common} the same)` : ''}, ${RESPONSE} tokens each; planner ${describe(architecture)}`,
      columns: [
        '',
        'tokens/s decoding',
        'undisturbed',
        'best of ours is (undisturbed)',
        'CPU ms a token',
        'prompt seconds',
        'tokens/s in all',
        'best of ours is (decoding)',
        'best of ours is (in all)',
        'peak MB',
      ],
      rows: names.map((name) => [
        name,
        spread(
          wall(name).map((seconds) => (BATCH * (RESPONSE - 1)) / seconds),
          0,
        ),
        Math.round(BATCH / undisturbed(name)),
        `${(undisturbed(name) / undisturbed(best)).toFixed(2)}x`,
        median(runs[name].map(({ decode }) => (1000 * decode.cpu) / (BATCH * (RESPONSE - 1)))).toFixed(2),
        spread(runs[name].map(({ prompt }) => prompt.seconds)),
        spread(
          whole(name, 'seconds').map((seconds) => (BATCH * RESPONSE) / seconds),
          0,
        ),
        `${spread(ratios(wall(name), wall(best)))}x`,
        `${spread(ratios(whole(name, 'seconds'), whole(best, 'seconds')))}x`,
        megabytes(sides[name].peakBytes),
      ]),
      note:
        'skipped' in peer
          ? peer.skipped
          : `${peer.words}. Greedy tokens equal, their log-probs to ${largest.toExponential(1)}. Undisturbed: tokens/s of the fastest tenth of the steps, which other work on the machine did not interrupt. Prompts: ours one after another as they would arrive, PyTorch's in one batch.${common > 0 ? ' Ours computes and reads what prompts have in common once; PyTorch, as usually written, for each.' : ''}`,
    };
  } finally {
    for (const side of Object.values(sides)) await side.close();
  }
}

/** The largest difference of log-probs. @throws Error when a token differs, or a log-prob by too much. */
function difference(name: string, a: GreedyReply, b: GreedyReply): number {
  let largest = 0;
  a.tokens.forEach((row, i) => {
    row.forEach((token, n) => {
      const apart = Math.abs(a.logprobs[i][n] - b.logprobs[i][n]);
      if (b.tokens[i][n] !== token || !(apart <= SAME_LOGPROB)) {
        throw new Error(
          `${name}: token ${n} of response ${i} is ${b.tokens[i][n]} with log-prob ${b.logprobs[i][n]}, not ${token} with ${a.logprobs[i][n]}; unequal work is not timed`,
        );
      }
      largest = Math.max(largest, apart);
    });
  });
  return largest;
}
