/** Where the built programs lie: workers and harness processes are started from these files. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The package's root folder: the nearest folder above this module that has a package.json of ours. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const above = dirname(folder);
    if (above === folder) throw new Error('the installation is damaged: no package.json above ' + folder);
    folder = above;
  }
  return folder;
}

/**
 * Absolute path of a built program, for example `bundlePath('planner-worker')`.
 * @throws Error when the package was not built (`npm run build`).
 */
export function bundlePath(name: string): string {
  const file = join(packageRoot(), 'dist', `${name}.mjs`);
  if (!existsSync(file)) throw new Error(`${file} is missing: run "npm run build" first`);
  return file;
}
