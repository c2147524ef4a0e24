/** Optimizer batches of an RL round. */
import { Random } from '../../protocol/random.ts';
import { evenBatches } from '../even-batches.ts';

export interface RlBatch<T> {
  /** 0-based pass over the round's samples. */
  pass: number;
  items: T[];
}

/**
 * Cuts a round's selected samples into optimizer batches: in each pass every sample once, ceil(n / batch) batches (design
 * 3.3), whose sizes differ by at most 1. A last batch of the two or three that are left over would move the weights as far
 * as a full one, as eq. 5's normaliser is the batch's, and at random.
 *
 * The turns of an episode stay next to each other, in the order given: each pass shuffles the *episodes* and then cuts.
 * Their prompts begin alike, so a trainer that computes shared prefixes once saves most of the forward work. The price
 * is that a batch holds fewer distinct episodes than one drawn turn by turn (at least batch / 16 with the paper's
 * settings); eq. 5 allows for it, because a batch need not hold complete episodes and its normaliser is the batch's.
 *
 * @param items Selected samples; the order of episodes in it does not matter.
 * @returns All batches of all passes, in the order of the optimizer steps; none when there are no items.
 * @throws RangeError when `batch` or `passes` is not a positive whole number.
 */
export function rlBatches<T extends { episodeId: string }>(
  items: readonly T[],
  batch: number,
  passes: number,
  seed: number,
  round: number,
): RlBatch<T>[] {
  if (!Number.isInteger(batch) || batch < 1)
    throw new RangeError(`batch must be a positive whole number, not ${batch}`);
  if (!Number.isInteger(passes) || passes < 1) {
    throw new RangeError(`passes must be a positive whole number, not ${passes}`);
  }
  const steps = Math.ceil(items.length / batch);
  return evenBatches(items, steps, passes, (pass) => new Random('rl-batches', seed, round, pass));
}
