/** The daemon's end of an adapter's child process: one call at a time, each with a deadline; restarted after a death. */
import { type ChildProcess, fork } from 'node:child_process';
import { bundlePath } from '../bundles.ts';
import { endWithUs, OWN_GROUP } from '../own-group.ts';
import { AdapterError } from './adapter-error.ts';
import type { AdapterAnswer, AdapterCall } from './adapter-messages.ts';
import { childEnvironment } from './child-environment.ts';
import { TextTail } from './tail.ts';

const MEMORY_MEGABYTES = 512;
/** What a call that took too long probably does that it should not. */
const SLOW: Partial<Record<AdapterCall['method'], string>> = {
  load: ': does the file loop, or wait for something, at its top level?',
  launch: ': it says how to start the harness and neither runs it nor waits for it; does it loop?',
  outcome: ': it reads what the harness left behind; does it loop?',
};

export class AdapterProcess {
  private child: ChildProcess | undefined;
  private queue: Promise<unknown> = Promise.resolve();
  private readonly output = new TextTail();
  private closed = false;
  private readonly file: string;
  readonly loadCall: AdapterCall;
  private readonly timeoutSeconds: number;
  private readonly withheld: readonly string[];

  constructor(file: string, loadCall: AdapterCall, timeoutSeconds: number, withheld: readonly string[]) {
    this.file = file;
    this.loadCall = loadCall;
    this.timeoutSeconds = timeoutSeconds;
    this.withheld = withheld;
  }

  /** @throws AdapterError when the adapter throws, hangs, exits or answers nonsense. */
  call(call: AdapterCall): Promise<unknown> {
    const result = this.queue.then(() => this.next(call));
    this.queue = result.catch(() => undefined);
    return result;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.child?.kill('SIGKILL');
    await this.queue;
  }

  private async next(call: AdapterCall): Promise<unknown> {
    if (this.closed) throw new AdapterError(this.file, whereIs(call), 'the adapter was closed');
    if (!this.child) {
      this.child = this.start();
      if (call.method !== 'load') await this.exchange(this.loadCall);
    }
    return this.exchange(call);
  }

  private start(): ChildProcess {
    const { NODE_OPTIONS: _, ...env } = childEnvironment({}, this.withheld);
    const child = fork(bundlePath('adapter-host'), [], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: [`--max-old-space-size=${MEMORY_MEGABYTES}`],
      env,
      ...OWN_GROUP,
    });
    endWithUs(child);
    this.output.clear();
    child.stdout?.setEncoding('utf8').on('data', (text: string) => this.output.push(text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => this.output.push(text));
    // A child that dies between two calls is started again by the next one.
    child.on('exit', () => {
      if (this.child === child) this.child = undefined;
    });
    child.on('error', () => undefined);
    return child;
  }

  private exchange(call: AdapterCall): Promise<unknown> {
    const child = this.child as ChildProcess;
    return new Promise((resolve, reject) => {
      const fail = (problem: string) => {
        if (this.child === child) this.child = undefined;
        child.kill('SIGKILL');
        end();
        reject(new AdapterError(this.file, whereIs(call), problem));
      };
      const timer = setTimeout(
        () => fail(`gave no result within ${this.timeoutSeconds} s and was stopped${SLOW[call.method] ?? ''}`),
        this.timeoutSeconds * 1000,
      );
      // `close` and not `exit`: what the process said last is complete then.
      const onClose = (code: number | null, signal: string | null) =>
        fail(`ended its process (${signal ?? `exit code ${code}`})${this.lastWords()}`);
      const onError = (error: Error) => fail(`its process failed: ${error.message}`);
      const onMessage = (answer: AdapterAnswer) => {
        end();
        if (answer.ok) resolve(answer.value);
        else reject(new AdapterError(this.file, whereIs(call), answer.problem));
      };
      const end = () => {
        clearTimeout(timer);
        child.off('close', onClose).off('error', onError).off('message', onMessage);
      };
      child.on('close', onClose).on('error', onError).on('message', onMessage);
      child.send(call);
    });
  }

  private lastWords(): string {
    const text = this.output.toString().trim();
    if (/heap out of memory/i.test(text)) return `: it used more than ${MEMORY_MEGABYTES} MB`;
    return text === '' ? '' : `; last output: ${text.slice(-500)}`;
  }
}

function whereIs(call: AdapterCall): string {
  return call.method === 'load' ? '' : `${call.method}()`;
}
