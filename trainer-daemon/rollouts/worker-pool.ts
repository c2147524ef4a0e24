/**
 * Harness processes that play one episode after another: one JSON line in, one JSON line out. A worker's death ends
 * only the episode in flight; the next episode gets another worker.
 */
import { setImmediate } from 'node:timers/promises';
import type { ProcessSpec } from '../../protocol/adapter.ts';
import { HarnessProcess } from './harness-process.ts';
import type { ProcessRoster } from './process-roster.ts';

/** A line that is no JSON object is the harness's own chatter. */
function parseAnswer(line: string): Record<string, unknown> | undefined {
  if (!line.trimStart().startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

export class HarnessWorker {
  readonly process: HarnessProcess;
  readonly kind: string;
  private line = '';
  private onAnswer: ((answer: Record<string, unknown>) => void) | undefined;

  constructor(
    kind: string,
    spec: ProcessSpec,
    folder: string,
    withheld: readonly string[],
    roster: ProcessRoster | undefined,
  ) {
    this.kind = kind;
    this.process = new HarnessProcess(spec, folder, withheld, roster);
    this.process.onStdout = (text) => {
      this.line += text;
      for (let end = this.line.indexOf('\n'); end >= 0; end = this.line.indexOf('\n')) {
        const answer = parseAnswer(this.line.slice(0, end));
        this.line = this.line.slice(end + 1);
        if (answer) this.onAnswer?.(answer);
      }
      // A line without end is not an answer; do not hold it for ever.
      if (this.line.length > 4_000_000) this.line = '';
    };
  }

  /** Sends an episode; resolves with the worker's answer. Never resolves when the worker dies first: see `process.ended`. */
  play(episode: Record<string, unknown>): Promise<Record<string, unknown>> {
    this.process.stdout.clear();
    this.process.stderr.clear();
    this.process.lastOutput = performance.now();
    return new Promise((resolve) => {
      this.onAnswer = (answer) => {
        this.onAnswer = undefined;
        resolve(answer);
      };
      this.process.write(`${JSON.stringify(episode)}\n`);
    });
  }
}

export class WorkerPool {
  private readonly idle: HarnessWorker[] = [];
  private readonly all = new Set<HarnessWorker>();
  private readonly folder: string;
  private readonly withheld: readonly string[];
  private readonly roster: ProcessRoster | undefined;

  /**
   * @param folder where relative working folders start from.
   * @param withheld variables of our environment that workers do not get.
   * @param roster where workers are noted.
   */
  constructor(folder: string, withheld: readonly string[], roster?: ProcessRoster) {
    this.folder = folder;
    this.withheld = withheld;
    this.roster = roster;
  }

  /** An idle worker started in the same way, or a new one. */
  async take(spec: ProcessSpec): Promise<HarnessWorker> {
    // The end of a process is heard of when the event loop comes to it; twice, because the first may be in this turn.
    await setImmediate();
    await setImmediate();
    const kind = JSON.stringify([spec.command, spec.args ?? [], spec.cwd ?? '', Object.entries(spec.env ?? {}).sort()]);
    for (let i = 0; i < this.idle.length; i++) {
      const worker = this.idle[i];
      if (worker.kind !== kind) continue;
      this.idle.splice(i, 1);
      if (!worker.process.gone) return worker;
      i--;
    }
    const worker = new HarnessWorker(kind, spec, this.folder, this.withheld, this.roster);
    this.all.add(worker);
    worker.process.ended.then(() => this.all.delete(worker));
    return worker;
  }

  /** Gives a worker back after its answer. */
  release(worker: HarnessWorker): void {
    if (!worker.process.gone) this.idle.push(worker);
  }

  /** Ends every worker: first by closing its input, then by force. The pool can be used again. */
  async close(patience = 2000): Promise<void> {
    await Promise.all(
      [...this.all].map(async (worker) => {
        worker.process.endInput();
        const timer = setTimeout(() => worker.process.kill(), patience);
        await worker.process.ended;
        clearTimeout(timer);
      }),
    );
  }
}
