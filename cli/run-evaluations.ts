/** The evaluations of a run and their episodes, as reports and comparisons need them. */
import { nearest } from '../protocol/nearest.ts';
import type { EpisodeRecord, EvaluationSummary, PolicyRecord } from '../protocol/records.ts';
import { isDamaged, type Recording } from '../recordings/index.ts';
import { commandName, shellWord } from '../trainer-daemon/training/resume-command.ts';
import { CommandError } from './exit.ts';

/** Finished evaluations in the order of their policy versions; what cannot be read goes to `onDamaged`. */
export async function evaluationsOf(
  recording: Recording,
  onDamaged: (text: string) => void = () => {},
): Promise<EvaluationSummary[]> {
  const found: EvaluationSummary[] = [];
  for (const section of (await recording.sections()).evaluations) {
    const id = section.slice('evaluations/'.length);
    const summary = await recording.evaluation(id);
    if (summary === undefined) continue;
    if (isDamaged(summary)) onDamaged(`${section}/summary.json: ${summary.damaged}`);
    else found.push(summary);
  }
  return found.sort((a, b) => a.policyVersion - b.policyVersion);
}

export async function episodesOf(
  recording: Recording,
  section: string,
  onDamaged: (text: string) => void = () => {},
): Promise<EpisodeRecord[]> {
  const index = await recording.episodes(section);
  const episodes: EpisodeRecord[] = [];
  for await (const record of index) {
    if (!isDamaged(record)) episodes.push(record);
    else onDamaged(`${section}/episodes.jsonl, line ${record.line}: ${record.damaged}`);
  }
  return episodes;
}

/**
 * The evaluation that stands for a run: the one asked for, or that of its latest policy on the held-out states.
 * @throws CommandError naming the evaluations there are.
 */
export async function evaluationFor(recording: Recording, named: string | undefined): Promise<EvaluationSummary> {
  const evaluations = await evaluationsOf(recording);
  const names = evaluations.map((evaluation) => evaluation.id);
  if (named !== undefined) {
    const found = evaluations.find((evaluation) => evaluation.id === named);
    if (found) return found;
    const near = nearest(named, names);
    throw new CommandError(
      `${recording.directory} has no evaluation "${named}"; ${near ? `did you mean "${near}"? ` : ''}${names.length > 0 ? `there are ${names.join(', ')}` : 'it has none that is finished'}`,
    );
  }
  const final = evaluations.findLast((evaluation) => evaluation.kind === 'evaluation');
  if (final) return final;
  throw new CommandError(
    `${recording.directory} has no finished evaluation on held-out states: run "${commandName()} evaluate ${shellWord(recording.directory)}" first${names.length > 0 ? `, or name one of ${names.join(', ')}` : ''}`,
  );
}

/** `base`, `SFT` or `RL round 3`; a version's number where its policy cannot be read. */
export function policyLabel(version: number, policies: readonly PolicyRecord[]): string {
  const policy = policies.find((one) => one.version === version);
  if (!policy) return `v${version}`;
  if (policy.stage === 'base') return 'base';
  return policy.stage === 'sft' ? 'SFT' : `RL round ${policy.round}`;
}
