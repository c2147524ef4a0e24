/** Evaluating one set of weights on a set of states: episodes, summary, journal entry. */
import { existsSync } from 'node:fs';
import type { Stage } from '../../protocol/journal.ts';
import type { EpisodeRecord, EvaluationSummary } from '../../protocol/records.ts';
import { evaluationJobs, evaluationStates } from '../evaluation/jobs.ts';
import { summarise } from '../evaluation/tables.ts';
import { collectEpisodes } from './episodes.ts';
import type { RunContext } from './run-context.ts';
import { chosenTasks } from './tasks.ts';

export interface PolicyEvaluation {
  stage: Stage;
  kind: 'validation' | 'evaluation';
  /** Checkpoint folder. */
  folder: string;
  policyVersion: number;
  /** Number of the checkpoint among those that may become this version. */
  candidate?: number;
  label: string;
}

/** Name of the folder under evaluations/, for example `validation-v0001-k03`. */
export function evaluationId(evaluation: Pick<PolicyEvaluation, 'kind' | 'policyVersion' | 'candidate'>): string {
  const candidate = evaluation.candidate === undefined ? '' : `-k${String(evaluation.candidate).padStart(2, '0')}`;
  return `${evaluation.kind}-v${String(evaluation.policyVersion).padStart(4, '0')}${candidate}`;
}

/** Runs what is missing of an evaluation and returns its episodes and tallies. */
export async function evaluatePolicy(
  context: RunContext,
  evaluation: PolicyEvaluation,
): Promise<{ episodes: EpisodeRecord[]; summary: EvaluationSummary }> {
  const { config } = context;
  const id = evaluationId(evaluation);
  const name = `evaluations/${id}`;
  const keys = evaluationJobs({
    run: context.store.info.id,
    role: evaluation.kind,
    policyVersion: evaluation.policyVersion,
    tasks: await chosenTasks(context),
    states: evaluationStates(config, evaluation.kind),
    episodesPerState: config.evaluation.episodesPerState,
  }).map((key) => (evaluation.candidate === undefined ? key : { ...key, candidate: evaluation.candidate }));
  const known = existsSync(context.path(name, 'summary.json')) && isEvaluated(context, id);
  const started = performance.now();
  const { episodes, played } = await collectEpisodes(context, {
    section: name,
    keys,
    upstream: () => context.servePlanner(evaluation.folder, evaluation.policyVersion),
    sampling: config.evaluation.sampling,
    stage: evaluation.stage,
    label: evaluation.label,
  });
  const summary: EvaluationSummary = {
    id,
    policyVersion: evaluation.policyVersion,
    kind: evaluation.kind,
    ...summarise(episodes),
    seconds: (performance.now() - started) / 1000,
  };
  if (!known || played > 0) {
    await context.store.section(name).writeJson('summary.json', summary);
    await context.journal({ type: 'evaluated', summary, path: name });
  }
  await context.release(name);
  return { episodes, summary };
}

/** Whether the journal tells of the evaluation; a crash may have come between its summary and that entry. */
export function isEvaluated(context: RunContext, id: string): boolean {
  return context.events('evaluated').some((event) => event.summary.id === id);
}
