/** Commands name a run by its path or by its name in runs/. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { nearest } from '../protocol/nearest.ts';
import { CommandError } from './exit.ts';

const RUNS = 'runs';

function isRun(directory: string): boolean {
  return existsSync(join(directory, 'run.json'));
}

/**
 * Absolute directory of a run.
 * @throws CommandError naming the runs there are.
 */
export function resolveRun(named: string, workspace = process.cwd()): string {
  for (const candidate of [resolve(workspace, named), resolve(workspace, RUNS, named)])
    if (isRun(candidate)) return candidate;
  const known = runNames(workspace);
  const near = nearest(named, known);
  const folder = resolve(workspace, named);
  const what = existsSync(folder)
    ? statSync(folder).isDirectory()
      ? `${named} is not a run directory (it has no run.json)`
      : `${named} is a file; name a run directory`
    : `there is no run "${named}"`;
  const advice = near
    ? `; did you mean "${near}"?`
    : known.length > 0
      ? `; in ${RUNS}/ there are ${known.slice(-5).join(', ')}`
      : `; there is no run in ${RUNS}/ either`;
  throw new CommandError(what + advice);
}

/** Names of the runs in the workspace, oldest first by name. */
export function runNames(workspace = process.cwd()): string[] {
  const folder = resolve(workspace, RUNS);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => isRun(join(folder, name)))
    .sort();
}
