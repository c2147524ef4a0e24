/** The words that the host has sent. */
import type { StageWordName } from '../../extension/replay/stage/wording.ts';
import { fill } from '../../extension/run-page/wording.ts';

let known: Record<string, string> = {};

export function learn(words: Record<string, string>): void {
  known = words;
}

/** A text with its gaps filled in; its name where the host has not sent it. */
export function word(name: StageWordName, ...values: (string | number)[]): string {
  return fill(known[name] ?? name, ...values);
}
