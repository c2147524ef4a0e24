/** Numbers with their nouns, as every message of the product writes them. */

/** `1 error`, `2 errors`, `1,234 tasks` */
export function plural(count: number, noun: string): string {
  return `${Math.round(count).toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** `12,345`, and `1.2e16` from ten million on, where nobody counts digits any more. */
export function approximate(count: number): string {
  return count < 1e7 ? Math.round(count).toLocaleString('en') : count.toExponential(1).replace('e+', 'e');
}
