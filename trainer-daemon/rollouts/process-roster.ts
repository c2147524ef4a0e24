/**
 * Which harness processes a run has started, on disk, so that the next life of a killed run can end those that outlived
 * it: an orphan would go on writing into the output folder of an episode that is being played again.
 */
import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { processIdentity } from '../store/index.ts';

interface Entry {
  pid: number;
  identity: string;
}

const POLL_MS = 20;
/** A killed process that is not gone by then is stuck in the kernel and writes nothing more. */
const PATIENCE_MS = 2000;

export class ProcessRoster {
  private readonly path: string;

  /** @param path the roster's file; created with the first process. */
  constructor(path: string) {
    this.path = path;
  }

  /** Notes a process that leads a group of its own. Where processes cannot be told apart (no /proc), nothing is noted. */
  add(pid: number): void {
    const identity = processIdentity(pid);
    if (identity === undefined) return;
    try {
      appendFileSync(this.path, `${JSON.stringify({ pid, identity } satisfies Entry)}\n`);
    } catch {
      // A full disk is told by the records, which matter more.
    }
  }

  /** Ends the groups of an earlier life that are still there and empties the roster. Returns how many there were. */
  async endOrphans(): Promise<number> {
    const orphans = this.entries().filter(isAlive);
    for (const { pid } of orphans) {
      try {
        process.kill(-pid, 'SIGKILL');
      } catch {
        // It ended in this moment.
      }
    }
    const until = performance.now() + PATIENCE_MS;
    while (orphans.some(isAlive) && performance.now() < until) await new Promise((done) => setTimeout(done, POLL_MS));
    this.clear();
    return orphans.length;
  }

  /** To be called when every process noted has ended. */
  clear(): void {
    try {
      rmSync(this.path, { force: true });
    } catch {
      // A read-only disk; entries of dead processes do no harm.
    }
  }

  private entries(): Entry[] {
    let text: string;
    try {
      text = readFileSync(this.path, 'utf8');
    } catch {
      return [];
    }
    return text.split('\n').flatMap((line) => {
      try {
        const { pid, identity } = JSON.parse(line) as Partial<Entry>;
        // Never our own group, nor "every process" (-1), whatever a damaged file says.
        const usable = Number.isSafeInteger(pid) && Number(pid) > 1 && pid !== process.pid;
        return usable && typeof identity === 'string' ? [{ pid: Number(pid), identity }] : [];
      } catch {
        return []; // a torn line
      }
    });
  }
}

/** The same process, not a later one with its number. */
function isAlive({ pid, identity }: Entry): boolean {
  return processIdentity(pid) === identity;
}
