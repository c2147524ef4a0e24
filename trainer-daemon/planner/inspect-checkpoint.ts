/**
 * Whether a folder holds a planner that can be served and trained: everything but the numbers of the weights is
 * looked at, in the order in which a person would mend it.
 */
import { join } from 'node:path';
import type { Architecture } from './architecture.ts';
import { readDescription } from './checkpoint.ts';
import { CheckpointError } from './checkpoint-error.ts';
import { loadTokenizer, type PlannerTokenizer } from './tokenizer.ts';
import { checkWeights } from './weight-files.ts';

/** One thing wrong, or doubtful, with a checkpoint folder. */
export interface CheckpointProblem {
  /** An error: the planner can be neither served nor trained. A warning: it can, and something will surprise. */
  severity: 'error' | 'warning';
  /** The file or folder at fault. */
  file: string;
  /** What is wrong and what to do, without the file's name. */
  message: string;
  /** Line in the file, from 1, when that is known. */
  line?: number;
}

export interface CheckpointInspection {
  /** In the order folder, config.json, weights, tokenizer, chat template; empty for a sound checkpoint. */
  problems: CheckpointProblem[];
  /** What config.json describes, when it is sound. */
  architecture?: Architecture;
  /** Tokens that end a response, when config.json is sound. */
  endTokenIds?: number[];
  /** The tokenizer with its chat template, when both are sound. */
  tokenizer?: PlannerTokenizer;
}

/**
 * Looks at a checkpoint folder: of the weights the headers only, of the tokenizer all (a second or so where it has 150,000
 * tokens). Never throws for what is wrong with the folder.
 */
export async function inspectCheckpoint(folder: string): Promise<CheckpointInspection> {
  const inspection: CheckpointInspection = { problems: [] };
  /** @returns undefined when the step failed, after noting the problem. */
  const step = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof CheckpointError) {
        const { file, problem, line } = error;
        inspection.problems.push({
          severity: 'error',
          file,
          message: problem,
          ...(line === undefined ? {} : { line }),
        });
      } else {
        inspection.problems.push({ severity: 'error', file: folder, message: (error as Error).message });
      }
      return undefined;
    }
  };

  const description = await step(() => readDescription(folder));
  // Nothing else can be judged where it is not known what the model should be.
  if (description === undefined) return inspection;
  const { architecture, endTokenIds } = description;
  inspection.architecture = architecture;
  inspection.endTokenIds = endTokenIds;
  await step(() => checkWeights(folder, architecture));
  inspection.tokenizer = await step(async () => {
    const tokenizer = await loadTokenizer(folder);
    tokenizer.checkFits(architecture.vocabulary);
    return tokenizer;
  });
  const { tokenizer } = inspection;
  for (const warning of tokenizer?.warnings ?? []) inspection.problems.push({ severity: 'warning', ...warning });
  if (tokenizer && !endTokenIds.includes(tokenizer.endTokenId)) {
    inspection.problems.push({
      severity: 'warning',
      file: join(folder, 'tokenizer_config.json'),
      message: `eos_token has the id ${tokenizer.endTokenId}, but eos_token_id of the model is ${endTokenIds.join(', ')}: responses will not end where the chat template ends a message; copy the files from one checkpoint`,
    });
  }
  return inspection;
}

/** A checkpoint that {@link inspectCheckpoint} found nothing against but warnings. */
export interface SoundCheckpoint {
  architecture: Architecture;
  endTokenIds: number[];
  tokenizer: PlannerTokenizer;
  /** Each with its file in front. */
  warnings: string[];
}

/**
 * The same for those who need a sound checkpoint to go on.
 * @throws CheckpointError with the first error found.
 */
export async function requireSoundCheckpoint(folder: string): Promise<SoundCheckpoint> {
  const { problems, architecture, endTokenIds, tokenizer } = await inspectCheckpoint(folder);
  const wrong = problems.find((problem) => problem.severity === 'error');
  if (wrong) throw new CheckpointError(wrong.file, wrong.message, wrong.line);
  if (!architecture || !endTokenIds || !tokenizer) throw new CheckpointError(folder, 'cannot be used');
  const warnings = problems.map(
    ({ file, message, line }) => `${file}${line === undefined ? '' : `:${line}`}: ${message}`,
  );
  return { architecture, endTokenIds, tokenizer, warnings };
}
