/** Reinforcement learning in policy-versioned rounds: collect under fixed weights, build samples, update, serve. */

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { policySection, roundSection } from '../../protocol/ids.ts';
import type { JournalEvent } from '../../protocol/journal.ts';
import { newRunAdvice } from '../../protocol/new-run.ts';
import type { PolicyRecord, RoundPlan } from '../../protocol/records.ts';
import { chooseCheckpoint, taskPool } from '../evaluation/choose.ts';
import { buildSamples } from '../samples/build.ts';
import { rolloutJobs, roundPlan } from '../samples/plan.ts';
import { callsOf, openPlannerText } from './calls.ts';
import { TrainingError } from './contract.ts';
import { collectEpisodes, readEpisodes } from './episodes.ts';
import { evaluatePolicy, evaluationId } from './evaluate-policy.ts';
import { policiesOf } from './history.ts';
import { placeFolder, registerPolicy } from './policies.ts';
import { totalSteps, update } from './rl-update.ts';
import type { RunContext } from './run-context.ts';
import { chosenTasks } from './tasks.ts';

export async function runRlStage(context: RunContext, rounds: number): Promise<void> {
  if (policiesOf(context.lines).some((policy) => policy.version === 1)) requirePolicy(context, 1);
  else await startFromBase(context);
  const pool = await drawPool(context);
  const plans: RoundPlan[] = [];
  for (let round = 1; round <= rounds; round++) {
    // Plans depend on the seed and on the plans before, so those of finished rounds are drawn again.
    const plan = drawPlan(context, round, pool, plans);
    plans.push(plan);
    if (context.events('round-finished').some((event) => event.round === round)) {
      await dropOldMoments(context, round);
      continue;
    }
    await runRound(context, plan, rounds);
    await context.release(roundSection(round));
    context.checkStop('round');
  }
  if (rounds > 0 && !chosenSince(context)) await choose(context, rounds);
}

/** Whether the choice took all finished rounds into account: further rounds are chosen among anew. */
function chosenSince(context: RunContext): boolean {
  const last = (wanted: (event: JournalEvent) => boolean) => context.lines.findLastIndex(({ event }) => wanted(event));
  return (
    last((event) => event.type === 'checkpoint-chosen' && event.stage === 'rl') >
    last((event) => event.type === 'round-finished')
  );
}

/** @throws TrainingError when the folder of a policy that the run has made is gone. */
function requirePolicy(context: RunContext, version: number): void {
  if (!context.policies().some((policy) => policy.version === version))
    throw new TrainingError(
      `${context.policyFolder(version)}: the run made this policy and goes on from it, but its folder is gone or has no config.json; restore it from a copy`,
    );
}

/** RL without a fine-tuning stage starts from the base planner as version 1. */
async function startFromBase(context: RunContext): Promise<void> {
  if (context.config.planner.checkpoint === undefined)
    throw new TrainingError(
      'reinforcement learning from a freshly initialised planner cannot work: run the sft stage first',
    );
  await placeFolder(context.policyFolder(0), context.policyFolder(1), 'the base planner as policy v1');
  await registerPolicy(context, { version: 1, parent: 0, stage: 'base', round: 0, step: 0, validation: null });
}

/** Tasks that groups are drawn from (the paper's rule for CaP-X, appendix C.3, or all). */
async function drawPool(context: RunContext): Promise<string[]> {
  const tasks = await chosenTasks(context);
  const rule = context.config.rl.taskPool;
  if (rule === 'all') return tasks;
  const chosen = context.events('checkpoint-chosen').find((event) => event.stage === 'sft');
  const episodes = chosen
    ? [
        ...(
          await readEpisodes(
            context,
            `evaluations/${evaluationId({ kind: 'validation', policyVersion: 1, candidate: chosen.number })}`,
          )
        ).values(),
      ]
    : (
        await evaluatePolicy(context, {
          stage: 'rl',
          kind: 'validation',
          folder: context.policyFolder(1),
          policyVersion: 1,
          label: 'validating the starting policy',
        })
      ).episodes;
  const pool = taskPool(episodes, rule, tasks).tasks;
  if (pool.length === 0)
    throw new TrainingError(
      `rl.taskPool solved-1-to-4-of-5 leaves no task: every task is solved always or never on the validation states. ${newRunAdvice('Write "taskPool: all"')}`,
    );
  return pool;
}

function drawPlan(context: RunContext, round: number, pool: string[], earlier: RoundPlan[]): RoundPlan {
  const { rl, splits, seed } = context.config;
  return roundPlan({
    round,
    policyVersion: round,
    tasks: pool,
    states: splits.training,
    groupsPerRound: rl.groupsPerRound,
    attemptsPerGroup: rl.attemptsPerGroup,
    seed,
    earlier,
  });
}

