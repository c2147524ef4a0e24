/** Finds where a text stops being JSON, and says why; the YAML parser alone would let much of it pass. */

export interface JsonProblem {
  message: string;
  start: number;
  end: number;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const WORD = /[A-Za-z_$][\w$.-]*/y;

/** The first departure from JSON's grammar, or undefined when there is none. Depth costs no stack. */
export function jsonProblem(text: string): JsonProblem | undefined {
  let at = 0;
  const open: ('{' | '[')[] = [];
  const problem = (message: string, start = at, end = start + 1): JsonProblem => ({
    message,
    start,
    end: Math.min(end, text.length),
  });
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found) at += found.length;
    return found;
  };
  /** Steps over a text in double quotes; stays where it is when there is none or it is broken. */
  const string = (): boolean => {
    const start = at;
    if (text[at] !== '"') return false;
    at++;
    // Control characters other than these are refused before the grammar is looked at.
    while (at < text.length && !'"\t\n\r'.includes(text[at])) {
      if (text[at] !== '\\') at++;
      else if (match(ESCAPE) === undefined) break;
    }
    if (text[at] === '"') {
      at++;
      return true;
    }
    at = start;
    return false;
  };
  const skip = (): JsonProblem | undefined => {
    match(/[ \t\r\n]+/y);
    return text.startsWith('//', at) || text.startsWith('/*', at) || text[at] === '#'
      ? problem('JSON has no comments; a .yaml file may hold them', at, at + 2)
      : undefined;
  };
  /** A key and its colon. */
  const key = (): JsonProblem | undefined => {
    const start = at;
    if (!string())
      return text[at] === '"'
        ? problem('this text is not closed or holds a character that JSON wants escaped')
        : problem('a key in double quotes is expected here', start, start + (match(WORD)?.length ?? 1));
    const comment = skip();
    if (comment) return comment;
    if (text[at] !== ':') return problem('a colon is expected after the key');
    at++;
    return undefined;
  };

  for (;;) {
    // A value is expected.
    let failed = skip();
    if (failed) return failed;
    const first = text[at];
    if (first === undefined) return problem(open.length > 0 ? unclosed(open) : 'a value is expected here');
    if (first === '{' || first === '[') {
      at++;
      open.push(first);
      failed = skip();
      if (failed) return failed;
      if (text[at] !== (first === '{' ? '}' : ']')) {
        if (first === '{') {
          if (text[at] === undefined) return problem(unclosed(open));
          failed = key();
          if (failed) return failed;
        }
        continue;
      }
    } else if (first === '"') {
      if (!string()) return problem('this text is not closed or holds a character that JSON wants escaped');
    } else if (match(NUMBER) !== undefined) {
      const rest = match(/[\w.+-]+/y);
      if (rest !== undefined) return problem('this is not a number JSON knows', at - rest.length, at);
    } else {
      const start = at;
      const word = match(WORD);
      if (word === undefined || !['true', 'false', 'null'].includes(word))
        return problem(
          word === undefined ? 'a value is expected here' : `text needs double quotes: "${word}"`,
          start,
          start + (word?.length ?? 1),
        );
    }
    // A value has ended: close what closes, go on after a comma.
    for (;;) {
      failed = skip();
      if (failed) return failed;
      const inside = open.at(-1);
      const next = text[at];
      if (inside === undefined)
        return next === undefined ? undefined : problem('nothing may follow the end of the JSON value');
      if (next === undefined) return problem(unclosed(open));
      if (next === (inside === '{' ? '}' : ']')) {
        at++;
        open.pop();
        continue;
      }
      if (next !== ',') return problem('a comma is missing before this');
      const comma = at++;
      failed = skip();
      if (failed) return failed;
      if (text[at] === '}' || text[at] === ']') return problem('JSON has no comma after the last item', comma);
      if (inside === '{') {
        failed = key();
        if (failed) return failed;
      }
      break;
    }
  }
}

function unclosed(open: string[]): string {
  return `the file ends before ${open.at(-1) === '{' ? 'a "}"' : 'a "]"'} closes what was opened`;
}
