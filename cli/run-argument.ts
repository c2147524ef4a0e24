/** Commands name a run by its path or by its name in runs/. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { nearest } from '../protocol/nearest.ts';
import { commandName } from '../trainer-daemon/training/resume-command.ts';
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
  const kind = statSync(folder, { throwIfNoEntry: false });
  const what = kind?.isDirectory()
    ? `${named} is not a run directory (it has no run.json)`
    : kind
      ? `${named} is a file; name a run directory`
      : `there is no run "${named}"`;
  const told = kind && hint(folder);
  if (told) throw new CommandError(`${what}; ${told}`);
  const advice = near
    ? `; did you mean "${near}"?`
    : known.length > 0
      ? `; in ${RUNS}/ there are ${known.slice(-5).join(', ')}`
      : `; there is no run in ${RUNS}/ either`;
  throw new CommandError(what + advice);
}

/** What a file or folder is instead of a run, where that can be told. */
function hint(path: string): string | undefined {
  const run = runAround(path);
  if (run !== undefined) return `it lies in the run ${run}, name that one`;
  return existsSync(join(path, 'config.json'))
    ? `it is a checkpoint: "${commandName()} evaluate CONFIG --checkpoint DIR" evaluates one`
    : undefined;
}

/** The run that a path lies in. */
function runAround(path: string): string | undefined {
  for (let folder = dirname(path); dirname(folder) !== folder; folder = dirname(folder))
    if (isRun(folder)) return folder;
  return undefined;
}

/** A policy folder of a run, such as runs/x/policies/v0002: the run's directory and the version. */
export function resolvePolicy(
  named: string,
  workspace = process.cwd(),
): { directory: string; version: number } | undefined {
  for (const folder of [resolve(workspace, named), resolve(workspace, RUNS, named)]) {
    const directory = runAround(folder);
    const version = directory && /^policies[/\\]v(\d{4,9})$/.exec(relative(directory, folder))?.[1];
    if (directory !== undefined && version && existsSync(folder)) return { directory, version: Number(version) };
  }
  return undefined;
}

/** Names of the runs in the workspace, oldest first by name. */
export function runNames(workspace = process.cwd()): string[] {
  const folder = resolve(workspace, RUNS);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => isRun(join(folder, name)))
    .sort();
}
