/** Telling a process from a later one with its number, where the system has /proc. */
import { readFileSync } from 'node:fs';

/** Start time, in clock ticks since boot, from the text of /proc/PID/stat; undefined for a process that has ended. */
export function startTimeIn(stat: string): string | undefined {
  // The second field is the program's name in brackets and may itself hold brackets and spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

/** A text that only this process of this boot of this machine has; undefined when it has ended, or without /proc. */
export function processIdentity(pid: number): string | undefined {
  try {
    const started = startTimeIn(readFileSync(`/proc/${pid}/stat`, 'latin1'));
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return started === undefined ? undefined : `${boot} ${started}`;
  } catch {
    return undefined;
  }
}
