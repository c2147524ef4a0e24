/** The evaluations of a run and their episodes, as reports and comparisons need them. */
import { plural } from '../protocol/counting.ts';
import { nearest } from '../protocol/nearest.ts';
import type { EpisodeRecord, EvaluationSummary, PolicyRecord } from '../protocol/records.ts';
import { isDamaged, type Recording } from '../recordings/index.ts';
import { finalTries } from '../trainer-daemon/evaluation/outcomes.ts';
import { commandName, shellWord } from '../trainer-daemon/training/resume-command.ts';
import { CommandError } from './exit.ts';

/** Told of what cannot be read: the evaluation it belongs to, and a sentence that begins with the file. */
export type OnDamaged = (text: string, evaluation: string) => void;

/** Finished evaluations in the order of their policy versions; what cannot be read of them goes to `onDamaged`. */
export async function evaluationsOf(recording: Recording, onDamaged: OnDamaged): Promise<EvaluationSummary[]> {
  const found: EvaluationSummary[] = [];
  const ids = new Set((await recording.sections()).evaluations.map((section) => section.slice('evaluations/'.length)));
  const told = new Set<string>();
  for await (const line of await recording.journal())
    if (!isDamaged(line) && line.event.type === 'evaluated') told.add(line.event.summary.id);
  for (const id of new Set([...ids, ...told])) {
    const summary = ids.has(id) ? await recording.evaluation(id) : undefined;
    if (summary && isDamaged(summary)) onDamaged(`evaluations/${id}/summary.json: ${summary.damaged}`, id);
    else if (summary) found.push(summary);
    else if (told.has(id)) onDamaged(`evaluations/${id}/summary.json: is gone`, id);
  }
  return found.sort((a, b) => a.policyVersion - b.policyVersion);
}

/** Episodes of a finished evaluation; what cannot be read, or is not there any more, goes to `onDamaged`. */
export async function episodesOf(
  recording: Recording,
  evaluation: EvaluationSummary,
  onDamaged: OnDamaged,
): Promise<EpisodeRecord[]> {
  const { id, total } = evaluation;
  const section = `evaluations/${id}`;
  const index = await recording.episodes(section);
  const episodes: EpisodeRecord[] = [];
  let damaged = false;
  for await (const record of index) {
    if (!isDamaged(record)) episodes.push(record);
    else {
      onDamaged(`${section}/episodes.jsonl, line ${record.line}: ${record.damaged}`, id);
      damaged = true;
    }
  }
  const left = finalTries(episodes).size;
  if (!damaged && left !== total.episodes)
    onDamaged(`${section}/episodes.jsonl: holds ${left} of the ${plural(total.episodes, 'episode')}`, id);
  return episodes;
}

/**
 * The evaluation that stands for a run: the one asked for, or that of its latest policy on the held-out states.
 * @param option names an evaluation on the command line: `--a`.
 * @throws CommandError naming the evaluations there are; also when the one asked for cannot be read, or when none is
 *   asked for and one that may be meant cannot be read.
 */
export async function evaluationFor(
  recording: Recording,
  named: string | undefined,
  option: string,
): Promise<EvaluationSummary> {
  const damaged = new Map<string, string>();
  const evaluations = await evaluationsOf(recording, (text, id) => damaged.set(id, text));
  const names = evaluations.map((evaluation) => evaluation.id);
  const choice = names.length > 0 ? `there are ${names.join(', ')}` : 'it has none that is finished';
  if (named !== undefined) {
    const found = evaluations.find((evaluation) => evaluation.id === named);
    if (found) return found;
    const broken = damaged.get(named);
    if (broken !== undefined)
      throw new CommandError(`${recording.directory} is damaged: ${broken}; of the others, ${choice}`);
    const near = nearest(named, names);
    throw new CommandError(
      `${recording.directory} has no evaluation "${named}"; ${near ? `did you mean "${near}"? ` : ''}${choice}`,
    );
  }
  // Another planner than the one that is meant must not stand in for it unnoticed.
  const broken = [...damaged].find(([id]) => !id.startsWith('validation-'))?.[1];
  if (broken !== undefined)
    throw new CommandError(
      `${recording.directory} is damaged: ${broken}. Restore it from a copy, or choose another evaluation with ${option}: ${choice}`,
    );
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
