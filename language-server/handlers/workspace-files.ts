/** Which documents are looked at, and where on disk they lie. */
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export type DocumentKind = 'config' | 'adapter';

/** By the name: `*.training.yaml|yml|json` and `*.adapter.ts|mts|js|mjs`. */
export function kindOf(uri: string): DocumentKind | undefined {
  if (/\.training\.(?:ya?ml|json)$/i.test(uri)) return 'config';
  return /\.adapter\.[cm]?[jt]s$/i.test(uri) ? 'adapter' : undefined;
}

/** The file of a document; undefined for one that is not on disk (an unsaved or a virtual one). */
export function fileOf(uri: string): string | undefined {
  if (!uri.startsWith('file:')) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

export function folderOf(uri: string): string | undefined {
  const file = fileOf(uri);
  return file === undefined ? undefined : dirname(file);
}

/** URI of a path relative to a folder. */
export function uriIn(folder: string, path: string): string {
  return pathToFileURL(join(folder, path)).href;
}
