/** What a config without errors refers to, looked into: the lists of its adapter, the files of its checkpoint. */
import { relative, resolve } from 'node:path';
import { inspectionProblems } from '../language-server/service/config-references.ts';
import type { CrossFieldProblem } from '../protocol/config-checks.ts';
import { harnessProblems } from '../protocol/config-harness.ts';
import type { Finding } from '../protocol/finding.ts';
import type { ConfigFile } from './config-file.ts';

/** Problems at paths of a config as findings at places of its file. */
export function placed(file: ConfigFile, problems: readonly CrossFieldProblem[]): Finding[] {
  return problems.map(({ severity, code, path, part, message }) => ({
    code,
    severity,
    message,
    file: file.file,
    ...file.locate(path, part),
    path: path.join('.'),
  }));
}

/**
 * Runs the adapter, in a process of its own, and holds suites, tasks and states of the config against its lists. An
 * adapter that cannot be loaded is a finding.
 */
export async function harnessFindings(file: ConfigFile): Promise<Finding[]> {
  const { config, folder } = file;
  if (!config) return [];
  const { keyVariables, loadAdapter } = await import('../trainer-daemon/rollouts/index.ts');
  try {
    const adapter = await loadAdapter(config.harness.adapter, folder, { withheld: keyVariables(config) });
    try {
      const listing = { adapter: adapter.name, tasks: await adapter.tasks(), states: await adapter.states() };
      return placed(file, harnessProblems(config, listing));
    } finally {
      await adapter.close();
    }
  } catch (error) {
    const path = ['harness', 'adapter'];
    return placed(file, [{ severity: 'error', code: 'adapter-error', path, message: (error as Error).message }]);
  }
}

/** What is wrong with the files of `planner.checkpoint`: architecture, weights (but not their numbers), tokenizer. */
export async function checkpointFindings(file: ConfigFile): Promise<Finding[]> {
  const checkpoint = file.config?.planner.checkpoint;
  if (checkpoint === undefined) return [];
  const { inspectCheckpoint } = await import('../trainer-daemon/planner/inspect-checkpoint.ts');
  const { problems } = await inspectCheckpoint(resolve(file.folder, checkpoint));
  const shown = problems.map((problem) => ({ ...problem, file: relative(file.folder, problem.file) || problem.file }));
  return placed(file, inspectionProblems(shown));
}
