/** Reading an episode's output folder on behalf of an adapter; nothing outside the folder can be reached. */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { EpisodeOutput } from '../../protocol/adapter.ts';

const LARGEST_FILE = 64 * 1024 * 1024;
const MOST_FILES = 20_000;

export type FolderReading = Pick<EpisodeOutput, 'readText' | 'readJson' | 'list'>;

/** @param folder absolute; need not exist. */
export function readFolder(folder: string): FolderReading {
  const inside = (path: string): string => {
    const full = resolve(folder, path);
    if (!isInside(folder, full)) throw new Error(`"${path}" lies outside the episode's output folder`);
    // A link inside the folder may lead out of it.
    if (existsSync(full) && !isInside(realpathSync(folder), realpathSync(full)))
      throw new Error(`"${path}" leads outside the episode's output folder`);
    return full;
  };
  const readText = (path: string): string | undefined => {
    const file = inside(path);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat?.isFile()) return undefined;
    if (stat.size > LARGEST_FILE) throw new Error(`${path} has ${stat.size} bytes; at most ${LARGEST_FILE} are read`);
    return readFileSync(file, 'utf8');
  };
  return {
    readText,
    readJson(path) {
      const text = readText(path);
      if (text === undefined) return undefined;
      try {
        return JSON.parse(text.replace(/^\uFEFF/, ''));
      } catch (error) {
        throw new Error(`${path} is not JSON: ${(error as Error).message}`);
      }
    },
    list(path = '.') {
      const top = inside(path);
      const found: string[] = [];
      const walk = (at: string) => {
        for (const entry of readdirSync(at, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
          if (found.length >= MOST_FILES) return;
          const full = join(at, entry.name);
          if (entry.isDirectory()) walk(full);
          else if (entry.isFile()) found.push(relative(folder, full).split(sep).join('/'));
        }
      };
      if (statSync(top, { throwIfNoEntry: false })?.isDirectory()) walk(top);
      return found;
    },
  };
}

/** Whether a path is the folder itself or beneath it (by name; links are not followed). */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
