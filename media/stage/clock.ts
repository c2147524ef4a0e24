/** Playing: time that goes on while it is wanted, at some speed, as the browser draws. */

export const SPEEDS: readonly number[] = [0.25, 0.5, 1, 1.5, 2, 4];

export class Clock {
  private readonly onTick: (seconds: number) => void;
  private frame: number | undefined;
  private last = 0;
  private at: number = SPEEDS.indexOf(1);

  /** @param onTick told how much playing time has passed since the last time. */
  constructor(onTick: (seconds: number) => void) {
    this.onTick = onTick;
  }

  get running(): boolean {
    return this.frame !== undefined;
  }

  get speed(): number {
    return SPEEDS[this.at];
  }

  /** @param to one of {@link SPEEDS}. */
  setSpeed(to: number): void {
    const found = SPEEDS.indexOf(to);
    if (found >= 0) this.at = found;
  }

  faster(by: -1 | 1): void {
    this.at = Math.max(0, Math.min(SPEEDS.length - 1, this.at + by));
  }

  start(): void {
    if (this.running) return;
    this.last = performance.now();
    this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  stop(): void {
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
    this.frame = undefined;
  }

  private tick(now: number): void {
    // A page that was in the background does not jump.
    const passed = Math.min(0.25, Math.max(0, (now - this.last) / 1000));
    this.last = now;
    this.frame = requestAnimationFrame((next) => this.tick(next));
    this.onTick(passed * this.speed);
  }
}
