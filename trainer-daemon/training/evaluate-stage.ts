/** The final comparison on held-out states: base, fine-tuned and reinforced planner on the same episodes. */
import type { EpisodeRecord } from '../../protocol/records.ts';
import { evaluationTable } from '../evaluation/tables.ts';
import { TrainingError } from './contract.ts';
import { evaluatePolicy, evaluationId, isEvaluated } from './evaluate-policy.ts';
import { type Compared, comparedPolicies, namedPolicies, policiesOf } from './history.ts';
import type { RunContext } from './run-context.ts';

export interface FinalTable {
  text: string;
  json: unknown;
}

/** @param versions policies to evaluate; default the base, the fine-tuned and the chosen RL planner. */
export async function runEvaluateStage(context: RunContext, versions?: number[]): Promise<FinalTable> {
  const rows: { label: string; episodes: EpisodeRecord[] }[] = [];
  for (const { label, version } of wanted(context, versions)) {
    context.checkStop();
    const { episodes } = await evaluatePolicy(context, {
      stage: 'evaluate',
      kind: 'evaluation',
      folder: context.policyFolder(version),
      policyVersion: version,
      label: `evaluating ${label}`,
    });
    rows.push({ label, episodes });
  }
  return evaluationTable(rows);
}

/** @throws TrainingError when a policy that is still to be evaluated is not there. */
function wanted(context: RunContext, versions: number[] | undefined): Compared[] {
  const known = policiesOf(context.lines);
  const { found, missing } = versions
    ? namedPolicies(versions, known)
    : { found: comparedPolicies(context.lines, known), missing: [] };
  if (missing.length > 0)
    throw new TrainingError(
      `the run has no policy v${missing[0]}; it has ${known.map(({ version }) => `v${version}`).join(', ') || 'none'}`,
    );
  const present = context.policies();
  for (const { version } of found) {
    const evaluated = isEvaluated(context, evaluationId({ kind: 'evaluation', policyVersion: version }));
    if (!evaluated && !present.some((policy) => policy.version === version))
      throw new TrainingError(
        `${context.policyFolder(version)}: the policy is to be evaluated, but its folder is gone; restore it from a copy`,
      );
  }
  return found;
}
