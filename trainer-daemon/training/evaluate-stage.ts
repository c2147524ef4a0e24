/** The final comparison on held-out states: base, fine-tuned and reinforced planner on the same episodes. */
import type { EpisodeRecord } from '../../protocol/records.ts';
import { evaluationTable } from '../evaluation/tables.ts';
import { evaluatePolicy } from './evaluate-policy.ts';
import type { RunContext } from './run-context.ts';

export interface FinalTable {
  text: string;
  json: unknown;
}

export async function runEvaluateStage(context: RunContext): Promise<FinalTable> {
  const rows: { label: string; episodes: EpisodeRecord[] }[] = [];
  for (const { label, version } of comparedPolicies(context)) {
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

/** Version 0, the fine-tuned one, and the RL version chosen on validation; whichever exist. */
export function comparedPolicies(context: RunContext): { label: string; version: number }[] {
  const policies = context.policies();
  const compared: { label: string; version: number }[] = [];
  if (policies.some((policy) => policy.version === 0)) compared.push({ label: 'base', version: 0 });
  const sft = policies.find((policy) => policy.stage === 'sft');
  if (sft) compared.push({ label: 'SFT', version: sft.version });
  const chosen = context.events('checkpoint-chosen').findLast((event) => event.stage === 'rl');
  if (chosen) compared.push({ label: 'RL', version: chosen.policyVersion });
  return compared;
}
