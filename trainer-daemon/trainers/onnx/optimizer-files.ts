/**
 * AdamW's state on disk: one safetensors file, `exp_avg.<tensor>` and `exp_avg_sq.<tensor>` (PyTorch's names) with the
 * step count in its metadata. One file, replaced by a rename: a reader sees the old state or the whole new one.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Architecture, parameterCount, tensorSpecs } from '../../planner/architecture.ts';
import { CheckpointError } from '../../planner/checkpoint-error.ts';
import { SafetensorsFile, writeSafetensors } from '../../planner/safetensors.ts';
import { type AdamState, freshAdamState } from './adamw.ts';

export const OPTIMIZER_FILE = 'optimizer.safetensors';

const moments = [
  ['exp_avg', 'firstMoments'],
  ['exp_avg_sq', 'secondMoments'],
] as const;

/** Writes the state into `folder`, created when absent. */
export async function writeOptimizer(folder: string, a: Architecture, state: AdamState): Promise<void> {
  await mkdir(folder, { recursive: true });
  const tensors = moments.flatMap(([prefix, key]) =>
    tensorSpecs(a).map(({ name, shape, offset, size }) => ({
      name: `${prefix}.${name}`,
      shape,
      data: state[key].subarray(offset, offset + size),
    })),
  );
  await writeSafetensors(join(folder, OPTIMIZER_FILE), tensors, { format: 'pt', step: String(state.steps) });
}

/** @throws CheckpointError when the file is absent, damaged, of another architecture, or holds impossible values */
export async function readOptimizer(folder: string, a: Architecture): Promise<AdamState> {
  const state = freshAdamState(parameterCount(a));
  const file = await SafetensorsFile.open(join(folder, OPTIMIZER_FILE));
  try {
    const steps = Number(file.metadata.step);
    if (!Number.isSafeInteger(steps) || steps < 0) {
      throw new CheckpointError(file.file, `its step count is ${JSON.stringify(file.metadata.step)}; copy it again`);
    }
    state.steps = steps;
    for (const [prefix, key] of moments) {
      for (const { name, shape, offset, size } of tensorSpecs(a)) {
        await file.readInto(`${prefix}.${name}`, shape, state[key].subarray(offset, offset + size));
      }
    }
  } finally {
    await file.close();
  }
  const impossible =
    state.firstMoments.some((m) => !Number.isFinite(m)) || state.secondMoments.some((v) => !(v >= 0 && v < Infinity));
  if (impossible) throw new CheckpointError(file.file, 'holds moments that no training gives; copy it again');
  return state;
}
