/** Numbers with their nouns, as every message of the product writes them. */

/** `1 error`, `2 errors`, `1,234 tasks` */
export function plural(count: number, noun: string): string {
  return `${grouped(Math.round(count))} ${noun}${count === 1 ? '' : 's'}`;
}

/** `12,345`, and `1.2e16` from ten million on, where nobody counts digits any more. */
export function approximate(count: number): string {
  return count < 1e7 ? grouped(Math.round(count)) : count.toExponential(1).replace('e+', 'e');
}

/** `1,234,567`. Not by `toLocaleString`, whose first use loads a library and takes 30 ms of an editor's first answer. */
export function grouped(whole: number): string {
  return String(whole).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
