/** Which stages a run may be asked for: their names, their order, and what each of them builds on. */
import type { TrainingConfig } from '../../protocol/config.ts';
import { type JournalLine, type Stage, stageSchema } from '../../protocol/journal.ts';
import { nearest } from '../../protocol/nearest.ts';
import { TrainingError } from './contract.ts';
import { eventsOf } from './history.ts';

/** All stages in their order. */
export const ALL_STAGES: readonly Stage[] = stageSchema.options;

/** What is wrong with a list of stages as somebody wrote it; undefined when nothing is. */
export function stageListProblem(names: readonly string[]): string | undefined {
  const all = ALL_STAGES.join(', ');
  for (const [index, name] of names.entries()) {
    if (!(ALL_STAGES as readonly string[]).includes(name)) {
      const near = nearest(name, ALL_STAGES);
      return `"${name}" is no stage; ${near ? `did you mean "${near}"?` : `stages are ${all}`}`;
    }
    if (names.indexOf(name) < index) return `the stage "${name}" is named twice`;
  }
  const ordered = ALL_STAGES.filter((stage) => names.includes(stage));
  if (ordered.some((stage, index) => stage !== names[index]))
    return `stages run in the order ${all}; write ${ordered.join(',')}`;
  return names.length === 0 ? `no stage is named; stages are ${all}` : undefined;
}

/**
 * Looks whether each stage finds what it builds on: in the run so far, or made by a stage before it.
 * @param history the journal of the run so far; empty for a new run.
 * @throws TrainingError naming the first stage that cannot run, and what to do.
 */
export function checkStages(stages: readonly Stage[], config: TrainingConfig, history: readonly JournalLine[]): void {
  const problem = stageListProblem(stages) ?? groundsProblem(stages, config, history);
  if (problem !== undefined) throw new TrainingError(problem);
}

function groundsProblem(
  stages: readonly Stage[],
  config: TrainingConfig,
  history: readonly JournalLine[],
): string | undefined {
  const fresh = config.planner.checkpoint === undefined;
  const versions = eventsOf(history, 'policy-created').map(({ policy }) => policy.version);
  let taught = eventsOf(history, 'episode-finished').some(
    ({ section, valid, reward }) => section === 'teacher' && valid && reward > 0,
  );
  let base = !fresh || versions.includes(0);
  let start = !fresh || versions.includes(1);
  for (const stage of stages) {
    if (eventsOf(history, 'stage-finished').some((event) => event.stage === stage)) continue;
    if (stage === 'teacher') taught = true;
    // A fresh planner's tokenizer is trained on what the teacher read and wrote.
    base ||= taught;
    if (stage === 'sft') {
      if (!taught)
        return 'the stage sft has nothing to learn from: there are no successful teacher episodes. Run the stage teacher before it (teacher,sft)';
      start = true;
    }
    if (stage === 'rl' && !start)
      return 'the stage rl cannot start from a freshly initialised planner (planner.init), which solves nothing: run the stages teacher and sft before it (teacher,sft,rl), or give planner.checkpoint';
    if (stage === 'evaluate' && !base)
      return 'the stage evaluate finds no planner: planner.init makes a fresh one from the episodes of the stage teacher. Run teacher,sft,evaluate, or give planner.checkpoint';
  }
  return undefined;
}
