/** The built command line as a child process, for tests. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { bundlePath } from '../../trainer-daemon/bundles.ts';

export interface Ended {
  code: number;
  out: string;
  err: string;
}

/** The tests may run through npx; the command line under test is called as a file. */
const AS_A_FILE = { npm_command: '' };

/** Runs a command to its end. */
export function cli(folder: string, words: string[], env: Record<string, string> = {}): Promise<Ended> {
  return new Promise((done) => {
    const options = { cwd: folder, maxBuffer: 1e8, env: { ...process.env, ...AS_A_FILE, ...env } };
    execFile(process.execPath, [bundlePath('cli'), ...words], options, (error, out, err) => {
      done({ code: error ? Number(error.code ?? -1) : 0, out, err });
    });
  });
}

export interface Running {
  child: ChildProcess;
  /** Resolves with the first line of standard output that matches. */
  line(pattern: RegExp): Promise<string>;
  /** Calls back with every whole line of standard output, those so far included. */
  onLine(told: (line: string) => void): void;
  /** Resolves when the command is over, however it ended. */
  ended: Promise<Ended>;
  /** Sends a signal to the whole group, as a terminal does at Ctrl-C. */
  signal(signal: NodeJS.Signals): void;
  /** The same, and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Ended>;
}

/** Starts a command that runs until it is told to end. */
export function startCli(folder: string, words: string[], env: Record<string, string> = {}): Running {
  // A group of its own, as a shell makes one for every command.
  const child = spawn(process.execPath, [bundlePath('cli'), ...words], {
    cwd: folder,
    env: { ...process.env, ...AS_A_FILE, ...env },
    detached: true,
  });
  let out = '';
  let err = '';
  const watchers = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    for (const look of watchers) look();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const closed = new Promise<number>((done) => child.on('close', (code) => done(code ?? -1)));
  return {
    child,
    ended: closed.then((code) => ({ code, out, err })),
    onLine(told) {
      let from = 0;
      const look = () => {
        for (let end = out.indexOf('\n', from); end >= 0; end = out.indexOf('\n', from)) {
          told(out.slice(from, end));
          from = end + 1;
        }
      };
      watchers.add(look);
      look();
    },
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = out.split('\n').find((line) => pattern.test(line));
          if (found === undefined) return;
          watchers.delete(look);
          resolve(found);
        };
        watchers.add(look);
        closed.then(() => reject(new Error(`the command ended first: ${out}${err}`)));
        look();
      }),
    signal: (signal) => process.kill(-(child.pid as number), signal),
    async end(signal) {
      process.kill(-(child.pid as number), signal);
      return { code: await closed, out, err };
    },
  };
}
