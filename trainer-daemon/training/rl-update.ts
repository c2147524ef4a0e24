/** The update of one round: old log-probs, optimizer steps, the new weights. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TrainingConfig } from '../../protocol/config.ts';
import type { ScoreRecord, StepRecord } from '../../protocol/records.ts';
import { rlBatches } from '../samples/batches.ts';
import type { BuiltRound, SelectedSample } from '../samples/build.ts';
import type { Trainer } from '../trainers/contract.ts';
import { createTrainer } from '../trainers/index.ts';
import { frozenInRounds } from './frozen.ts';
import { exportWhole } from './policies.ts';
import type { RunContext } from './run-context.ts';
import { UNDONE, undoneSteps } from './undone-steps.ts';

/** Optimizer steps of all rounds so far; those of an update that was begun anew count once. */
export function totalSteps(context: RunContext): number {
  return new Set(
    context
      .events('step')
      .filter((event) => event.record.stage === 'rl')
      .map((event) => event.record.step),
  ).size;
}

/** Learning rate of a round, 1-based: from `learningRate` in the first to `finalRate` times that in the last. */
export function roundRate(
  rl: Pick<TrainingConfig['rl'], 'learningRate' | 'finalRate'>,
  round: number,
  rounds: number,
): number {
  const progress = rounds > 1 ? Math.min(1, (round - 1) / (rounds - 1)) : 0;
  return rl.learningRate * (1 - (1 - rl.finalRate) * progress);
}

/** Optimizer steps of one round (eq. 5-7); returns how many were taken. The new weights are policies/v(1+round). */
export async function update(
  context: RunContext,
  name: string,
  round: number,
  rounds: number,
  built: BuiltRound,
): Promise<number> {
  const { rl, trainer: engine, seed } = context.config;
  const target = context.policyFolder(round + 1);
  const from = context.policyFolder(round);
  const optimizer = join(from, 'optimizer');
  const earlier = new Set(
    context
      .events('step')
      .flatMap((event) => (event.record.stage === 'rl' && event.record.round < round ? [event.record.step] : [])),
  ).size;
  if (round > 1 && !existsSync(optimizer))
    await context.journal({
      type: 'warning',
      message: `${optimizer} is gone: round ${round} goes on with fresh optimizer moments, and the run is not the one it would have been`,
    });
  const trainer = await createTrainer(engine.engine, {
    checkpoint: from,
    optimizer: existsSync(optimizer) ? optimizer : undefined,
    device: engine.device,
    freeze: frozenInRounds(context.config),
  });
  const section = context.store.section(name);
  const learningRate = roundRate(rl, round, rounds);
  try {
    const batches = built.items.length > 0 ? rlBatches(built.items, rl.batch, rl.passes, seed, round) : [];
    const logq = await scoreOld(context, trainer, built.items, round, rounds);
    const steps: StepRecord[] = [];
    const scores: ScoreRecord[] = [];
    for (const [index, { pass, items }] of batches.entries()) {
      context.checkStop();
      const step = earlier + index + 1;
      const result = await trainer.rlStep(
        items.map((item) => ({ ...item, oldLogprobs: logq.get(item.callId) ?? [] })),
        { clip: rl.clip, importanceCap: rl.importanceCap },
        {
          learningRate,
          betas: rl.betas,
          epsilon: rl.epsilon,
          weightDecay: rl.weightDecay,
          clipNorm: rl.clipNorm,
        },
      );
      items.forEach((item, i) => {
        scores.push({
          call: item.callId,
          pass,
          step,
          logq: [...(logq.get(item.callId) ?? [])],
          logp: [...result.logprobs[i]],
          w: [...result.importanceWeights[i]],
          clipped: [...result.clipped[i]],
        });
      });
      const record: StepRecord = {
        step,
        stage: 'rl',
        round,
        learningRate,
        loss: result.loss,
        gradNorm: result.gradNorm,
        items: items.length,
        tokens: result.tokens,
        seconds: result.seconds,
        clipFractions: result.clipFractions,
        importance: result.importance,
        approximateKl: result.approximateKl,
        responseLength: result.responseLength,
      };
      steps.push(record);
      await context.journal({ type: 'step', record });
      context.progress({
        stage: 'rl',
        unit: 'steps',
        label: `round ${round} of ${rounds}: update`,
        done: index + 1,
        total: batches.length,
      });
    }
    // Once a run: what is wrong in one round is so in the next.
    const undone = undoneSteps(steps);
    if (undone && !context.events('warning').some(({ message }) => message.includes(UNDONE)))
      await context.journal({ type: 'warning', message: `round ${round}: ${undone}` });
    await section.replaceLines('steps.jsonl', steps);
    await section.replaceLines('scores.jsonl', scores);
    await exportWhole(trainer, target, `the policy of round ${round}`);
    return batches.length;
  } finally {
    await trainer.close();
  }
}

/** log q of every selected response under the round's starting weights (eq. 6). */
async function scoreOld(
  context: RunContext,
  trainer: Trainer,
  items: SelectedSample[],
  round: number,
  rounds: number,
): Promise<Map<string, Float32Array>> {
  const scores = await trainer.score(items, (done, total) =>
    context.progress({
      stage: 'rl',
      unit: 'responses',
      label: `round ${round} of ${rounds}: old log-probs`,
      done,
      total,
    }),
  );
  return new Map(items.map((item, i) => [item.callId, scores[i]]));
}
