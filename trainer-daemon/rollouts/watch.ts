/** Watches a running episode: its limits on turns and time, and whether anything still happens. */
import type { ProxyEpisode } from '../proxy/contract.ts';

export type WatchEnd = 'turn-limit' | 'time-limit' | 'hang' | 'cancelled';

export interface WatchOptions {
  episode: ProxyEpisode;
  seconds: number;
  idleSeconds: number;
  /** performance.now() of the harness's last output. */
  lastOutput(): number;
  signal: AbortSignal | undefined;
}

/**
 * Resolves with the first reason to end the episode. A planner call in flight is not idleness of the harness, unless
 * the time limit finds that nothing has come for `idleSeconds`.
 */
export class EpisodeWatch {
  readonly ended: Promise<WatchEnd>;
  private finish: (end: WatchEnd) => void = () => undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly started = performance.now();
  private readonly options: WatchOptions;
  private readonly onAbort = () => this.finish('cancelled');

  constructor(options: WatchOptions) {
    this.options = options;
    this.ended = new Promise((resolve) => {
      this.finish = resolve;
    });
    options.episode.onChange = () => {
      if (options.episode.turnLimitReached) this.finish('turn-limit');
    };
    if (options.signal?.aborted) this.onAbort();
    else options.signal?.addEventListener('abort', this.onAbort, { once: true });
    this.look();
  }

  /** Ends the watching; `ended` then stays as it is. */
  stop(): void {
    clearTimeout(this.timer);
    this.options.signal?.removeEventListener('abort', this.onAbort);
    this.options.episode.onChange = undefined;
  }

  private look(): void {
    const { episode, seconds, idleSeconds, lastOutput } = this.options;
    const now = performance.now();
    const last = Math.max(this.started, episode.lastActivity, lastOutput());
    const idleEnd = last + idleSeconds * 1000;
    const timeEnd = this.started + seconds * 1000;
    if (now >= timeEnd || (now >= idleEnd && episode.inFlight === 0)) {
      this.finish(now >= idleEnd ? 'hang' : 'time-limit');
      return;
    }
    // Activity moves the idle end, so look again at the earliest time either could be reached.
    const next = Math.min(timeEnd, episode.inFlight > 0 ? now + Math.min(1000, idleSeconds * 1000) : idleEnd);
    this.timer = setTimeout(() => this.look(), Math.min(Math.max(next - now, 1), 2 ** 31 - 1));
  }
}
