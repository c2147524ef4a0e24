/** Children in a process group of their own: a signal to ours (Ctrl-C, a cluster taking its node back) is for us alone. */
import type { ChildProcess } from 'node:child_process';

/** Options of `spawn` and `fork`. */
export const OWN_GROUP = { detached: process.platform !== 'win32', windowsHide: true };

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Ends a child when this process ends first, which no signal to our group does any more. */
export function endWithUs(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
}
