/** What harnesses ask of the proxy that the planner's server has no place for: a warning in the journal, once a run. */
import type { RunContext } from './run-context.ts';

/** @param context of the run; nothing is told before there is one. */
export function requestNotices(
  context: () => Pick<RunContext, 'events' | 'journal'> | undefined,
): (message: string) => void {
  const told = new Set<string>();
  return (message) => {
    const run = context();
    if (run === undefined || told.has(message)) return;
    told.add(message);
    // A resumed run has told of it already.
    if (run.events('warning').some((event) => event.message === message)) return;
    // A journal that cannot be written ends the run at its next stage anyway.
    run.journal({ type: 'warning', message }).catch(() => {});
  };
}
