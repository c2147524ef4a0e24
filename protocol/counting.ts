/** Numbers with their nouns, as every message of the product writes them. */

/** `1 error`, `2 errors`, `1,234 tasks` */
export function plural(count: number, noun: string): string {
  return `${Math.round(count).toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}
