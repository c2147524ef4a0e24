/** Where in the adapter's source the reward of an episode is told: a static link, the adapter is only read as text. */
import { readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { sha256 } from '../../../protocol/random.ts';
import type { RunInfo } from '../../../protocol/records.ts';

export interface AdapterLink {
  /** Absolute path. */
  path: string;
  /** 1-based line of the reward. */
  line: number;
  /** The file is another one than the run was made with. */
  changed: boolean;
}

const SOURCE = /\.(?:[mc]?ts|[mc]?js)$/;
const LARGEST = 1024 * 1024;

/** Undefined where the run names no adapter file in one of the folders. A record cannot make other files be read. */
export async function adapterLink(info: RunInfo, folders: readonly string[]): Promise<AdapterLink | undefined> {
  const harness = info.config.harness as { adapter?: unknown } | undefined;
  const named = harness?.adapter;
  if (typeof named !== 'string' || !SOURCE.test(named)) return undefined;
  try {
    const path = await realpath(isAbsolute(named) ? named : resolve(info.configFolder, named));
    const roots = await Promise.all(folders.map((folder) => realpath(folder).catch(() => undefined)));
    if (!SOURCE.test(path) || !roots.some((root) => root !== undefined && isInside(root, path))) return undefined;
    const status = await stat(path);
    if (!status.isFile() || status.size > LARGEST) return undefined;
    const text = await readFile(path, 'utf8');
    const changed = info.adapterSha256 !== null && sha256(text) !== info.adapterSha256;
    return { path, line: rewardLine(text), changed };
  } catch {
    return undefined; // gone, or not to be read
  }
}

/** Line of the first `reward` field at or after `outcome`; that of `outcome`, else the first line, where there is none. */
export function rewardLine(text: string): number {
  const lines = text.split('\n').map((line) => line.replace(/\/\/.*$/, ''));
  const outcome = lines.findIndex((line) => /\boutcome\b\s*[(:=]/.test(line));
  const reward = lines.findIndex((line, k) => k >= Math.max(0, outcome) && /\breward\b\s*[:,}]/.test(line));
  return Math.max(0, reward < 0 ? outcome : reward) + 1;
}

/** Whether a path lies in a folder, and is not the folder itself. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
