/** A process of its own for each side of a comparison, so that memory and threads are each side's own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { SideRequest } from './protocol.ts';

export class Side {
  private readonly process: ChildProcess;
  private readonly waiting: { resolve(reply: unknown): void; reject(error: Error): void }[] = [];
  private words = '';
  private peak = 0;

  constructor(command: string, args: string[], env: Record<string, string> = {}) {
    this.process = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    createInterface({ input: this.process.stdout! }).on('line', (line) => {
      const next = this.waiting.shift();
      const reply = JSON.parse(line) as { error?: string };
      if (reply.error !== undefined) next?.reject(new Error(reply.error));
      else next?.resolve(reply);
    });
    this.process.stderr!.on('data', (data: Buffer) => {
      this.words = (this.words + data.toString()).slice(-2000);
    });
    this.process.on('error', (error) => this.fail(error.message));
    this.process.on('exit', (code, signal) => this.fail(`ended with ${signal ?? `exit code ${code}`}: ${this.words}`));
  }

  async ask<T>(request: SideRequest | Record<string, unknown>): Promise<T> {
    const reply = new Promise<T>((resolve, reject) => {
      this.waiting.push({ resolve: resolve as (reply: unknown) => void, reject });
    });
    this.process.stdin!.write(`${JSON.stringify(request)}\n`);
    const value = await reply;
    this.peak = peakBytes(this.process.pid!) ?? this.peak;
    return value;
  }

  /** Highest resident memory so far, as the kernel counted it; 0 where the kernel does not tell (not Linux). */
  get peakBytes(): number {
    return this.peak;
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  async close(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const gone = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.stdin!.end();
    const late = setTimeout(() => this.process.kill('SIGKILL'), 5000);
    await gone;
    clearTimeout(late);
  }

  private fail(problem: string): void {
    for (const { reject } of this.waiting.splice(0)) reject(new Error(`a side of the comparison failed: ${problem}`));
  }
}

/** Processor time that a process took so far, in milliseconds; NaN where the kernel does not tell (not Linux). */
export function processorTime(pid: number | undefined): number {
  try {
    // Behind the name, which may hold anything: user and system time are the 12th and 13th field, in hundredths of a second.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    return 10 * (Number(fields[11]) + Number(fields[12]));
  } catch {
    return Number.NaN;
  }
}

function peakBytes(pid: number): number | undefined {
  try {
    const line = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return line ? Number(line[1]) * 1024 : undefined;
  } catch {
    return undefined;
  }
}
