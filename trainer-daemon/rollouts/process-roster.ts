/**
 * Which harness processes and scripted teachers a run has started, on disk, so that the next life of a killed run can
 * end those that outlived it: an orphan would go on writing into the output folder of an episode that is being played
 * again. They carry a mark in their environments, too, which those inherit that left their group (`setsid`, detached).
 */
import { appendFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { processIdentity } from '../store/index.ts';

interface Entry {
  pid: number;
  identity: string;
}

const POLL_MS = 20;
/** The variable that tells whose a process is: its value is the roster's file. */
const MARK = 'AGENTIC_ROBO_RL_PROCESSES';
/** A killed process that is not gone by then is stuck in the kernel and writes nothing more. */
const PATIENCE_MS = 2000;

export class ProcessRoster {
  private readonly path: string;

  /** @param path the roster's file; created with the first process. */
  constructor(path: string) {
    this.path = resolve(path);
  }

  /** What the environments of the processes hold besides. */
  get mark(): Record<string, string> {
    return { [MARK]: this.path };
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

  /**
   * Ends what is still there of an earlier life, and empties the roster.
   * @returns how many there were: groups, and processes outside of them that carry the mark.
   */
  async endOrphans(): Promise<number> {
    const groups = this.entries().filter(isAlive);
    const strays = this.marked().filter(({ pid }) => !groups.some((group) => group.pid === groupOf(pid)));
    for (const pid of [...groups.map((group) => -group.pid), ...strays.map((stray) => stray.pid)]) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It ended in this moment.
      }
    }
    const orphans = [...groups, ...strays];
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

  /** Processes of this machine that carry the mark; none where there is no /proc. */
  private marked(): Entry[] {
    const mark = Buffer.from(`\0${MARK}=${this.path}\0`);
    const nul = Buffer.from('\0');
    let names: string[];
    try {
      names = readdirSync('/proc');
    } catch {
      return [];
    }
    return names.flatMap((name) => {
      const pid = Number(name);
      if (!Number.isSafeInteger(pid) || pid <= 1 || pid === process.pid) return [];
      try {
        if (!Buffer.concat([nul, readFileSync(`/proc/${name}/environ`)]).includes(mark)) return [];
      } catch {
        return []; // somebody else's, or gone
      }
      const identity = processIdentity(pid);
      return identity === undefined ? [] : [{ pid, identity }];
    });
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

/** The number of a process's group, from the fields behind its name: state, parent, group. */
function groupOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
  } catch {
    return undefined;
  }
}
