/** Processor time of child processes that have ended, as the kernel counted it. */
import { readFileSync } from 'node:fs';

/** Seconds of all children reaped so far; 0 where the kernel does not tell (not Linux). */
export function childSeconds(): number {
  try {
    // Fields behind the name in parentheses; a tick is 1/100 s on every Linux of ours.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').pop()!.split(' ');
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return 0;
  }
}

/** Seconds of this process alone, all its threads. */
export function ownSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
