/** Supervised fine-tuning: targets, steps, checkpoints, and the choice among them on the validation states. */

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newRunAdvice } from '../../protocol/new-run.ts';
import type { StepRecord } from '../../protocol/records.ts';
import { chooseCheckpoint } from '../evaluation/choose.ts';
import { sftBatches } from '../sft/batches.ts';
import { checkpointSteps, learningRate } from '../sft/schedule.ts';
import { buildTargets, type SftTarget } from '../sft/targets.ts';
import { createTrainer } from '../trainers/index.ts';
import { callsOf, openPlannerText } from './calls.ts';
import { TrainingError } from './contract.ts';
import { readEpisodes } from './episodes.ts';
import { evaluatePolicy } from './evaluate-policy.ts';
import { exportWhole, placeFolder, registerPolicy } from './policies.ts';
import type { RunContext } from './run-context.ts';

/** Folder of checkpoint k in the run directory. */
function checkpointPath(number: number): string {
  return `sft/checkpoints/${String(number).padStart(2, '0')}`;
}

export async function runSftStage(context: RunContext): Promise<void> {
  if (context.policies().some((policy) => policy.stage === 'sft')) return;
  const targets = await prepareTargets(context);
  const steps = await takeSteps(context, targets);
  await choose(context, steps);
  for (const section of ['teacher', 'sft']) await context.release(section);
}

async function prepareTargets(context: RunContext): Promise<SftTarget[]> {
  const text = await openPlannerText(context.policyFolder(0));
  const episodes = [...(await readEpisodes(context, 'teacher')).values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const built = await buildTargets({
    episodes,
    calls: await callsOf(context, 'teacher'),
    renderPrompt: text.renderPrompt,
    encodeResponse: text.encodeResponse,
    // Recorded ids are another tokenizer's unless the teacher reported its hash, which no supported teacher does yet.
    sameTokenizer: false,
    maxTokens: text.context,
    onProgress: (done, total) => context.progress({ stage: 'sft', unit: 'episodes', label: 'targets', done, total }),
  });
  await context.store.section('sft').replaceLines('targets.jsonl', built.records);
  for (const message of built.warnings) await context.journal({ type: 'warning', message: `targets: ${message}` });
  await context.journal({ type: 'targets-built', targets: built.targets.length, dropped: built.dropped });
  if (built.targets.length === 0)
    throw new TrainingError(
      `no teacher response became a training target: see ${context.path('sft', 'targets.jsonl')} for the reasons; then ${newRunAdvice('change what causes them')}`,
    );
  return built.targets;
}

async function takeSteps(context: RunContext, targets: SftTarget[]): Promise<Map<number, number>> {
  const { sft, trainer: engine, seed } = context.config;
  const batches = sftBatches(targets, sft.batch, sft.epochs, seed);
  const points = checkpointSteps(batches.length, sft.checkpoints);
  const section = context.store.section('sft');
  const folder = (number: number) => context.path(checkpointPath(number));

  const done = context
    .events('checkpoint')
    .filter((event) => event.stage === 'sft' && existsSync(join(folder(event.number), 'config.json')));
  const last = done.at(-1);
  // A kill may have come between a checkpoint's entry and the removal of what it made needless.
  for (const { number } of done)
    if (last && number < last.number) await rm(join(folder(number), 'optimizer'), { recursive: true, force: true });
  if (last && last.number >= points.length) return new Map(points.map((step, k) => [k + 1, step]));
  if (last && !existsSync(join(folder(last.number), 'optimizer')))
    throw new TrainingError(`${folder(last.number)} has no optimizer state: the run cannot go on from there`);
  // Steps after the last checkpoint are taken again.
  const kept: StepRecord[] = context
    .events('step')
    .map((event) => event.record)
    .filter((record) => record.stage === 'sft' && record.step <= (last?.step ?? 0));
  await section.replaceLines('steps.jsonl', [...new Map(kept.map((record) => [record.step, record])).values()]);

  const trainer = await createTrainer(engine.engine, {
    checkpoint: last ? folder(last.number) : context.policyFolder(0),
    optimizer: last ? join(folder(last.number), 'optimizer') : undefined,
    device: engine.device,
    freeze: engine.freeze,
  });
  try {
    for (let step = (last?.step ?? 0) + 1; step <= batches.length; step++) {
      context.checkStop();
      const batch = batches[step - 1].items;
      const rate = learningRate(step, batches.length, sft);
      const { betas, epsilon, weightDecay, clipNorm } = sft;
      const optimizer = { learningRate: rate, betas, epsilon, weightDecay, clipNorm };
      const result = await trainer.sftStep(batch, optimizer, sft.promptLossWeight);
      const record: StepRecord = {
        step,
        stage: 'sft',
        round: 0,
        learningRate: rate,
        loss: result.loss,
        gradNorm: result.gradNorm,
        items: batch.length,
        tokens: result.tokens,
        seconds: result.seconds,
      };
      await section.appendLines('steps.jsonl', [record]);
      await context.journal({ type: 'step', record });
      context.progress({
        stage: 'sft',
        unit: 'steps',
        label: 'fine-tuning',
        done: step,
        total: batches.length,
      });
      const number = points.indexOf(step) + 1;
      if (number > 0) {
        await exportWhole(trainer, folder(number), `checkpoint ${number} of the fine-tuning`);
        await context.journal({
          type: 'checkpoint',
          stage: 'sft',
          number,
          step,
          path: checkpointPath(number),
        });
        if (number > 1) await rm(join(folder(number - 1), 'optimizer'), { recursive: true, force: true });
      }
    }
  } finally {
    await trainer.close();
  }
  return new Map(points.map((step, k) => [k + 1, step]));
}

async function choose(context: RunContext, points: Map<number, number>): Promise<void> {
  const candidates: { number: number; step: number; successes: number; episodes: number }[] = [];
  for (const [number, step] of points) {
    context.checkStop();
    const { summary } = await evaluatePolicy(context, {
      stage: 'sft',
      kind: 'validation',
      folder: context.path(checkpointPath(number)),
      policyVersion: 1,
      candidate: number,
      label: `validating checkpoint ${number} of ${points.size}`,
    });
    candidates.push({
      number,
      step,
      successes: summary.total.successes,
      episodes: summary.total.episodes - summary.total.invalid,
    });
  }
  const chosen = chooseCheckpoint(candidates);
  await context.journal({
    type: 'checkpoint-chosen',
    stage: 'sft',
    number: chosen.number,
    policyVersion: 1,
    successes: chosen.successes,
    episodes: chosen.episodes,
  });
  const from = context.path(checkpointPath(chosen.number));
  await placeFolder(from, context.policyFolder(1), 'the chosen checkpoint as policy v1');
  // RL starts with fresh moments.
  await rm(join(context.policyFolder(1), 'optimizer'), { recursive: true, force: true });
  await registerPolicy(context, {
    version: 1,
    parent: 0,
    stage: 'sft',
    round: 0,
    step: chosen.step,
    validation: {
      episodes: chosen.episodes,
      successes: chosen.successes,
      rate: chosen.episodes > 0 ? chosen.successes / chosen.episodes : 0,
    },
  });
}
