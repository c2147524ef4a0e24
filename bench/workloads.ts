/** The planners and batches that both sides compute, made from seeds. */
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defaultPlannerInit } from '../protocol/config.ts';
import { Random } from '../protocol/random.ts';
import { packageRoot } from '../trainer-daemon/bundles.ts';
import { type Architecture, tensorSpecs } from '../trainer-daemon/planner/architecture.ts';
import { architectureOf, initialWeights } from '../trainer-daemon/planner/initialise.ts';
import type { OptimizerOptions, TrainingSequence } from '../trainer-daemon/trainers/contract.ts';
import type { LoadRequest } from './sides/protocol.ts';
import { Side } from './sides/side.ts';

/** A fresh planner as a config without `planner` gets it. */
export const defaultPlanner = architectureOf(defaultPlannerInit);

/** 5.25M parameters: the planner of this project's first comparisons with PyTorch. */
export const sixLayers: Architecture = architectureOf({
  layers: 6,
  hidden: 256,
  intermediate: 768,
  heads: 8,
  kvHeads: 4,
  vocabulary: 2048,
  context: 2048,
});

/**
 * Threads of both sides. On a machine with other work, BENCH_THREADS=1 gives the fairer comparison: threads that wait
 * for one another lose more than their share.
 */
export const threads = Number(process.env['BENCH_THREADS']) || availableParallelism();

export const optimizer: OptimizerOptions = {
  learningRate: 1e-4,
  betas: [0.9, 0.999],
  epsilon: 1e-8,
  weightDecay: 0,
  clipNorm: 1,
};

export const describe = (a: Architecture): string => `${a.layers} x ${a.hidden}, vocabulary ${a.vocabulary}`;

/** Random tokens. */
export function tokens(a: Architecture, count: number, ...seed: (string | number)[]): number[] {
  const random = new Random('bench tokens', ...seed);
  return Array.from({ length: count }, () => random.int(a.vocabulary));
}

/** Rows of different lengths that share nothing: between half of `longest` and all of it. */
export function separateRows(a: Architecture, rows: number, longest: number, targets: number): TrainingSequence[] {
  const random = new Random('bench rows', rows, longest);
  return Array.from({ length: rows }, (_, i) => {
    const length = i === 0 ? longest : longest / 2 + random.int(longest / 2 + 1);
    return {
      promptTokenIds: tokens(a, length - targets, 'prompt', longest, i),
      responseTokenIds: tokens(a, targets, 'response', longest, i),
    };
  });
}

/** The turns of whole episodes: each prompt is the one before, its response and what the skill answered. */
export function episodeTurns(a: Architecture, episodes: number, turns: number): TrainingSequence[] {
  const FIRST_PROMPT = 420;
  const RESPONSE = 40;
  const SKILL_ANSWER = 60;
  return Array.from({ length: episodes }, (_, e) => {
    let prompt = [...tokens(a, FIRST_PROMPT - 20, 'instructions'), ...tokens(a, 20, 'task', e)];
    return Array.from({ length: turns }, (_, t) => {
      const response = tokens(a, RESPONSE, 'response', e, t);
      const item = { promptTokenIds: prompt, responseTokenIds: response };
      prompt = [...prompt, ...response, ...tokens(a, SKILL_ANSWER, 'answer', e, t)];
      return item;
    });
  }).flat();
}

export const countTokens = (items: readonly TrainingSequence[]): number =>
  items.reduce((sum, { promptTokenIds, responseTokenIds }) => sum + promptTokenIds.length + responseTokenIds.length, 0);

/** Writes a planner's fresh weights to `folder` and returns the request that loads them. */
export async function loadRequest(folder: string, a: Architecture, name: string): Promise<LoadRequest> {
  const weights = join(folder, `${name}.weights.bin`);
  const { flat } = initialWeights(a, 0);
  // Fresh weights give nearly equal probabilities; larger ones make a comparison of log-probs tell something.
  await writeFile(weights, Buffer.from(flat.map((x) => (x > 0.5 ? x : 3 * x)).buffer));
  const tensors = tensorSpecs(a).map(({ name, shape }) => ({ name, shape }));
  return { do: 'load', weights, architecture: a, tensors, threads };
}

export const ourSide = (): Side => new Side(process.execPath, [join(packageRoot(), 'dist/bench/ours.side.mjs')]);
