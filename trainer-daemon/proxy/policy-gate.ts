/**
 * Holds planner calls while the server's weights change. Calls under way finish under the old version; calls that arrive
 * meanwhile wait, up to a number and a time, and are dispatched (and stamped) under the new one.
 */

export interface PolicyGateOptions {
  /** Most calls that wait at a time. */
  calls?: number;
  /** Longest wait of one call, in seconds. */
  seconds?: number;
}

/** A call could not be held: too many wait already, or the change takes too long. */
export class NotHeld extends Error {}

interface Waiting {
  enter(): void;
  refuse(error: Error): void;
}

export class PolicyGate {
  private readonly mostCalls: number;
  private readonly seconds: number;
  private readonly waiting = new Set<Waiting>();
  private changes = 0;
  private inside = 0;
  private drained: (() => void)[] = [];

  constructor(options: PolicyGateOptions = {}) {
    this.mostCalls = options.calls ?? 4096;
    this.seconds = options.seconds ?? 900;
  }

  /** Calls that wait now. */
  get held(): number {
    return this.waiting.size;
  }

  /** Calls that have entered and not left. */
  get underWay(): number {
    return this.inside;
  }

  /**
   * Lets a call in, at once or when the change under way is over.
   * @returns what to call when the call is over.
   * @throws NotHeld; the signal's reason when it fires first.
   */
  async enter(signal: AbortSignal): Promise<() => void> {
    while (this.changes > 0) await this.wait(signal);
    this.inside++;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.inside--;
      if (this.inside === 0) for (const tell of this.drained.splice(0)) tell();
    };
  }

  /**
   * Runs a change of weights: holds new calls, waits for those under way, runs `change`, lets the held ones in.
   * A change that fails lets them in as well: the server then answers with what it has.
   */
  async during<T>(change: () => Promise<T>): Promise<T> {
    this.changes++;
    try {
      if (this.inside > 0) await new Promise<void>((resolve) => this.drained.push(resolve));
      return await change();
    } finally {
      this.changes--;
      if (this.changes === 0) for (const each of [...this.waiting]) each.enter();
    }
  }

  private wait(signal: AbortSignal): Promise<void> {
    if (this.waiting.size >= this.mostCalls)
      throw new NotHeld(`the planner's weights are changing and ${this.mostCalls} calls wait already`);
    return new Promise((resolve, reject) => {
      const over = (settle: () => void) => {
        this.waiting.delete(waiting);
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        settle();
      };
      const waiting: Waiting = {
        enter: () => over(resolve),
        refuse: (error) => over(() => reject(error)),
      };
      const onAbort = () => waiting.refuse(signal.reason as Error);
      const timer = setTimeout(
        () => waiting.refuse(new NotHeld(`the planner's weights did not change within ${this.seconds} s`)),
        this.seconds * 1000,
      );
      this.waiting.add(waiting);
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}
