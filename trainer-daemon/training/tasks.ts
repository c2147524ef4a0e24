/** Which tasks of the harness a run trains and evaluates on. */
import type { TrainingConfig } from '../../protocol/config.ts';
import { type HarnessListing, harnessProblems } from '../../protocol/config-harness.ts';
import { taskId } from '../../protocol/ids.ts';
import type { LoadedAdapter } from '../rollouts/contract.ts';
import { ConfigError } from './contract.ts';
import type { RunContext } from './run-context.ts';

/**
 * Task ids in the config's order of suites.
 * @throws ConfigError for a suite, task or initial state that the adapter does not list.
 */
export function selectTasks(config: TrainingConfig, listing: HarnessListing): string[] {
  const problems = harnessProblems(config, listing);
  if (problems.length > 0) throw new ConfigError(problems);
  const { suites, tasks } = config.harness;
  return suites.flatMap((suite) => {
    const indices = tasks === 'all' ? listing.tasks[suite].map((_, index) => index) : (tasks[suite] ?? []);
    return indices.map((index) => taskId(suite, index));
  });
}

/** What an adapter says of its harness. @throws AdapterError */
export async function listingOf(adapter: LoadedAdapter): Promise<HarnessListing> {
  return { adapter: adapter.name, tasks: await adapter.tasks(), states: await adapter.states() };
}

export async function chosenTasks(context: RunContext): Promise<string[]> {
  return selectTasks(context.config, await listingOf(context.adapter));
}
