/** Types for adapters in a workspace without an installation: a declaration file, and a tsconfig that points at it. */
import { posix } from 'node:path';
import { Uri, type WorkspaceFolder } from 'vscode';
import { exists, read, write } from './places.ts';
import { tsconfig } from './tsconfig-text.ts';

const TYPES = '.agentic-robo-rl/types/agentic-robo-rl.d.ts';

/**
 * Writes the declaration file, and a tsconfig.json beside the adapter where neither its folder nor one above it in the
 * workspace has one.
 * @returns the workspace's own tsconfig, which was not touched and may lack the path, or undefined.
 */
export async function provideTypes(
  extension: Uri,
  folder: WorkspaceFolder,
  adapterFolder: Uri,
): Promise<Uri | undefined> {
  const ignore = Uri.joinPath(folder.uri, '.agentic-robo-rl', '.gitignore');
  if (!(await exists(ignore))) await write(ignore, '*\n');
  await write(Uri.joinPath(folder.uri, TYPES), await read(Uri.joinPath(extension, 'dist', 'adapter.d.ts')));
  for (let at = adapterFolder; ; at = Uri.joinPath(at, '..')) {
    for (const name of ['tsconfig.json', 'jsconfig.json']) {
      const file = Uri.joinPath(at, name);
      if (await exists(file)) return (await read(file)).includes('agentic-robo-rl.d.ts') ? undefined : file;
    }
    if (at.path === folder.uri.path || at.path === '/') break;
  }
  const path = posix.relative(adapterFolder.path, posix.join(folder.uri.path, TYPES));
  await write(Uri.joinPath(adapterFolder, 'tsconfig.json'), tsconfig(path));
  return undefined;
}
