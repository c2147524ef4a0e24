/** Ctrl-C in two steps: first let running episodes finish, then end at once; a third press leaves without ceremony. */
import { EXIT } from './exit.ts';

export interface StopWish {
  mode: 'none' | 'episode' | 'round' | 'now';
}

/**
 * Listens until `release` is called. SIGTERM and SIGHUP (a closed terminal, a cluster taking its node back) ask for the
 * end at once, which still leaves a run that can be resumed.
 */
export function onInterrupt(wish: StopWish, tell: (text: string) => void): { release(): void } {
  const interrupt = () => {
    if (wish.mode === 'now') process.exit(EXIT.interrupted);
    if (wish.mode === 'none' || wish.mode === 'round') {
      wish.mode = 'episode';
      tell('stopping after the running episodes; press Ctrl-C again to stop now');
    } else {
      wish.mode = 'now';
      tell('stopping now; running episodes will be played again on resume');
    }
  };
  const terminate = () => {
    wish.mode = 'now';
    tell('stopping now');
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', terminate);
  process.on('SIGHUP', terminate);
  return {
    release() {
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', terminate);
      process.off('SIGHUP', terminate);
    },
  };
}

/** Resolves at the first Ctrl-C or request to end; a second Ctrl-C leaves at once. */
export function untilInterrupted(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const end = () => {
      if (asked) process.exit(EXIT.interrupted);
      asked = true;
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  });
}
