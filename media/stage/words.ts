/** The stage's words. */
import type { StageWordName } from '../../extension/replay/stage/wording.ts';
import { sentWord } from '../panel/words.ts';

/** A text with its gaps filled in; its name where the host has not sent it. */
export function word(name: StageWordName, ...values: (string | number)[]): string {
  return sentWord(name, ...values) ?? name;
}
