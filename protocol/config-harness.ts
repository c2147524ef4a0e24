/** Errors of a config that only show beside what its adapter lists: suites, tasks and initial states. */
import type { StateCounts, TaskList } from './adapter.ts';
import type { TrainingConfig } from './config.ts';
import type { CrossFieldProblem } from './config-checks.ts';
import type { ConfigFix } from './config-fix.ts';
import { plural } from './counting.ts';
import { nearest } from './nearest.ts';
import { stateRanges } from './states.ts';

/** What an adapter says of its harness. */
export interface HarnessListing {
  /** The adapter's name. */
  adapter: string;
  /** Empty when the adapter lists none; suites and tasks are then taken as the config names them. */
  tasks: TaskList;
  /** Absent when the adapter tells none; states are then not checked. */
  states?: StateCounts;
}

type Path = (string | number)[];

/** Everything about `harness.suites`, `harness.tasks` and the sets of states that the adapter's listing contradicts. */
export function harnessProblems(config: TrainingConfig, listing: HarnessListing): CrossFieldProblem[] {
  return [...suiteProblems(config, listing), ...stateProblems(config, listing)];
}

function suiteProblems(config: TrainingConfig, { adapter, tasks: list }: HarnessListing): CrossFieldProblem[] {
  const problems: CrossFieldProblem[] = [];
  const add = (code: string, path: Path, message: string, fix?: ConfigFix) =>
    problems.push({
      severity: 'error',
      code,
      path,
      message: `"${path.slice(0, 2).join('.')}": ${message}`,
      fix,
      ...(/tasks$/.test(code) && { rests: ['harness.suites', 'harness.tasks'] }),
    });
  const { suites, tasks } = config.harness;
  const listsNothing = Object.keys(list).length === 0;
  let chosen = 0;
  for (const [index, suite] of suites.entries()) {
    const at = ['harness', 'suites', index];
    const given = tasks !== 'all' && Object.hasOwn(tasks, suite) ? tasks[suite] : undefined;
    if (listsNothing) {
      if (given === undefined)
        add(
          'unlisted-tasks',
          at,
          `the adapter "${adapter}" lists no tasks, so the config must: write under harness "tasks: { ${suite}: 0-9 }" with the indices there are`,
        );
      chosen += given?.length ?? 0;
      continue;
    }
    const known = Object.hasOwn(list, suite) ? list[suite] : undefined;
    if (!known) {
      const near = nearest(suite, Object.keys(list));
      const advice = near ? `did you mean "${near}"?` : `it lists ${Object.keys(list).join(', ')}`;
      const fix: ConfigFix | undefined = near
        ? { title: `Change to ${near}`, safe: false, set: at, value: near }
        : undefined;
      add('unknown-suite', at, `the adapter "${adapter}" has no suite "${suite}"; ${advice}`, fix);
      continue;
    }
    const beyond = (given ?? []).filter((task) => task >= known.length);
    if (beyond.length > 0)
      add(
        'unknown-task',
        ['harness', 'tasks', suite],
        `there ${beyond.length === 1 ? 'is no task' : 'are no tasks'} ${stateRanges(beyond)} in "${suite}": it has ${plural(known.length, 'task')} (${span(known.length)})`,
      );
    chosen += tasks === 'all' ? known.length : (given?.length ?? 0);
  }
  if (problems.length === 0 && chosen === 0)
    add('no-tasks', ['harness', 'tasks'], 'these suites and tasks leave no task to train on');
  return problems;
}

function stateProblems(config: TrainingConfig, { adapter, states }: HarnessListing): CrossFieldProblem[] {
  const least = fewestStates(config.harness.suites, states);
  if (!least) return [];
  const { splits, evaluation } = config;
  const sets: [Path, number[] | string][] = [
    ...Object.entries(splits).map(([name, set]): [Path, number[]] => [['splits', name], set]),
    [['evaluation', 'states'], evaluation.states],
    [['evaluation', 'selectionStates'], evaluation.selectionStates],
  ];
  return sets.flatMap(([path, set]) => {
    const beyond = typeof set === 'string' ? [] : set.filter((state) => state >= least.count);
    if (beyond.length === 0) return [];
    const subject = `${beyond.length === 1 ? 'state' : 'states'} ${stateRanges(beyond)} ${beyond.length === 1 ? 'does' : 'do'} not exist`;
    const message = `"${path.join('.')}": ${subject}; the adapter "${adapter}" has ${plural(least.count, 'initial state')} a task${least.suite === undefined ? '' : ` in "${least.suite}"`} (${span(least.count)})`;
    return [{ severity: 'error', code: 'states-out-of-range', path, message }];
  });
}

/** The suite of the config with the fewest initial states: every set of states is used on all suites. */
function fewestStates(
  suites: string[],
  states: StateCounts | undefined,
): { count: number; suite?: string } | undefined {
  if (states === undefined) return undefined;
  if (typeof states === 'number') return { count: states };
  let least: { count: number; suite: string } | undefined;
  for (const suite of suites)
    if (Object.hasOwn(states, suite) && (!least || states[suite] < least.count))
      least = { count: states[suite], suite };
  return least;
}

/** `0-49`, or `0` where there is one. */
function span(count: number): string {
  return count <= 1 ? (count === 1 ? 'only 0' : 'none') : `0-${count - 1}`;
}
