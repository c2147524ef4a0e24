/** The words that the host has sent. */
import { fill, type WordName } from '../../extension/run-page/wording.ts';

let known: Record<string, string> = {};

export function learn(words: Record<string, string>): void {
  known = words;
}

/** A text with its gaps filled in; its name where the host has not sent it. */
export function word(name: WordName, ...values: (string | number)[]): string {
  return fill(known[name] ?? name, ...values);
}

/** As {@link word}, for names made from records; undefined when there is no such text. */
export function wordIfAny(name: string, ...values: string[]): string | undefined {
  return Object.hasOwn(known, name) ? fill(known[name], ...values) : undefined;
}
