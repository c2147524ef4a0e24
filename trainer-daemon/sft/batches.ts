/** Optimizer batches of supervised fine-tuning. */
import { Random } from '../../protocol/random.ts';
import { evenBatches } from '../even-batches.ts';
import { stepsPerEpoch } from './schedule.ts';

export interface SftBatch<T> {
  /** 0-based. */
  epoch: number;
  items: T[];
}

/**
 * Cuts the target turns into optimizer batches: exactly {@link stepsPerEpoch} an epoch, every target once an epoch.
 *
 * As the number of steps is rounded, the batches cannot all hold `batch` targets; the difference is spread evenly, so
 * that sizes differ by at most 1 and no step rests on a small remainder (2,370 targets at batch 64: 37 steps of 64 or
 * 65). Each epoch shuffles the *episodes* and keeps the turns of one episode together in the order given, so that
 * prompts that begin alike meet in a batch and their shared prefix is computed once.
 *
 * @param targets Target turns; the order of episodes in it does not matter.
 * @returns All batches of all epochs, in the order of the optimizer steps; none when there are no targets.
 * @throws RangeError when `batch` or `epochs` is not a positive whole number.
 */
export function sftBatches<T extends { episodeId: string }>(
  targets: readonly T[],
  batch: number,
  epochs: number,
  seed: number,
): SftBatch<T>[] {
  if (!Number.isInteger(epochs) || epochs < 1) {
    throw new RangeError(`epochs must be a positive whole number, not ${epochs}`);
  }
  const steps = stepsPerEpoch(targets.length, batch);
  return evenBatches(targets, steps, epochs, (epoch) => new Random('sft-batches', seed, epoch)).map(
    ({ pass: epoch, items }) => ({ epoch, items }),
  );
}
