/** Files of the workspace that a traceback names, wherever the harness ran. Nothing is read of them but whether they are there. */
import { stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { type NamedLine, namedLines } from '../../../recordings/replay/index.ts';
import { isInside } from './adapter-link.ts';

/** A line of a file of the workspace. */
export interface WorkspaceLine extends NamedLine {
  /** Absolute. */
  path: string;
}

/** Tracebacks are long where something calls itself. */
const MOST = 20;

/** @returns the lines that are of files in one of the folders, the innermost first. */
export async function workspaceLines(result: string | null, folders: readonly string[]): Promise<WorkspaceLine[]> {
  const found: WorkspaceLine[] = [];
  for (const named of namedLines(result).reverse().slice(0, MOST)) {
    const path = await inWorkspace(named.file, folders);
    if (path !== undefined) found.push({ ...named, path });
  }
  return found;
}

/**
 * A path of another machine ends as one of the workspace does: the longest end that is there counts, with a folder at least.
 * A bare name is looked for in the folders themselves.
 */
async function inWorkspace(named: string, folders: readonly string[]): Promise<string | undefined> {
  const parts = named.split(/[/\\]/).filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) return undefined;
  const shortest = Math.min(2, parts.length);
  for (const folder of folders) {
    const own = resolve(named);
    if (own === named && isInside(resolve(folder), own) && (await isFile(own))) return own;
    for (let from = 0; from + shortest <= parts.length; from++) {
      const path = join(folder, ...parts.slice(from));
      if (await isFile(path)) return path;
    }
  }
  return undefined;
}

async function isFile(path: string): Promise<boolean> {
  const status = await stat(path).catch(() => undefined);
  return status?.isFile() ?? false;
}

/** `pick, skills.py` */
export function lineName({ path, within }: WorkspaceLine): string {
  return within === '' || within.startsWith('<') ? basename(path) : within;
}
