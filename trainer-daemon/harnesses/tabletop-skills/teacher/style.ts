/** How one episode of the scripted expert differs from the next: care, patience and mistakes. */
import { Random } from '../../../../protocol/random.ts';
import type { PastCall } from './reading.ts';

export interface Style {
  /** Looks again before it puts down what it holds. */
  looksBeforePlacing: boolean;
  /** Looks at the result of every step before the next. */
  looksAfterSteps: boolean;
  /** Looks at the result before it finishes. */
  verifies: boolean;
  /** Looks again after a failure, before it tries again. */
  looksAfterFailure: boolean;
  /** Failures in a row it puts up with. */
  patience: number;
  /** Chance of a mistake where one can be made. */
  clumsiness: number;
}

/** Does everything that can be done; for measurements and tests. */
export const CAREFUL: Style = {
  looksBeforePlacing: false,
  looksAfterSteps: true,
  verifies: true,
  looksAfterFailure: true,
  patience: 5,
  clumsiness: 0,
};

/** The noise of the first look differs from attempt to attempt, and with it the style. */
export function styleOf(calls: PastCall[]): Style {
  const random = new Random('expert style', calls[0]?.answer ?? '');
  return {
    looksBeforePlacing: random.next() < 0.3,
    looksAfterSteps: random.next() < 0.4,
    verifies: random.next() < 0.65,
    looksAfterFailure: random.next() < 0.8,
    patience: random.pick([0, 1, 2, 3, 3]),
    clumsiness: random.pick([0, 0, 0, 0.15, 0.3]),
  };
}
