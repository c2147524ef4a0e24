/** The words that the host has sent, in the reader's language. */
import { fill } from '../../extension/panel/words.ts';

let known: Record<string, string> = {};

export function learn(words: Record<string, string>): void {
  known = words;
}

/** A text with its gaps filled in; undefined where the host has sent none of this name. */
export function sentWord(name: string, ...values: (string | number)[]): string | undefined {
  return Object.hasOwn(known, name) ? fill(known[name], ...values) : undefined;
}
