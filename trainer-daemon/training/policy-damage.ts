/** Policies of a run whose files are gone or broken: found by looking at names, sizes and headers alone. */
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { policySection } from '../../protocol/ids.ts';
import type { JournalLine } from '../../protocol/journal.ts';
import { readDescription } from '../planner/checkpoint.ts';
import { CheckpointError } from '../planner/checkpoint-error.ts';
import { checkWeights } from '../planner/weight-files.ts';
import { policiesOf } from './history.ts';

const TOKENIZER = 'tokenizer.json';
/** What a policy keeps whose weights were pruned, or left out of a run that was handed on. */
const WITHOUT_WEIGHTS = ['policy.json', TOKENIZER, 'tokenizer_config.json', 'chat_template.jinja'];

/**
 * One sentence a policy that the journal tells of and that cannot be served any more, beginning with the file's path in
 * the run. Policies whose weights were pruned are not among them. The numbers of the weights are not read.
 */
export async function damagedPolicies(directory: string, lines: readonly JournalLine[]): Promise<string[]> {
  const damaged: string[] = [];
  for (const { version } of policiesOf(lines)) {
    const problem = await problemOf(directory, policySection(version));
    if (problem !== undefined) damaged.push(problem);
  }
  return damaged;
}

async function problemOf(directory: string, section: string): Promise<string | undefined> {
  const folder = join(directory, section);
  const names = await readdir(folder).catch(() => undefined);
  if (names === undefined) return `${section}: the folder of this policy is gone; restore it from a copy`;
  if (names.every((name) => WITHOUT_WEIGHTS.includes(name)))
    return names.length === 0 ? `${section}: the folder is empty` : undefined;
  try {
    const { architecture } = await readDescription(folder);
    await checkWeights(folder, architecture);
  } catch (error) {
    const file = error instanceof CheckpointError ? relative(directory, error.file) : section;
    return `${file}: ${error instanceof CheckpointError ? error.problem : (error as Error).message}`;
  }
  return names.includes(TOKENIZER) ? undefined : `${section}/${TOKENIZER}: is missing; restore it from a copy`;
}
