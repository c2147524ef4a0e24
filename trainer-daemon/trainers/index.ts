/** The engines by name. */
import type { Architecture } from '../planner/architecture.ts';
import { type Trainer, TrainerError, type TrainerOptions } from './contract.ts';
import { trainedTensors } from './onnx/checks.ts';
import { createOnnxTrainer } from './onnx/index.ts';

export type EngineName = 'onnx' | 'tfjs' | 'tinker';

/**
 * Opens a trainer of the engine named in `trainer.engine`.
 * @throws TrainerError when the engine is not in this version, or cannot be opened
 */
export async function createTrainer(engine: EngineName, options: TrainerOptions): Promise<Trainer> {
  if (engine === 'onnx') return createOnnxTrainer(options);
  throw new TrainerError(
    `trainer.engine ${engine} is not in this version; use engine: onnx (device: cpu, cuda or webgpu), which trains planners that fit one machine`,
  );
}

/**
 * Checks a list of tensors to hold, where the engine's tensors are known here.
 * @param setting what to call the list in an error.
 * @throws TrainerError when a prefix matches nothing, or all tensors are held.
 */
export function checkFreeze(
  engine: EngineName,
  architecture: Architecture,
  freeze: readonly string[],
  setting: string,
): void {
  if (engine === 'onnx') trainedTensors(architecture, freeze, setting);
}
