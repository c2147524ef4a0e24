/** Which run a person means: by a name, a path or a link; and what may be read without asking. Knows nothing of VS Code. */
import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';

/**
 * Absolute path of a run that is named by a path, by its name, or as `runs/NAME`, looked for in the folders in their order.
 * Of a name that is nowhere, where it would be in the first folder.
 */
export function runDirectory(run: string, folders: readonly string[]): string {
  if (isAbsolute(run)) return resolve(run);
  const places = folders.flatMap((folder) => [resolve(folder, run), resolve(folder, 'runs', run)]);
  return places.find(isRun) ?? places[0] ?? resolve(run);
}

export function isRun(directory: string): boolean {
  return existsSync(join(directory, 'run.json'));
}

/** Whether a directory really lies in one of the folders, links followed. */
export function liesIn(directory: string, folders: readonly string[]): boolean {
  const real = realOf(directory);
  return folders.some((folder) => {
    const way = relative(realOf(folder), real);
    return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  });
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** What a link `.../replay?run=&episode=&turn=` asks for. */
export interface ReplayLink {
  run: string;
  section?: string;
  episode: string;
  turn?: number;
  group?: boolean;
}

const LONGEST = 4096;

/** @returns what is wrong with the link, in words, where something is. */
export function readLink(path: string, query: string): ReplayLink | { problem: string } {
  if (path !== '/replay')
    return { problem: `there is nothing at ${path.slice(0, 100)}; links look like /replay?run=...&episode=...` };
  const given = new URLSearchParams(query);
  const text = (name: string) => {
    const value = given.get(name);
    return value === null || value === '' ? undefined : value;
  };
  const [run, episode, section, turn] = ['run', 'episode', 'section', 'turn'].map(text);
  if (run === undefined || episode === undefined)
    return { problem: `"${run === undefined ? 'run' : 'episode'}" is missing in the link` };
  for (const [name, value] of given) {
    if (value.length > LONGEST || /\p{Cc}/u.test(value)) return { problem: `"${name}" of the link is no name` };
  }
  // A share of another machine must not be asked for by a link.
  if (/^[\\/]{2}/.test(run) || /^[a-z][a-z0-9+.-]+:/i.test(run))
    return { problem: '"run" of the link is no path on this machine' };
  if (turn !== undefined && !/^\d{1,9}$/.test(turn)) return { problem: '"turn" of the link is no whole number' };
  return {
    ...{ run, episode },
    ...(section === undefined ? {} : { section }),
    ...(turn === undefined ? {} : { turn: Number(turn) }),
    ...(given.get('group') === 'true' ? { group: true } : {}),
  };
}

/** The episode and the turn that a call's id names; undefined where it is no such id. */
export function callNamed(id: string): { episode: string; turn: number } | undefined {
  const [, episode, turn] = /^(.*)\.c(\d+)(?:r\d+)?$/.exec(id) ?? [];
  return episode === undefined ? undefined : { episode, turn: Number(turn) };
}

/** The run and section of a file of calls, such as `RUN/rounds/0001/calls.jsonl`; undefined for other files. */
export function sectionOf(file: string): { directory: string; section: string } | undefined {
  const parts = file.split(/[\\/]/);
  if (!['calls.jsonl', 'episodes.jsonl', 'samples.jsonl'].includes(parts.at(-1) ?? '')) return undefined;
  for (const depth of [1, 2]) {
    const directory = parts.slice(0, -1 - depth).join(sep);
    if (directory !== '' && isRun(directory)) return { directory, section: parts.slice(-1 - depth, -1).join('/') };
  }
  return undefined;
}
