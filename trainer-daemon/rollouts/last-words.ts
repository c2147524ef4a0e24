/** What a process said last, short enough for a sentence. */

const LINES = 60;
const LONGEST = 300;
/** A piece of up to this many characters that comes again and again ... */
const FILLER = /(.{1,16}?)\1{11,}/gu;
/** ... is shown this often. */
const SHOWN = 3;

/** The last line that names an error, else the last line; filler such as `xxxx...` is shortened. Undefined when there is none. */
export function lastWords(text: string): string | undefined {
  const lines = text.trimEnd().split('\n').slice(-LINES);
  const line = lines.findLast((each) => /^\s*(\w*Error|\w*Exception|error|fatal)\b.*:/i.test(each)) ?? lines.at(-1);
  const words = withoutFiller((line ?? '').slice(-4 * LONGEST).trim()).slice(-LONGEST);
  return words === '' ? undefined : words;
}

/** `xxxxxxxxxxxxxxxx!` becomes `xxx…!`. */
export function withoutFiller(text: string): string {
  return text.replace(FILLER, (_, piece: string) => `${piece.repeat(SHOWN)}…`);
}
