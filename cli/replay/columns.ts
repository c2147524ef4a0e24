/** Text in the columns of a terminal: how wide it is, cut and broken to a width. */

/** Characters that take two columns: East Asian wide ones and pictures. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{1f18e}-\u{1f265}\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** Marks on the character before, and joiners. */
const NONE = /[\p{M}\u200b-\u200d\u2060\ufeff]/u;
const PLAIN = /^[\x20-\x7e]*$/;

/** Columns of one character. */
function widthOfCharacter(character: string): number {
  if (character <= '~') return 1;
  return NONE.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
}

/** Columns that a text without control characters takes. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** Index behind the last character that fits into the columns. */
function endWithin(text: string, columns: number): number {
  let width = 0;
  let at = 0;
  for (const character of text) {
    width += widthOfCharacter(character);
    if (width > columns) return at;
    at += character.length;
  }
  return at;
}

/** The text, cut with `…` where it is wider than the columns. */
export function clipTo(text: string, columns: number): string {
  if (columns <= 0) return '';
  if (widthOf(text) <= columns) return text;
  return columns === 1 ? '…' : `${text.slice(0, endWithin(text, columns - 1))}…`;
}

/** The text cut or filled with spaces to exactly these columns. */
export function padTo(text: string, columns: number, align: 'left' | 'right' = 'left'): string {
  const clipped = clipTo(text, columns);
  const fill = ' '.repeat(Math.max(0, columns - widthOf(clipped)));
  return align === 'left' ? clipped + fill : fill + clipped;
}

/** A line broken to a width, at spaces where there are any; further lines keep its indentation. */
export function breakLine(text: string, columns: number): string[] {
  if (widthOf(text) <= columns) return [text];
  const [spaces] = /^ */.exec(text) ?? [''];
  const indent = spaces.slice(0, Math.max(0, Math.min(Math.floor(columns / 2), columns - 2)));
  const lines: string[] = [];
  let rest = text.slice(indent.length);
  // Room for the widest character, so that every line takes at least one.
  const room = Math.max(2, columns - indent.length);
  while (widthOf(rest) > room) {
    const end = endWithin(rest, room);
    const space = rest.lastIndexOf(' ', end);
    // A word that takes more than half of the line is broken itself.
    const cut = space > end / 2 ? space : end;
    lines.push(indent + rest.slice(0, cut));
    rest = rest.slice(rest[cut] === ' ' ? cut + 1 : cut);
  }
  lines.push(indent + rest);
  return lines;
}
