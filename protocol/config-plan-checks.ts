/** Numbers of a config that are right alone, but do not work out together: batches, schedules, limits. */
import type { TrainingConfig } from './config.ts';
import { fineTuningArithmetic, roundArithmetic } from './config-arithmetic.ts';
import type { Add, CrossFieldProblem } from './config-checks.ts';
import { plural } from './counting.ts';

const ROUND_KEYS = ['rl.groupsPerRound', 'rl.attemptsPerGroup', 'rl.maxResponsesPerEpisode', 'harness.limits.turns'];
const TARGET_KEYS = ['harness', 'teacher.episodesPerTask', 'sft.batch', 'sft.epochs'];

/** What shows without looking at anything but the config. */
export function checkPlan(config: TrainingConfig, written: Record<string, unknown>, add: Add): void {
  const { rl, planner } = config;
  const { samples } = roundArithmetic(config);
  if (rl.rounds > 0 && rl.batch > samples)
    add(
      'warning',
      'batch-beyond-round',
      'rl.batch',
      `a batch of ${rl.batch} is never full: a round gives at most ${plural(samples, 'sample')} (${rl.groupsPerRound} groups x ${rl.attemptsPerGroup} attempts x ${Math.min(rl.maxResponsesPerEpisode, config.harness.limits.turns)} responses)`,
      { rests: ROUND_KEYS },
    );
  const { selectionStates, episodesPerState } = config.evaluation;
  const validation = selectionStates === 'validation' ? config.splits.validation : selectionStates;
  const episodes = validation.length * episodesPerState;
  if (rl.rounds > 0 && rl.taskPool === 'solved-1-to-4-of-5' && episodes !== 5 && episodes > 0)
    add(
      episodes === 1 ? 'warning' : 'hint',
      'task-pool-size',
      'rl.taskPool',
      episodes === 1
        ? 'with one validation episode a task is solved always or never, and the pool is empty; the rule is meant for five'
        : `the rule is meant for five validation episodes a task, and there are ${episodes}; tasks solved at least once and not always are kept`,
      { rests: ['splits.validation', 'evaluation.selectionStates', 'evaluation.episodesPerState'] },
    );
  const limits = sectionOf(sectionOf(written, 'harness'), 'limits');
  const { seconds, idleSeconds } = config.harness.limits;
  // The default, 600 s, is longer than many episodes; only who wrote the limit relies on it.
  if (limits.idleSeconds !== undefined && idleSeconds > seconds)
    add(
      'warning',
      'idle-limit-high',
      'harness.limits.idleSeconds',
      `${idleSeconds} s without a call or output cannot pass: an episode ends after ${seconds} s (harness.limits.seconds), and one that hangs counts as a failure of the planner`,
      { rests: ['harness.limits.seconds'] },
    );
  const init = sectionOf(sectionOf(written, 'planner'), 'init');
  // The shipped defaults are not held against those who wrote neither.
  if (planner.checkpoint === undefined && (limits.responseTokens !== undefined || init.context !== undefined))
    checkContext(
      config,
      planner.init?.context ?? 2048,
      limits.responseTokens === undefined ? 'planner.init.context' : 'harness.limits.responseTokens',
      ['planner', 'harness.limits'],
      add,
    );
}

function checkContext(config: TrainingConfig, context: number, path: string, rests: string[], add: Add): void {
  const { responseTokens } = config.harness.limits;
  if (responseTokens >= context)
    add(
      'warning',
      'context-too-small',
      path,
      `a response of ${responseTokens} tokens (harness.limits.responseTokens) cannot be reached: the planner reads ${context} tokens, prompt and response together`,
      { rests: rests.filter((other) => other !== path) },
    );
}

/** What the files around a config say. */
export interface PlanFacts {
  /** Tasks it trains on. */
  tasks?: number;
  /** Longest sequence of the checkpoint, tokens. */
  context?: number;
}

/** What shows once the adapter's list or the checkpoint is known. */
export function factProblems(config: TrainingConfig, { tasks, context }: PlanFacts): CrossFieldProblem[] {
  const problems: CrossFieldProblem[] = [];
  const add: Add = (severity, code, path, message, more) =>
    problems.push({ severity, code, path: path.split('.'), message, ...more });
  if (context !== undefined) checkContext(config, context, 'planner.checkpoint', ['harness.limits'], add);
  if (tasks === undefined || tasks === 0) return problems;
  const { targets, optimizerSteps, episodes } = fineTuningArithmetic(config, tasks);
  const { sft, harness } = config;
  const most = `${plural(episodes, 'teacher episode')} of at most ${plural(harness.limits.turns, 'turn')}`;
  if (sft.batch > targets)
    add(
      'warning',
      'batch-beyond-targets',
      'sft.batch',
      `a batch of ${sft.batch} is never full: ${most} give at most ${plural(targets, 'target')}`,
      { rests: TARGET_KEYS },
    );
  else if (sft.warmupSteps >= optimizerSteps)
    add(
      'warning',
      'schedule-too-long',
      'sft.warmupSteps',
      `the warm-up of ${plural(sft.warmupSteps, 'step')} outlasts fine-tuning, which has at most ${plural(optimizerSteps, 'step')} (${most}): the full learning rate is never reached`,
      { rests: TARGET_KEYS },
    );
  if (sft.checkpoints > optimizerSteps)
    add(
      'warning',
      'checkpoints-beyond-steps',
      'sft.checkpoints',
      `${sft.checkpoints} checkpoints cannot differ: fine-tuning has at most ${plural(optimizerSteps, 'step')} (${most})`,
      { rests: TARGET_KEYS },
    );
  return problems;
}

function sectionOf(value: Record<string, unknown>, name: string): Record<string, unknown> {
  const inner = value[name];
  return typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? (inner as Record<string, unknown>) : {};
}
