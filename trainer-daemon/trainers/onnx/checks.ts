/** What is refused before anything is computed: the message says which item and why. */
import { newRunAdvice } from '../../../protocol/new-run.ts';
import type { Architecture } from '../../planner/architecture.ts';
import { tensorSpecs } from '../../planner/architecture.ts';
import {
  type OptimizerOptions,
  type RlItem,
  type RlLossOptions,
  TrainerError,
  type TrainingSequence,
} from '../contract.ts';
import type { Range } from './adamw.ts';

/** @throws TrainerError on an empty batch, an empty prompt or response, a foreign token id, or too long a sequence */
export function checkSequences(a: Architecture, sequences: readonly TrainingSequence[], most = a.context): void {
  if (sequences.length === 0) throw new TrainerError('the batch is empty');
  sequences.forEach(({ promptTokenIds, responseTokenIds }, i) => {
    if (promptTokenIds.length === 0) throw new TrainerError(`item ${i}: the prompt is empty`);
    if (responseTokenIds.length === 0) throw new TrainerError(`item ${i}: the response is empty`);
    const tokens = promptTokenIds.length + responseTokenIds.length;
    if (tokens > most) {
      throw new TrainerError(
        `item ${i}: ${tokens} tokens, but the planner's context is ${most}; ${newRunAdvice('lower rl.maxTokens, or take a planner with a longer context,')}`,
      );
    }
    for (const ids of [promptTokenIds, responseTokenIds]) {
      for (let t = 0; t < ids.length; t++) {
        if (!Number.isInteger(ids[t]) || ids[t] < 0 || ids[t] >= a.vocabulary) {
          const where = ids === promptTokenIds ? 'prompt' : 'response';
          throw new TrainerError(
            `item ${i}: ${where} token ${t} is ${ids[t]}, outside the planner's vocabulary of ${a.vocabulary}; was it recorded with another tokenizer?`,
          );
        }
      }
    }
  });
}

/** @throws TrainerError unless the weight is a number from 0 */
export function checkPromptLossWeight(weight: number): void {
  if (!(Number.isFinite(weight) && weight >= 0))
    throw new TrainerError(`sft.promptLossWeight is ${weight}; it must not be negative`);
}

/** @throws TrainerError when a log-probability is missing or not a number, or A or u is not usable */
export function checkRlItems(items: readonly RlItem[]): void {
  items.forEach((item, i) => {
    const length = item.responseTokenIds.length;
    for (const key of ['behaviourLogprobs', 'oldLogprobs'] as const) {
      const values = item[key];
      if (values.length !== length) {
        throw new TrainerError(`item ${i}: ${values.length} ${key} for ${length} response tokens`);
      }
      for (let t = 0; t < length; t++) {
        if (!Number.isFinite(values[t])) throw new TrainerError(`item ${i}: ${key}[${t}] is ${values[t]}`);
      }
    }
    if (!Number.isFinite(item.advantage)) throw new TrainerError(`item ${i}: the advantage is ${item.advantage}`);
    if (!(Number.isFinite(item.u) && item.u >= 0)) throw new TrainerError(`item ${i}: u is ${item.u}`);
  });
}

/** @throws TrainerError unless 0 <= low < 1, 0 <= high, dual > 1 and the cap is positive */
export function checkRlLoss({ clip, importanceCap }: RlLossOptions): void {
  if (!(clip.low >= 0 && clip.low < 1)) throw new TrainerError(`rl.clip.low is ${clip.low}; it must lie in [0, 1)`);
  if (!(clip.high >= 0)) throw new TrainerError(`rl.clip.high is ${clip.high}; it must not be negative`);
  if (!(clip.dual > 1)) throw new TrainerError(`rl.clip.dual is ${clip.dual}; it must be above 1`);
  if (!(importanceCap > 0)) throw new TrainerError(`rl.importanceCap is ${importanceCap}; it must be positive`);
}

/** @throws TrainerError on a rate, beta, epsilon, decay or clip norm outside its range */
export function checkOptimizer(o: OptimizerOptions): void {
  const check = (name: string, value: number, good: boolean, rule: string) => {
    if (!good) throw new TrainerError(`${name} is ${value}; it must ${rule}`);
  };
  check('learningRate', o.learningRate, o.learningRate >= 0 && Number.isFinite(o.learningRate), 'not be negative');
  for (const beta of o.betas) check('beta', beta, beta >= 0 && beta < 1, 'lie in [0, 1)');
  check('epsilon', o.epsilon, o.epsilon > 0, 'be positive');
  check('weightDecay', o.weightDecay, o.weightDecay >= 0, 'not be negative');
  check('clipNorm', o.clipNorm, o.clipNorm > 0, 'be positive');
}

/**
 * The tensors that are trained, and their joined ranges in the flat parameter array.
 * @param setting what to call `freeze` in an error.
 * @throws TrainerError when a prefix matches nothing (a typing error would train what was to stay) or all is frozen
 */
export function trainedTensors(
  a: Architecture,
  freeze: readonly string[],
  setting = 'freeze',
): { names: Set<string>; ranges: Range[] } {
  const specs = tensorSpecs(a);
  for (const prefix of freeze) {
    if (!specs.some((s) => s.name.startsWith(prefix))) {
      throw new TrainerError(
        `${setting}: no tensor begins with "${prefix}"; names are like ${specs[1].name} and ${specs[0].name}. ${newRunAdvice('Correct it')}`,
      );
    }
  }
  const trained = specs.filter((s) => !freeze.some((prefix) => s.name.startsWith(prefix)));
  if (trained.length === 0)
    throw new TrainerError(`${setting} leaves no tensor to train. ${newRunAdvice('Take prefixes away')}`);
  const ranges: Range[] = [];
  for (const { offset, size } of trained) {
    const last = ranges[ranges.length - 1];
    if (last !== undefined && last.end === offset) last.end += size;
    else ranges.push({ begin: offset, end: offset + size });
  }
  return { names: new Set(trained.map((s) => s.name)), ranges };
}
