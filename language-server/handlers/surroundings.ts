/** The files around a config, looked at on disk. Nothing of the workspace is run. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { HarnessListing } from '../../protocol/config-harness.ts';
import type { CheckpointRemark, Surroundings } from '../service/config-references.ts';

/** What the build wrote down of the shipped adapters. */
export interface Shipped {
  names: string[];
  listings: Record<string, HarnessListing>;
}

const LARGEST_TEXT = 1024 * 1024;

/** @param dist the folder of the built programs. Empty where the package was not built. */
export function readShipped(dist: string): Shipped {
  try {
    const names = readdirSync(dist)
      .filter((name) => name.endsWith('.adapter.mjs'))
      .map((name) => name.slice(0, -'.adapter.mjs'.length))
      .sort();
    return { names, listings: JSON.parse(readFileSync(join(dist, 'shipped-adapters.json'), 'utf8')) };
  } catch {
    return { names: [], listings: {} };
  }
}

/**
 * @param folder the config's own; relative paths start there.
 * @param inspection tells what is wrong with a checkpoint, given its absolute path and the config's folder.
 */
export function fileSurroundings(
  folder: string,
  shipped: Shipped,
  inspection?: (checkpoint: string, folder: string) => CheckpointRemark[] | undefined,
): Surroundings {
  return {
    ...(inspection && { inspection: (path) => inspection(resolve(folder, path), folder) }),
    shippedAdapters: shipped.names,
    listing: (adapter) => (Object.hasOwn(shipped.listings, adapter) ? shipped.listings[adapter] : undefined),
    kind(path) {
      try {
        return statSync(resolve(folder, path)).isDirectory() ? 'folder' : 'file';
      } catch {
        return undefined; // Not there, out of reach, a loop of links, or no possible path at all.
      }
    },
    list(path) {
      try {
        return readdirSync(resolve(folder, path), { withFileTypes: true })
          .map((entry) => ({ name: entry.name, kind: entry.isDirectory() ? ('folder' as const) : ('file' as const) }))
          .sort((a, b) => (a.name < b.name ? -1 : 1));
      } catch {
        return undefined;
      }
    },
    readText(path) {
      try {
        const file = resolve(folder, path);
        const stats = statSync(file);
        return stats.isFile() && stats.size <= LARGEST_TEXT ? readFileSync(file, 'utf8') : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
