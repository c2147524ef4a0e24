/** Sentences for what the YAML parser stumbles over, in place of those of its own that speak of its inner parts. */
import { type Document, isSeq, type YAMLParseError } from 'yaml';

type Sentence = (error: YAMLParseError, text: string, document?: Document) => string;

/** Told of a pair such as `rounds:2`; there is a fix for it. */
export const SPACE_MISSING = 'a space is missing after the colon';

export const SECOND_DOCUMENT = 'a second document begins here; a training config is one document, without "---" inside';

/** By the parser's codes. */
const SENTENCES: Record<string, Sentence> = {
  TAB_AS_INDENT: () => 'a tab indents this line; YAML allows only spaces there',
  MULTIPLE_DOCS: () => SECOND_DOCUMENT,
  BLOCK_AS_IMPLICIT_KEY: () =>
    'a "key: value" cannot stand here: the line above already gives a value, or two keys share this line',
  BLOCK_IN_FLOW: () => 'inside brackets a comma is missing, or lines are written as if there were none',
  MULTILINE_IMPLICIT_KEY: notAPair,
  MISSING_CHAR: (error, text) =>
    error.message.includes('quote')
      ? 'this quoted text has no closing quote'
      : error.message.startsWith('Implicit')
        ? notAPair(error, text)
        : lowerFirst(error.message),
  BAD_INDENT: (error) =>
    error.message.startsWith('Flow')
      ? `a list or mapping in brackets that begins before here is not closed with ${error.message.slice(-1)}`
      : 'this line is indented differently from the other keys of its mapping',
  BAD_SCALAR_START: (error, text) => `a value cannot begin with "${text[error.pos[0]] ?? ''}"; put it in quotes`,
  UNEXPECTED_TOKEN: outOfPlace,
};

/** What is wrong, and what to do, as one sentence. */
export function syntaxSentence(error: YAMLParseError, text: string, document?: Document): string {
  return SENTENCES[error.code]?.(error, text, document) ?? lowerFirst(error.message);
}

export function lowerFirst(message: string): string {
  const first = message.split('\n')[0];
  return first.charAt(0).toLowerCase() + first.slice(1);
}

function notAPair(error: YAMLParseError, text: string): string {
  const line = text.slice(error.pos[0]).split(/[\r\n]/, 1)[0];
  return /^[^\s:]+:[^\s]/.test(line) ? SPACE_MISSING : 'this line is not of the form "key: value"';
}

/** The parser names its token (`flow-map-end`), which says nothing to who wrote a brace. */
function outOfPlace(error: YAMLParseError, text: string, document?: Document): string {
  const { message } = error;
  const [start, end] = error.pos;
  const what = text.slice(start, Math.min(end, start + 40)).split(/[\r\n]/, 1)[0];
  const closes = /^[}\]]/.exec(what)?.[0];
  if (closes) return `this "${closes}" closes nothing: no "${closes === '}' ? '{' : '['}" is open here`;
  if (message.includes('at node end'))
    return isSeq(document?.contents) && (start === 0 || '\r\n'.includes(text[start - 1]))
      ? 'the file begins as a list ("- ..."), and keys cannot follow one: a training config is a mapping of keys to values'
      : `"${what}" stands behind a value that has ended; begin a new line, or put the whole value in quotes`;
  if (message.includes('block-seq-ind'))
    return 'a list cannot begin here: write each "- item" on a line of its own beneath the key, or the list in brackets';
  if (/^Unexpected ,/.test(message)) return 'there is a comma too many';
  if (message.startsWith('Block scalar header'))
    return 'behind "|" or ">" the line ends; the text itself begins on the next line, indented';
  return what.trim() === '' ? 'the text cannot go on like this here' : `"${what}" cannot stand here`;
}
