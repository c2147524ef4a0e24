/** How long an upstream may say nothing. */

/** Fires when nothing has come from the upstream for a time, or when the outer signal does. */
export class SilenceWatch {
  readonly seconds: number;
  readonly signal: AbortSignal;
  broken = false;
  private readonly own = new AbortController();
  private timer: NodeJS.Timeout | undefined;

  constructor(seconds: number, outer: AbortSignal) {
    this.seconds = seconds;
    this.signal = AbortSignal.any([outer, this.own.signal]);
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
  }
}
