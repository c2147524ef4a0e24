/** Starting a daemon process, which goes on when this one ends. */
import { spawn } from 'node:child_process';
import { type DaemonReadyLine, daemonReadyLineSchema } from '../../protocol/daemon.ts';

/** How a daemon is started. */
export interface DaemonProgram {
  /** `dist/daemon.mjs` of the package. */
  script: string;
  /** Default: this process's own program, which an editor's is when told so by ELECTRON_RUN_AS_NODE. */
  command?: string;
  /** Further options of the script. */
  args?: string[];
  /** In place of this process's environment. */
  environment?: NodeJS.ProcessEnv;
}

const LONGEST_START_MS = 60_000;
const LARGEST_LINE = 64 * 1024;

/** Starts a daemon and waits for its first line. @throws Error when none comes, with what it said instead. */
export async function launchDaemon(program: DaemonProgram, workspace: string): Promise<DaemonReadyLine> {
  const args = [program.script, '--workspace', workspace, ...(program.args ?? [])];
  const child = spawn(program.command ?? process.execPath, args, {
    cwd: workspace,
    // A group of its own: a signal to the editor's does not reach it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...(program.environment ?? process.env), ELECTRON_RUN_AS_NODE: '1' },
    windowsHide: true,
  });
  let out = '';
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err = (err + text).slice(-LARGEST_LINE);
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    const line = await new Promise<string>((resolve, reject) => {
      timer = setTimeout(() => {
        child.kill('SIGKILL');
        reject(new Error(`the daemon said nothing for ${LONGEST_START_MS / 1000} s`));
      }, LONGEST_START_MS);
      child.once('error', (error) => reject(new Error(`the daemon could not be started: ${error.message}`)));
      child.once('close', (code, signal) =>
        reject(
          new Error(
            `the daemon ended at once (${signal ?? `exit code ${code}`})${err === '' ? '' : `: ${err.trim()}`}`,
          ),
        ),
      );
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        out += text;
        const end = out.indexOf('\n');
        if (end >= 0) resolve(out.slice(0, end));
        else if (out.length > LARGEST_LINE) reject(new Error('the daemon said something else than agreed'));
      });
    });
    return daemonReadyLineSchema.parse(JSON.parse(line));
  } finally {
    clearTimeout(timer);
    // This process may end without it.
    child.stdout.destroy();
    child.stderr.destroy();
    child.unref();
  }
}
