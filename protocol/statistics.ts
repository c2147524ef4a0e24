/** Statistics of success counts: Wilson intervals and the exact sign test. */

export interface Interval {
  low: number;
  high: number;
}

/**
 * Wilson score interval of a success rate:
 * (x + z^2/2 -+ z sqrt(x (n - x) / n + z^2/4)) / (n + z^2), with z the normal quantile of (1 + confidence) / 2.
 * Without observations it is [0, 1].
 *
 * @throws RangeError when the counts are no counts or `confidence` lies outside (0, 1).
 */
export function wilson(successes: number, n: number, confidence = 0.95): Interval {
  requireCount('n', n);
  requireCount('successes', successes);
  if (successes > n) throw new RangeError(`successes (${successes}) exceed n (${n})`);
  if (!(confidence > 0 && confidence < 1)) throw new RangeError(`confidence must lie in (0, 1), not ${confidence}`);
  if (n === 0) return { low: 0, high: 1 };
  const z = normalQuantile((1 + confidence) / 2);
  const middle = successes + (z * z) / 2;
  const half = z * Math.sqrt((successes * (n - successes)) / n + (z * z) / 4);
  // At 0 and n successes one end is 0 or 1 exactly; rounding must not push it outside.
  return {
    low: successes === 0 ? 0 : (middle - half) / (n + z * z),
    high: successes === n ? 1 : (middle + half) / (n + z * z),
  };
}

/**
 * Exact two-sided sign test: probability, under a fair coin, of a split of wins + losses at least as uneven as this one,
 * min(1, 2 * sum over k <= min(wins, losses) of C(n, k) / 2^n). Pairs without a difference do not count. Works in log
 * space, so large counts neither overflow nor vanish before they must. The paper's 121 against 74 gives 0.00094, printed as 0.001.
 *
 * @returns The p-value; 1 when there are neither wins nor losses.
 * @throws RangeError when a count is no count.
 */
export function signTest(wins: number, losses: number): number {
  requireCount('wins', wins);
  requireCount('losses', losses);
  const n = wins + losses;
  const fewer = Math.min(wins, losses);
  if (wins === losses) return 1;
  let logLargest = -n * Math.LN2;
  for (let k = 1; k <= fewer; k++) logLargest += Math.log((n - k + 1) / k);
  // Terms below the largest one by their ratio C(n, k - 1) / C(n, k) = k / (n - k + 1).
  let sum = 1;
  let term = 1;
  for (let k = fewer; k > 0 && term > Number.EPSILON / 16; k--) {
    term *= k / (n - k + 1);
    sum += term;
  }
  return Math.min(1, 2 * Math.exp(logLargest) * sum);
}

/** McNemar's exact test on paired outcomes is the sign test on the pairs that differ. */
export const mcnemar = signTest;

function requireCount(name: string, value: number): void {
  if (!Number.isInteger(value) || value < 0)
    throw new RangeError(`${name} must be a whole number from 0, not ${value}`);
}

/** Ratio of two polynomials, coefficients from the highest power down. */
function rational(x: number, above: number[], below: number[]): number {
  const value = (coefficients: number[]) => coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0);
  return value(above) / value(below);
}

/** Quantile of the standard normal distribution: algorithm AS 241, PPND16 (Wichura 1988), about 16 digits. */
export function normalQuantile(p: number): number {
  if (!(p > 0 && p < 1)) throw new RangeError(`a probability must lie in (0, 1), not ${p}`);
  const q = p - 0.5;
  if (Math.abs(q) <= 0.425) {
    return (
      q *
      rational(
        0.180625 - q * q,
        [
          2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987, 13731.69376550946,
          1971.5909503065513, 133.14166789178438, 3.3871328727963665,
        ],
        [
          5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597, 5394.196021424751,
          687.1870074920579, 42.31333070160091, 1,
        ],
      )
    );
  }
  const r = Math.sqrt(-Math.log(q < 0 ? p : 1 - p));
  const tail =
    r <= 5
      ? rational(
          r - 1.6,
          [
            0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684, 3.6478483247632045,
            5.769497221460691, 4.630337846156546, 1.4234371107496835,
          ],
          [
            1.0507500716444169e-9, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008, 0.6897673349851,
            1.6763848301838038, 2.053191626637759, 1,
          ],
        )
      : rational(
          r - 5,
          [
            2.0103343992922881e-7, 2.7115555687434876e-5, 0.0012426609473880784, 0.026532189526576124,
            0.29656057182850487, 1.7848265399172913, 5.463784911164114, 6.657904643501103,
          ],
          [
            2.0442631033899397e-15, 1.421511758316446e-7, 1.8463183175100548e-5, 0.0007868691311456133,
            0.014875361290850615, 0.1369298809227358, 0.599832206555888, 1,
          ],
        );
  return q < 0 ? -tail : tail;
}
