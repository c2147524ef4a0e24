/**
 * Recorded texts as they are safe to be looked at. A recording may hold anything: escape sequences of terminals, marks that
 * turn the direction of writing, characters that are not seen. Each becomes a mark that is seen; nothing is dropped.
 */

/** Line breaks of other systems; control, format and separator characters (joiners of emoji and scripts stay); halves of pairs. */
const UNSEEN = /\r\n|(?![\t\n])\p{Cc}|(?!\u200c|\u200d)\p{Cf}|\p{Zl}|\p{Zp}|\p{Cs}/gu;
const PICTURES = 0x2400;
const DELETE = 0x7f;

function markOf(character: string): string {
  if (character === '\r\n') return '\n';
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(PICTURES + code);
  if (code === DELETE) return '\u2421';
  return `‹U+${code.toString(16).toUpperCase().padStart(4, '0')}›`;
}

/** A text with each unseen character as a mark: ESC is `␛`, a right-to-left override `‹U+202E›`. Lines end with `\n`. */
export function shown(text: string): string {
  return text.replace(UNSEEN, markOf);
}

/** The same in one line: ends of lines are marks, too. @param most characters after which it is cut, with `…`. */
export function shownInLine(text: string, most = 200): string {
  // What is far beyond the cut need not be looked at.
  const line = shown(text.slice(0, most + 1)).replaceAll('\n', '␊');
  return text.length > most || line.length > most ? `${cutAt(line, most)}…` : line;
}

/** The first characters of a text, without half a pair at the end. */
export function cutAt(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? most - 1 : most);
}

export interface Place {
  /** From the first line of the text, from 0. */
  line: number;
  /** UTF-16 units from the start of the line. */
  column: number;
}

/**
 * Where in `shown(text)` offsets of `text` are.
 * @param offsets ascending, within the text. One inside of a character stands before it.
 */
export function shownPlaces(text: string, offsets: readonly number[]): Place[] {
  const places: Place[] = [];
  let [line, column, at] = [0, 0, 0];
  const mark = new RegExp(UNSEEN);
  let next = mark.exec(text);
  const advance = (to: number) => {
    let end = text.indexOf('\n', at);
    while (end >= 0 && end < to) {
      line++;
      column = 0;
      at = end + 1;
      end = text.indexOf('\n', at);
    }
    column += to - at;
    at = to;
  };
  for (const offset of offsets) {
    while (next && next.index + next[0].length <= offset) {
      advance(next.index);
      const seen = markOf(next[0]);
      if (seen === '\n') {
        line++;
        column = 0;
      } else column += seen.length;
      at = next.index + next[0].length;
      next = mark.exec(text);
    }
    advance(next && next.index < offset ? next.index : offset);
    places.push({ line, column });
  }
  return places;
}
