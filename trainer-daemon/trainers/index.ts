/** The engines by name. */
import { type Trainer, TrainerError, type TrainerOptions } from './contract.ts';
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
