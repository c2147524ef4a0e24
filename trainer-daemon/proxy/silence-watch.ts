/** How long an upstream may say nothing. */

/** Fires when nothing has come from the upstream for a time, or when the outer signal does. */
export class SilenceWatch {
  readonly seconds: number;
  readonly signal: AbortSignal;
  broken = false;
  private readonly own = new AbortController();
  private readonly outer: AbortSignal;
  private readonly abort = () => this.own.abort();
  private timer: NodeJS.Timeout | undefined;

  constructor(seconds: number, outer: AbortSignal) {
    this.seconds = seconds;
    this.outer = outer;
    this.signal = this.own.signal;
    // By hand: AbortSignal.any takes several times as long, for every call.
    if (outer.aborted) this.abort();
    else outer.addEventListener('abort', this.abort, { once: true });
  }

  start(): void {
    this.timer = setTimeout(
      () => {
        this.broken = true;
        this.own.abort();
      },
      Math.min(this.seconds * 1000, 2 ** 31 - 1),
    );
  }

  restart(): void {
    this.timer?.refresh();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.outer.removeEventListener('abort', this.abort);
  }
}
