/** Finds where a text departs from JSON, says why, and reads on; the YAML parser alone would let much of it pass. */

export interface JsonProblem {
  message: string;
  start: number;
  end: number;
  /** What stands around it was read as it was meant. */
  exact: boolean;
}

export interface JsonReading {
  /** In the order of the text; at most 50. */
  problems: JsonProblem[];
  /** As long as the text, every place at its offset, with what was wrong mended as far as that is possible. */
  mended: string;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const WORD = /[A-Za-z_$][\w$.-]*/y;
/** `onnx"`: the quote that opens it is missing. */
const UNOPENED = /[A-Za-z_$./][^\s",:{}[\]]*"/y;
/** `"rounds: 9`: the colon tells where the key ends. */
const UNCLOSED_KEY = /^"[A-Za-z_]\w*(?=\s*:)/;
const SINGLE_QUOTED = /'[^'"\r\n]*'/y;
const MOST_PROBLEMS = 50;
/** Stumbles, told or not, after which nothing more is mended. */
const MOST_STUMBLES = 1000;

/** The first departure from JSON's grammar, or undefined when there is none. */
export function jsonProblem(text: string): JsonProblem | undefined {
  return readJson(text, 1).problems[0];
}

/** All departures from JSON's grammar. Depth costs no stack. */
export function readJson(text: string, most = MOST_PROBLEMS): JsonReading {
  const scanner = new Scanner(text, most);
  scanner.run();
  return { problems: scanner.problems, mended: scanner.mended() };
}

/** What to do after a step: read a value, read what may follow one, or give up. */
type Next = 'value' | 'after' | 'stop';

class Scanner {
  readonly problems: JsonProblem[] = [];
  /** With quotes that were missing put in, which are read again; other patches wait in their list. */
  #text: string;
  readonly #patches: { at: number; by: string }[] = [];
  readonly #most: number;
  readonly #open: ('{' | '[')[] = [];
  #at = 0;
  #stumbles = 0;
  /** After a problem whose extent is not known, until something sound was read: what follows may be its shadow. */
  #shaken = false;

  constructor(text: string, most: number) {
    this.#text = text;
    this.#most = most;
  }

  mended(): string {
    let done = 0;
    let mended = '';
    for (const { at, by } of this.#patches.sort((a, b) => a.at - b.at)) {
      if (at < done) continue;
      mended += this.#text.slice(done, at) + by;
      done = at + by.length;
    }
    return mended + this.#text.slice(done);
  }

  run(): void {
    let next: Next = 'value';
    while (next !== 'stop' && this.#stumbles < (this.#most > 1 ? MOST_STUMBLES : 1))
      next = next === 'value' ? this.#value() : this.#after();
  }

  /** @param clear what is meant is beyond doubt. */
  #report(message: string, clear: boolean, start = this.#at, end = start + 1): void {
    this.#stumbles++;
    const last = this.problems.at(-1);
    if (last && (this.#shaken || last.start === start || this.problems.length >= this.#most)) {
      last.exact = false;
      return;
    }
    this.problems.push({ message, start, end: Math.min(end, this.#text.length), exact: clear });
    this.#shaken = !clear;
  }

  /** Reports what nothing can be read behind. */
  #stop(message: string): Next {
    this.#report(message, false);
    return 'stop';
  }

  /** Reports that the text ends too early: what was read is sound. */
  #end(): Next {
    const bracket = this.#open.at(-1) === '{' ? '}' : ']';
    this.#report(`the file ends before a "${bracket}" closes what was opened`, true);
    return 'stop';
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found) this.#at += found.length;
    return found;
  }

  #patch(at: number, by: string): void {
    this.#patches.push({ at, by });
  }

  /** Puts a character that is missing before this place over white space there. @returns whether there was some. */
  #insertBefore(character: string): boolean {
    if (!/\s/.test(this.#text[this.#at - 1] ?? '')) return false;
    this.#patch(this.#at - 1, character);
    return true;
  }

  /** White space, and comments, which are blanked. */
  #skip(): void {
    for (;;) {
      this.#match(/[ \t\r\n]+/y);
      const start = this.#at;
      const comment = this.#match(/(?:\/\/|#)[^\r\n]*|\/\*[\s\S]*?(?:\*\/|$)/y);
      if (comment === undefined) return;
      this.#report('JSON has no comments; a .yaml file may hold them', true, start, start + 2);
      this.#patch(start, comment.replace(/[^\r\n]/g, ' '));
    }
  }

  #value(): Next {
    this.#skip();
    const first = this.#text[this.#at];
    if (first === undefined) return this.#open.length > 0 ? this.#end() : this.#stop('a value is expected here');
    if (first === '{' || first === '[') {
      this.#at++;
      this.#open.push(first);
      this.#skip();
      const next = this.#text[this.#at];
      if (next === (first === '{' ? '}' : ']')) return 'after';
      return first === '{' ? this.#key() : 'value';
    }
    if (first === '"') return this.#string() ? 'after' : 'stop';
    const start = this.#at;
    if (this.#match(NUMBER) !== undefined) {
      const rest = this.#match(/[\w.+-]+/y);
      if (rest !== undefined) this.#report('this is not a number JSON knows', true, this.#at - rest.length, this.#at);
      this.#shaken = false;
      return 'after';
    }
    if (this.#unopened()) return 'after';
    const word = this.#match(WORD);
    if (word !== undefined) {
      if (!['true', 'false', 'null'].includes(word))
        this.#report(`text needs double quotes: "${word}"`, true, start, this.#at);
      else this.#shaken = false;
      return 'after';
    }
    if (this.#match(SINGLE_QUOTED) !== undefined) {
      this.#report('text needs double quotes, not single ones', true, start, this.#at);
      return 'after';
    }
    if (this.#match(/[+.]\d[\w.+-]*/y) !== undefined) {
      this.#report('this is not a number JSON knows', true, start, this.#at);
      return 'after';
    }
    const absent = ',}]'.includes(first);
    this.#report('a value is expected here', absent);
    if (this.#open.length === 0) return 'stop';
    if (absent) return 'after';
    this.#patch(this.#at++, ' ');
    return 'value';
  }

  /** A value has ended: close what closes, go on after a comma. */
  #after(): Next {
    this.#skip();
    const inside = this.#open.at(-1);
    const next = this.#text[this.#at];
    if (inside === undefined)
      return next === undefined ? 'stop' : this.#stop('nothing may follow the end of the JSON value');
    if (next === undefined) return this.#end();
    const closing = inside === '{' ? '}' : ']';
    if (next === closing) {
      this.#at++;
      this.#open.pop();
      return 'after';
    }
    if (next === '}' || next === ']') {
      const mended = this.#open.length > 1 && this.#insertBefore(closing);
      this.#report(`"${closing}" is expected before this`, mended);
      if (!mended) return 'stop';
      this.#open.pop();
      return 'after';
    }
    if (next !== ',') {
      const mended = /["'\w{[-]/.test(next) && this.#insertBefore(',');
      this.#report('a comma is missing before this', mended);
      if (!mended) return 'stop';
      return inside === '{' ? this.#key() : 'value';
    }
    let comma = this.#at++;
    for (;;) {
      this.#skip();
      const behind = this.#text[this.#at];
      if (behind === '}' || behind === ']') {
        this.#report('JSON has no comma after the last item', true, comma);
        return 'after';
      }
      if (behind !== ',') break;
      this.#report('there is a comma too many', true);
      this.#patch(comma, ' ');
      comma = this.#at++;
    }
    return inside === '{' ? this.#key() : 'value';
  }

  /** A key and its colon. */
  #key(): Next {
    const start = this.#at;
    const first = this.#text[start];
    if (first === undefined) return this.#end();
    if (first === '"') {
      if (!this.#string(true)) return 'stop';
    } else if (!this.#unopened()) {
      if (
        this.#match(WORD) === undefined &&
        this.#match(SINGLE_QUOTED) === undefined &&
        this.#match(/\d[\w.]*/y) === undefined
      )
        return this.#stop('a key in double quotes is expected here');
      this.#report('a key in double quotes is expected here', true, start, this.#at);
    }
    this.#skip();
    const next = this.#text[this.#at];
    if (next === ':') this.#at++;
    else {
      const absent = next !== undefined && ',}'.includes(next);
      const mended = next === '=' || (!absent && next !== undefined && this.#insertBefore(':'));
      this.#report('a colon is expected after the key', mended);
      if (absent) return 'after';
      if (!mended) return 'stop';
      if (next === '=') this.#patch(this.#at++, ':');
    }
    return 'value';
  }

  /** Steps over a text in double quotes. @returns false where nothing can be read behind it. */
  #string(asKey = false): boolean {
    const start = this.#at++;
    let sound = true;
    // Control characters other than these are refused before the grammar is looked at.
    while (this.#at < this.#text.length && !'"\n\r'.includes(this.#text[this.#at])) {
      if (this.#text[this.#at] === '\\') {
        if (this.#match(ESCAPE) !== undefined) continue;
        sound = false;
      } else if (this.#text[this.#at] === '\t') sound = false;
      this.#at++;
    }
    if (this.#text[this.#at] === '"') {
      this.#at++;
      if (asKey && this.#closedTooLate(start)) return true;
      if (sound) this.#shaken = false;
      else this.#report('this text holds a character that JSON wants escaped', true, start, this.#at);
      return true;
    }
    if (asKey && this.#closedTooLate(start)) return true;
    this.#report('this text is not closed', false, start, this.#at);
    const line = this.#text.slice(start, this.#at);
    if (this.#at >= this.#text.length) return false;
    // Commas and brackets at the end of the line are meant as such; the quote before them takes the line break's place.
    const behind = /[\s,}\]]*$/.exec(line)?.[0] ?? '';
    const end = Math.max(start + 1, this.#at - behind.length);
    this.#text = `${this.#text.slice(0, end)}"${this.#text.slice(end, this.#at)}${this.#text.slice(this.#at + 1)}`;
    this.#at = end + 1;
    return true;
  }

  /** Steps over a text whose opening quote is missing. */
  #unopened(): boolean {
    const start = this.#at;
    if (this.#match(UNOPENED) === undefined) return false;
    this.#report('this text has no quote before it', true, start, this.#at);
    this.#patch(this.#at - 1, ' ');
    return true;
  }

  /** Whether a key that was read up to a later quote, or to no quote at all, ends before its colon; then steps there. */
  #closedTooLate(start: number): boolean {
    const key = UNCLOSED_KEY.exec(this.#text.slice(start, this.#at))?.[0];
    if (key === undefined || /^\s*:/.test(this.#text.slice(this.#at, this.#at + 100))) return false;
    this.#at = start + key.length;
    this.#report('this text is not closed', true, start, this.#at);
    this.#patch(start, ' ');
    return true;
  }
}
