/**
 * What commands print may hold texts of others: names in a recording, words of a harness or a server. On a terminal such a
 * text could move the cursor, change the window's title or write to the clipboard.
 */
import { shown } from '../../recordings/replay/index.ts';

/** The colours of terminal.ts, which are the program's own. */
const COLOUR = new RegExp(`(${String.fromCharCode(0x1b)}\\[(?:1|2|22|3[1239])m)`);
/** Control, format and separator characters that JSON leaves as they are; joiners of emoji and scripts stay. */
const UNSEEN = /(?!\n|\u200c|\u200d)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The same text with unseen characters as marks: an escape is `␛`. @param coloured own colours stay as they are. */
export function safeText(text: string, coloured: boolean): string {
  if (!coloured) return shown(text);
  return text
    .split(COLOUR)
    .map((part, at) => (at % 2 === 1 ? part : shown(part)))
    .join('');
}

/** JSON that is safe to be looked at: what is not seen is escaped, and read back as it was. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(UNSEEN, escaped);
}

function escaped(character: string): string {
  let text = '';
  for (let at = 0; at < character.length; at++) text += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  return text;
}
