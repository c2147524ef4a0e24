/** How long to wait before the next attempt to connect. */
import { Random } from '../../protocol/random.ts';

const FIRST_MS = 250;
const LONGEST_MS = 10_000;

/**
 * Doubles from a quarter of a second to ten seconds, each between half and the whole of it: windows that lost their
 * daemon at the same moment do not come back at the same moment.
 */
export class Backoff {
  private readonly random: Random;
  private attempts = 0;

  /** @param name of this client; others with another name wait otherwise. */
  constructor(...name: (string | number)[]) {
    this.random = new Random('backoff', ...name);
  }

  /** Milliseconds. */
  next(): number {
    const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** this.attempts++);
    return whole * (0.5 + 0.5 * this.random.next());
  }

  reset(): void {
    this.attempts = 0;
  }
}
