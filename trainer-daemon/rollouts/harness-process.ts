/** A harness process in a process group of its own, so that everything it started ends with it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import type { ProcessSpec } from '../../protocol/adapter.ts';
import { OWN_GROUP } from '../own-group.ts';
import { childEnvironment } from './child-environment.ts';
import type { ProcessRoster } from './process-roster.ts';
import { TextTail } from './tail.ts';

/** Between asking a process group to end and ending it. */
const KILL_AFTER = 5000;
/** How long pipes may stay open after the process itself has ended. */
const DRAIN = 500;

/** Running harnesses; should this process end without closing them, their groups are ended with it. */
const running = new Set<HarnessProcess>();
process.on('exit', () => {
  for (const harness of running) harness.signalGroup('SIGKILL');
});

export interface ProcessEnd {
  exitCode: number | null;
  signal: string | null;
  /** Why the process could not be started at all. */
  launchError: string | null;
}

export class HarnessProcess {
  readonly stdout = new TextTail();
  readonly stderr = new TextTail();
  /** performance.now() of the last output. */
  lastOutput = performance.now();
  /** Resolves once the process has ended and its output is read. Never rejects. */
  readonly ended: Promise<ProcessEnd>;
  /** Set when {@link ended} has resolved. */
  end: ProcessEnd | undefined;
  onStdout?: (text: string) => void;
  private readonly listeners = new Set<() => void>();
  private readonly child: ChildProcess;
  private killing = false;

  /**
   * @param folder where a relative cwd starts from, and the cwd when none is given.
   * @param withheld variables of our environment that it does not get, besides those that look like secrets.
   * @param roster where the process is noted.
   */
  constructor(spec: ProcessSpec, folder: string, withheld: readonly string[], roster?: ProcessRoster) {
    this.child = spawn(spec.command, spec.args ?? [], {
      cwd: resolve(folder, spec.cwd ?? '.'),
      env: { ...childEnvironment(spec.env, withheld), ...roster?.mark },
      stdio: ['pipe', 'pipe', 'pipe'],
      ...OWN_GROUP,
    });
    if (this.child.pid !== undefined) roster?.add(this.child.pid);
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.lastOutput = performance.now();
      this.stdout.push(text);
      this.onStdout?.(text);
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.lastOutput = performance.now();
      this.stderr.push(text);
    });
    running.add(this);
    // A process that ended early takes no more input; its end says why.
    this.child.stdin?.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      const finish = (end: ProcessEnd) => {
        this.end ??= end;
        running.delete(this);
        resolve(this.end);
        for (const listener of this.listeners) listener();
        this.listeners.clear();
      };
      this.child.on('error', (error: NodeJS.ErrnoException) => {
        if (this.child.pid === undefined)
          finish({ exitCode: null, signal: null, launchError: launchProblem(spec, folder, error) });
      });
      this.child.on('exit', (exitCode, signal) => {
        // Whatever the process left behind (simulators, servers) must not outlive it.
        this.signalGroup('SIGKILL');
        const end = { exitCode, signal, launchError: null };
        setTimeout(() => finish(end), DRAIN).unref();
        this.child.on('close', () => finish(end));
      });
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** Whether the process itself is gone or never came; {@link end} follows once its output is read. */
  get gone(): boolean {
    return this.end !== undefined || this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /**
   * Calls back once it has ended. Unlike what waits for {@link ended}, this can be taken back: a worker plays any number of episodes.
   * @returns what takes it back.
   */
  onEnd(listener: () => void): () => void {
    if (this.end) listener();
    else this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  write(line: string): void {
    this.child.stdin?.write(line);
  }

  endInput(): void {
    this.child.stdin?.end();
  }

  /** Asks the whole group to end, then ends it. Resolves when it is over. */
  async kill(after = KILL_AFTER): Promise<void> {
    if (!this.end && !this.killing) {
      this.killing = true;
      this.signalGroup('SIGTERM');
      const timer = setTimeout(() => this.signalGroup('SIGKILL'), after);
      await this.ended;
      clearTimeout(timer);
    }
    await this.ended;
  }

  signalGroup(signal: 'SIGTERM' | 'SIGKILL'): void {
    const { pid } = this.child;
    if (pid === undefined) return;
    if (process.platform === 'win32') {
      spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { windowsHide: true });
      return;
    }
    try {
      process.kill(-pid, signal);
    } catch {
      // No process of the group is left.
    }
  }
}

function launchProblem(spec: ProcessSpec, folder: string, error: NodeJS.ErrnoException): string {
  const cwd = resolve(folder, spec.cwd ?? '.');
  // A missing cwd and a missing command give the same ENOENT.
  return `cannot start "${spec.command}" in ${cwd}: ${error.code ?? error.message}`;
}
