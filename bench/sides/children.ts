/** Processor time as the kernel counted it: of this process, of its main thread, of its children. */
import { readdirSync, readFileSync } from 'node:fs';

/** Seconds of user and system time in a Linux `stat` file of a process or thread, or of its reaped children. */
function secondsIn(file: string, whose: 'own' | 'children'): number {
  try {
    // Fields behind the name in parentheses; a tick is 1/100 s on every Linux of ours.
    const fields = readFileSync(file, 'utf8').split(') ').pop()!.split(' ');
    const first = whose === 'own' ? 11 : 13;
    return (Number(fields[first]) + Number(fields[first + 1])) / 100;
  } catch {
    return 0;
  }
}

/** Seconds of all children so far, at work or ended, and of theirs; 0 where the kernel does not tell (not Linux). */
export function childSeconds(pid = 'self'): number {
  const ended = secondsIn(`/proc/${pid}/stat`, 'children');
  return childrenOf(pid).reduce(
    (sum, child) => sum + secondsIn(`/proc/${child}/stat`, 'own') + childSeconds(child),
    ended,
  );
}

function childrenOf(pid: string): string[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'));
    return lists.flatMap((list) => list.split(' ').filter((child) => child !== ''));
  } catch {
    // It has ended meanwhile.
    return [];
  }
}

/** Seconds of this process's main thread; 0 where the kernel does not tell. */
export const mainThreadSeconds = (): number => secondsIn(`/proc/self/task/${process.pid}/stat`, 'own');

/** Seconds of this process alone, all its threads. */
export function ownSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