async function runRound(context: RunContext, plan: RoundPlan, rounds: number): Promise<void> {
  const { config } = context;
  const { round } = plan;
  // The episodes of an interrupted validation were played with these very weights.
  if (!isUpdated(context, round)) await collectAndUpdate(context, plan, rounds);

  let validation: PolicyRecord['validation'] = null;
  if (round % config.rl.validateEvery === 0 || round === rounds) {
    const { summary } = await evaluatePolicy(context, {
      stage: 'rl',
      kind: 'validation',
      folder: context.policyFolder(round + 1),
      policyVersion: round + 1,
      label: `round ${round} of ${rounds}: validation`,
    });
    const valid = summary.total.episodes - summary.total.invalid;
    validation = {
      episodes: valid,
      successes: summary.total.successes,
      rate: valid > 0 ? summary.total.successes / valid : 0,
    };
  }
  await registerPolicy(context, {
    version: round + 1,
    parent: round,
    stage: 'rl',
    round,
    step: totalSteps(context),
    validation,
  });
  await context.journal({ type: 'round-finished', round, policyVersion: round + 1 });
  await dropOldMoments(context, round);
}

/** Whether the round's new weights are there whole, though the round may not be finished. */
function isUpdated(context: RunContext, round: number): boolean {
  return (
    context.events('checkpoint').some((event) => event.stage === 'rl' && event.number === round) &&
    existsSync(join(context.policyFolder(round + 1), 'config.json'))
  );
}

/** Only the newest optimizer state is needed to go on. */
async function dropOldMoments(context: RunContext, round: number): Promise<void> {
  await rm(join(context.policyFolder(round), 'optimizer'), { recursive: true, force: true });
}

/** A round up to its new weights. */
async function collectAndUpdate(context: RunContext, plan: RoundPlan, rounds: number): Promise<void> {
  const { config } = context;
  const { round, policyVersion } = plan;
  const name = roundSection(round);
  const section = context.store.section(name);
  const started = performance.now();

  requirePolicy(context, policyVersion);
  const recorded = await (await context.recording()).plan(round);
  if (recorded && 'damaged' in recorded)
    await context.journal({
      type: 'warning',
      message: `${name}/plan.json: ${recorded.damaged}; the plan is drawn again from the config and its seed`,
    });
  if (!recorded || 'damaged' in recorded) {
    await section.writeJson('plan.json', plan);
    await context.journal({
      type: 'round-planned',
      round,
      policyVersion,
      groups: plan.groups.length,
      attempts: plan.attempts,
    });
  }

  const { episodes } = await collectRound(context, name, plan, rounds);
  const collected = performance.now();
  await context.journal({
    type: 'round-collected',
    round,
    episodes: episodes.length,
    invalid: episodes.filter((episode) => !episode.valid).length,
  });

  const text = await openPlannerText(context.policyFolder(policyVersion));
  const built = await buildSamples({
    round,
    policyVersion,
    plan,
    // Earlier tries too: every call gets a status.
    episodes: [...(await readEpisodes(context, name)).values()],
    calls: await callsOf(context, name),
    renderPrompt: text.renderPrompt,
    config: config.rl,
    contextLimit: text.context,
    seed: config.seed,
    onProgress: (done, total) =>
      context.progress({ stage: 'rl', unit: 'episodes', label: `round ${round} of ${rounds}: samples`, done, total }),
  });
  await section.replaceLines('samples.jsonl', built.samples);
  for (const message of built.warnings)
    await context.journal({ type: 'warning', message: `round ${round}: ${message}` });
  await context.journal({ type: 'samples-built', round, selected: built.items.length, byStatus: built.byStatus });
  const sampled = performance.now();

  context.checkStop();
  const steps = await update(context, name, round, rounds, built);
  const updated = performance.now();
  await section.writeJson('summary.json', {
    round,
    policyVersion,
    episodes: episodes.length,
    invalid: episodes.filter((episode) => !episode.valid).length,
    successes: built.successes,
    meanReward: built.meanReward,
    groupsWithSignal: built.groupsWithSignal,
    calls: built.samples.length,
    samplesByStatus: built.byStatus,
    selected: built.items.length,
    optimizerSteps: steps,
    seconds: {
      collect: (collected - started) / 1000,
      samples: (sampled - collected) / 1000,
      update: (updated - sampled) / 1000,
    },
  });
  const path = policySection(round + 1);
  await context.journal({ type: 'checkpoint', stage: 'rl', number: round, step: totalSteps(context), path });
}

function collectRound(
  context: RunContext,
  section: string,
  plan: RoundPlan,
  rounds: number,
): ReturnType<typeof collectEpisodes> {
  return collectEpisodes(context, {
    section,
    keys: rolloutJobs(plan, context.store.info.id),
    upstream: () => context.servePlanner(context.policyFolder(plan.policyVersion), plan.policyVersion),
    sampling: context.config.rl.sampling,
    stage: 'rl',
    label: `round ${plan.round} of ${rounds}: episodes`,
  });
}

async function choose(context: RunContext, rounds: number): Promise<void> {
  const candidates = context
    .policies()
    .filter((policy) => policy.stage === 'rl' && policy.round <= rounds && policy.validation !== null)
    .map((policy) => ({
      number: policy.version,
      step: policy.step,
      successes: policy.validation?.successes ?? 0,
      episodes: policy.validation?.episodes ?? 0,
    }));
  const chosen = chooseCheckpoint(candidates);
  await context.journal({
    type: 'checkpoint-chosen',
    stage: 'rl',
    number: chosen.number - 1,
    policyVersion: chosen.number,
    successes: chosen.successes,
    episodes: chosen.episodes,
  });
}
