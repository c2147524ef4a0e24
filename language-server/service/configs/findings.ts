/** Everything wrong or doubtful in a training config: the same that `train` refuses and `validate` prints. */
import type { CrossFieldProblem } from '../../../protocol/config-checks.ts';
import type { ConfigProblem } from '../../../protocol/config-text.ts';
import { inspectionProblems, referenceProblems, type Surroundings } from '../config-references.ts';
import type { Finding } from '../contract.ts';
import type { ConfigText } from './config-text.ts';
import { editsOf } from './edits.ts';

export interface ConfigFinding extends Finding {
  /** Dotted, for example `rl.clip.dual`. */
  path?: string;
  /** Other keys it rests on, dotted. */
  rests?: string[];
}

/** More than anybody reads. */
const MOST = 120;

/** In the order of the text. @param around the files beside the config; without it only the text is checked. */
export function configFindings(config: ConfigText, around?: Surroundings): ConfigFinding[] {
  const problems = [...config.reading.problems];
  if (around) problems.push(...referenceProblems(config.reading, around).map((problem) => placed(problem, config)));
  const checkpoint = config.reading.config?.planner.checkpoint;
  // As the command line does: into the checkpoint is looked where nothing else is wrong.
  if (around?.inspection && checkpoint !== undefined && !problems.some(({ severity }) => severity === 'error'))
    problems.push(...inspectionProblems(around.inspection(checkpoint) ?? []).map((problem) => placed(problem, config)));
  problems.sort((a, b) => a.start - b.start || a.end - b.end);
  return problems.slice(0, MOST).map((problem) => toFinding(problem, config));
}

function placed(problem: CrossFieldProblem, config: ConfigText): ConfigProblem {
  const [start, end] = config.reading.offsets(problem.path, problem.part);
  return { ...problem, start, end };
}

function toFinding(problem: ConfigProblem, config: ConfigText): ConfigFinding {
  const { code, severity, message, start, end, path, rests, fix } = problem;
  const edits = fix && editsOf(fix, config);
  return {
    code,
    severity,
    message,
    range: config.range(start, end),
    ...(path && { path: path.join('.') }),
    ...(rests && { rests }),
    ...(fix && edits && { fix: { title: fix.title, edits, safe: fix.safe } }),
  };
}
