/** Reads the golden values that test/fixtures/trainer-golden/make_golden.py wrote with PyTorch. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../../trainer-daemon/bundles.ts';
import {
  type Architecture,
  type PlannerWeights,
  tensorSpecs,
} from '../../../../trainer-daemon/planner/architecture.ts';
import type {
  OptimizerOptions,
  RlItem,
  RlLossOptions,
  TrainingSequence,
} from '../../../../trainer-daemon/trainers/contract.ts';

interface StoredItem {
  prompt: number[];
  response: number[];
}

interface StoredRlItem extends StoredItem {
  oldLogprobs: number[];
  behaviourLogprobs: number[];
  advantage: number;
  u: number;
  clipped: number[];
  importance: number[];
}

interface Document {
  architecture: Architecture;
  tensors: { name: string; shape: number[] }[];
  sft: { items: StoredItem[]; logprobs: number[][]; loss: number };
  rl: { items: StoredRlItem[]; loss: number; options: RlLossOptions };
  adamw: { options: OptimizerOptions; steps: { batch: 'sft' | 'rl'; loss: number; gradNorm: number }[] };
}

export type GoldenKind = 'tied' | 'untied';

export function golden(kind: GoldenKind) {
  const folder = join(packageRoot(), 'test/fixtures/trainer-golden');
  const document = JSON.parse(readFileSync(join(folder, `${kind}.json`), 'utf8')) as Document;
  const floats = (name: string) => {
    const bytes = readFileSync(join(folder, `${kind}.${name}.bin`));
    return new Float32Array(new Uint8Array(bytes).buffer);
  };
  const { architecture, tensors, sft, rl, adamw } = document;
  return {
    architecture,
    tensors,
    /** A fresh copy at every call: engines change theirs. */
    weights: (): PlannerWeights => ({ architecture, flat: floats('weights') }),
    sftItems: sft.items.map(sequence),
    logprobs: sft.logprobs,
    sftLoss: sft.loss,
    sftGradients: floats('sft-gradients'),
    rlItems: rl.items.map((item): RlItem => ({ ...sequence(item), ...item })),
    clipped: rl.items.map((item) => item.clipped),
    importance: rl.items.map((item) => item.importance),
    rlOptions: rl.options,
    rlLoss: rl.loss,
    rlGradients: floats('rl-gradients'),
    optimizer: adamw.options,
    steps: adamw.steps,
    weightsAfterSteps: floats('adamw-weights'),
  };
}

function sequence(item: StoredItem): TrainingSequence {
  return { promptTokenIds: item.prompt, responseTokenIds: item.response };
}

/** The largest difference of any tensor, relative to that tensor's largest value, and the tensor's name. */
export function worstTensor(a: Architecture, got: Float32Array, want: Float32Array): { error: number; name: string } {
  let worst = { error: 0, name: '' };
  for (const { name, offset, size } of tensorSpecs(a)) {
    let difference = 0;
    let largest = 0;
    for (let i = offset; i < offset + size; i++) {
      difference = Math.max(difference, Math.abs(got[i] - want[i]));
      largest = Math.max(largest, Math.abs(want[i]));
    }
    const error = largest === 0 ? (difference === 0 ? 0 : Number.POSITIVE_INFINITY) : difference / largest;
    if (!(error <= worst.error)) worst = { error, name };
  }
  return worst;
}

export function largestDifference(got: ArrayLike<number>[], want: ArrayLike<number>[]): number {
  let largest = got.length === want.length ? 0 : Number.POSITIVE_INFINITY;
  got.forEach((values, i) => {
    if (values.length !== want[i].length) largest = Number.POSITIVE_INFINITY;
    for (let t = 0; t < values.length; t++) {
      const difference = Math.abs(values[t] - want[i][t]);
      // A NaN counts as a difference.
      if (!(difference <= largest)) largest = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference;
    }
  });
  return largest;
}
