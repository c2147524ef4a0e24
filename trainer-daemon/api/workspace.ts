/** The workspace folder of a daemon: what paths and names of runs that come from a client mean in it. */
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { nearest } from '../../protocol/nearest.ts';
import { RpcError } from './rpc-error.ts';

/** Folder of the runs in a workspace. */
export const RUNS = 'runs';

export class Workspace {
  /** Real path. */
  readonly folder: string;

  /** @throws Error when there is no such folder. */
  constructor(folder: string) {
    this.folder = realpathSync(folder);
    if (!statSync(this.folder).isDirectory()) throw new Error(`${folder} is no folder`);
  }

  /**
   * Absolute real path of something in the workspace, which need not exist yet; links are followed.
   * @throws RpcError `outside` when it lies elsewhere.
   */
  path(named: string): string {
    if (named.includes('\0')) throw new RpcError('outside', 'a path holds no zero byte');
    const wanted = resolve(this.folder, named);
    const real = realPathOf(wanted);
    if (real !== this.folder && !real.startsWith(this.folder + sep))
      throw new RpcError('outside', `${named}: lies outside of the workspace folder ${this.folder}`);
    return real;
  }

  /** @throws RpcError `outside`, or `notFound` when it is not there. */
  existing(named: string, what: string): string {
    const path = this.path(named);
    if (!existsSync(path)) throw new RpcError('notFound', `there is no ${what} ${named} (in ${this.folder})`);
    return path;
  }

  /** How a run is named in messages. */
  runName(directory: string): string {
    return relative(this.folder, directory).split(sep).join('/');
  }

  /**
   * Directory of a run by its name in messages, or by its bare name in runs/.
   * @throws RpcError `notFound` naming one like it.
   */
  run(named: string): string {
    for (const candidate of [named, join(RUNS, named)]) {
      const directory = this.path(candidate);
      if (existsSync(join(directory, 'run.json'))) return directory;
    }
    const known = this.runDirectories().map((directory) => basename(directory));
    const near = nearest(basename(named), known);
    throw new RpcError('notFound', `there is no run "${named}"${near ? `; did you mean "${RUNS}/${near}"?` : ''}`);
  }

  /** Directories of the runs in runs/. */
  runDirectories(): string[] {
    const runs = join(this.folder, RUNS);
    try {
      if (realpathSync(runs) !== runs) return []; // leads elsewhere
      return readdirSync(runs, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && existsSync(join(runs, entry.name, 'run.json')))
        .map((entry) => join(runs, entry.name));
    } catch {
      return [];
    }
  }

  /** A new run directory `runs/<name>-<UTC time>` that nothing is in yet. */
  newRun(name: string, taken: (directory: string) => boolean): string {
    const stamp = new Date()
      .toISOString()
      .replace(/[-:]/g, '')
      .replace(/\.\d+Z$/, 'Z');
    const first = this.path(join(RUNS, `${basename(name)}-${stamp}`));
    for (let n = 2, directory = first; ; directory = `${first}-${n++}`)
      if (!existsSync(directory) && !taken(directory)) return directory;
  }
}

/** Real path of the part that exists, and the rest as it is. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path)
      throw new RpcError('notFound', `${path}: ${(error as Error).message}`);
    return join(realPathOf(dirname(path)), basename(path));
  }
}
