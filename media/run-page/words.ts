/** The run page's words. */
import type { WordName } from '../../extension/run-page/wording.ts';
import { sentWord } from '../panel/words.ts';

/** A text with its gaps filled in; its name where the host has not sent it. */
export function word(name: WordName, ...values: (string | number)[]): string {
  return sentWord(name, ...values) ?? name;
}

/** As {@link word}, for names made from records; undefined when there is no such text. */
export const wordIfAny: (name: string, ...values: string[]) => string | undefined = sentWord;
