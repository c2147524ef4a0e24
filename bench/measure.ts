/** Arithmetic of repeated measurements: medians, spreads, and ratios of interleaved runs. */

/** The middle value; of an even number of values the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.floor(sorted.length / 2)]) / 2;
}

/** "median (least-most)" with the given number of decimals. */
export function spread(values: readonly number[], decimals = 2): string {
  const show = (value: number) => value.toFixed(decimals);
  return `${show(median(values))} (${show(Math.min(...values))}-${show(Math.max(...values))})`;
}

/** The value that a tenth of the values do not exceed: of many short steps, one that nothing interrupted. */
export function fastest(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 10)];
}

/** a[i] / b[i]: runs made one after the other, so a machine that is slower for a while is slower for both. */
export function ratios(a: readonly number[], b: readonly number[]): number[] {
  return a.map((value, i) => value / b[i]);
}

export const megabytes = (bytes: number): number => Math.round(bytes / 1e6);

/** What one timed piece of work took. `cpu` counts all threads of the process. */
export interface Timing {
  seconds: number;
  cpu: number;
}

/**
 * Runs every contender once in each round, in turn (A B C A B C ...), after `warmup` rounds that do not count. Begins no
 * round once `seconds` have passed, but measures at least two.
 */
export async function interleave<K extends string, T>(
  contenders: Record<K, () => Promise<T>>,
  { rounds, warmup = 1, seconds }: { rounds: number; warmup?: number; seconds: number },
): Promise<Record<K, T[]>> {
  const names = Object.keys(contenders) as K[];
  const results = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<K, T[]>;
  const end = performance.now() + 1000 * seconds;
  for (let round = -warmup; round < rounds && (round < 2 || performance.now() < end); round++) {
    for (const name of names) {
      const result = await contenders[name]();
      if (round >= 0) results[name].push(result);
    }
  }
  return results;
}
