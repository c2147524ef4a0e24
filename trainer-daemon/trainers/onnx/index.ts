/** The default engine: forward, backward and log-probs as ONNX graphs on onnxruntime-node, AdamW beside them. */
import { bundlePath } from '../../bundles.ts';
import type { Trainer, TrainerOptions } from '../contract.ts';
import { openOnnxTrainer } from './trainer.ts';
import { startTrainerWorker } from './worker-client.ts';

export interface OnnxTrainerOptions extends TrainerOptions {
  /** Computes in the calling thread, which is blocked meanwhile; default: in a worker thread. */
  inProcess?: boolean;
}

/**
 * Opens the checkpoint (and the optimizer state, if given) for training. Close the trainer after use.
 * @throws TrainerError that says what is wrong with the checkpoint, the state, the device or an option
 */
export async function createOnnxTrainer(options: OnnxTrainerOptions): Promise<Trainer> {
  const { inProcess, ...own } = options;
  return inProcess ? openOnnxTrainer(own) : startTrainerWorker(bundlePath('trainer-worker'), own);
}
