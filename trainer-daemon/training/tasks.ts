/** Which tasks of the harness a run trains and evaluates on. */

import type { TaskList } from '../../protocol/adapter.ts';
import type { TrainingConfig } from '../../protocol/config.ts';
import { taskId } from '../../protocol/ids.ts';
import { nearest } from '../../protocol/nearest.ts';
import { TrainingError } from './contract.ts';
import type { RunContext } from './run-context.ts';

/**
 * Task ids in the config's order of suites.
 * @throws TrainingError for a suite or task the adapter does not list.
 */
export function selectTasks(config: TrainingConfig, list: TaskList, adapter: string): string[] {
  const { suites, tasks } = config.harness;
  const chosen: string[] = [];
  for (const suite of suites) {
    const known = Object.hasOwn(list, suite) ? list[suite] : undefined;
    if (!known) {
      const near = nearest(suite, Object.keys(list));
      throw new TrainingError(
        `harness.suites: the adapter "${adapter}" has no suite "${suite}"${near ? `; did you mean "${near}"?` : ''} It lists: ${Object.keys(list).join(', ')}`,
      );
    }
    const indices = tasks === 'all' ? known.map((_, index) => index) : (tasks[suite] ?? []);
    const beyond = indices.find((index) => index >= known.length);
    if (beyond !== undefined)
      throw new TrainingError(
        `harness.tasks.${suite}: there is no task ${beyond}; the suite has ${known.length} (0-${known.length - 1})`,
      );
    for (const index of indices) chosen.push(taskId(suite, index));
  }
  if (tasks !== 'all') {
    const stray = Object.keys(tasks).find((suite) => !suites.includes(suite));
    if (stray !== undefined)
      throw new TrainingError(`harness.tasks names suite "${stray}", which is not in harness.suites`);
  }
  if (chosen.length === 0) throw new TrainingError('harness.tasks leaves no task to train on');
  return chosen;
}

export async function chosenTasks(context: RunContext): Promise<string[]> {
  return selectTasks(context.config, await context.adapter.tasks(), context.adapter.name);
}
