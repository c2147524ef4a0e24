/**
 * Work that the command line does as well is done by the command line: a child process whose JSON document is the
 * answer. What a user sees in the editor and in a terminal is then the same, and adapters and native probes that break
 * take only that process with them.
 */
import { spawn } from 'node:child_process';
import { bundlePath } from '../bundles.ts';
import { RpcError } from './rpc-error.ts';

const LARGEST_DOCUMENT = 48 * 1024 * 1024;
const LONGEST_ERROR = 64 * 1024;
/** Commands at work at a time; further ones wait. */
const MOST_COMMANDS = 2;

let atWork = 0;
const waiting: (() => void)[] = [];

/**
 * Runs a command of `agentic-robo-rl` that prints one JSON document, whatever its exit code.
 * @param words command and options; what follows `--` is taken for names even where it begins with a dash.
 * @throws RpcError `failed` with what the command says when it prints none; `cancelled` when the signal aborts.
 */
export async function commandDocument(workspace: string, words: string[], signal: AbortSignal): Promise<unknown> {
  while (atWork >= MOST_COMMANDS) await new Promise<void>((resolve) => waiting.push(resolve));
  atWork++;
  try {
    return await run(workspace, words, signal);
  } finally {
    atWork--;
    waiting.shift()?.();
  }
}

async function run(workspace: string, words: string[], signal: AbortSignal): Promise<unknown> {
  // It may have been given up while it waited.
  if (signal.aborted) throw new RpcError('cancelled', 'the request was cancelled');
  const environment: NodeJS.ProcessEnv = { ...process.env, npm_command: '', NO_COLOR: '1' };
  if (process.versions.electron !== undefined) environment.ELECTRON_RUN_AS_NODE = '1';
  const child = spawn(process.execPath, [bundlePath('cli'), ...words], {
    cwd: workspace,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  const out: Buffer[] = [];
  let size = 0;
  let err = '';
  child.stdout.on('data', (bytes: Buffer) => {
    size += bytes.length;
    if (size > LARGEST_DOCUMENT) kill();
    else out.push(bytes);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err = (err + text).slice(-LONGEST_ERROR);
  });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (signal.aborted) throw new RpcError('cancelled', 'the request was cancelled');
    if (size > LARGEST_DOCUMENT) throw new RpcError('tooLarge', `the answer has more than ${LARGEST_DOCUMENT} bytes`);
    try {
      return JSON.parse(Buffer.concat(out).toString('utf8'));
    } catch {
      const told = err.trim().replace(/^error: /, '');
      throw new RpcError('failed', told || `"${words[0]}" ended with exit code ${code} and said nothing`);
    }
  } finally {
    signal.removeEventListener('abort', kill);
  }
}
