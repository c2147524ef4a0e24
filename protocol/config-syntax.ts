/** Parses a config's text into a YAML tree, with limits on size and depth and sentences a person can act on. */
import { Composer, type Document, isSeq, Lexer, Parser, visit, type YAMLParseError } from 'yaml';
import type { ConfigFix } from './config-fix.ts';
import { lowerFirst, SECOND_DOCUMENT, SPACE_MISSING, syntaxSentence } from './config-syntax-wording.ts';
import { readJson } from './json-text.ts';

/** A problem at offsets of the text. */
export interface TextProblem {
  code: string;
  severity: 'error' | 'warning' | 'hint';
  message: string;
  start: number;
  end: number;
  fix?: ConfigFix;
  /** Of broken text: what stands around it was read as it was meant. */
  exact?: boolean;
}

/** Longest config in UTF-16 units; beyond it nothing is parsed. */
export const LARGEST_CONFIG = 1024 * 1024;
const DEEPEST = 64;
/** Keys and values a config may have; ranges (11-44) say more with fewer. */
const MOST_VALUES = 20_000;
const MOST_PROBLEMS = 50;

/**
 * Never throws: whatever is wrong with the text becomes a problem. Without a document nothing could be read.
 * @param json hold the text to JSON's stricter grammar as well.
 */
export function parseConfigText(text: string, json: boolean): { document?: Document; problems: TextProblem[] } {
  const problems: TextProblem[] = [];
  const add = (severity: TextProblem['severity'], code: string, message: string, start: number, end: number) =>
    problems.push({ severity, code, message, start, end });
  if (text.length > LARGEST_CONFIG) {
    add(
      'error',
      'config-too-large',
      `the file has ${text.length.toLocaleString('en')} characters; a training config has at most ${LARGEST_CONFIG.toLocaleString('en')}`,
      0,
      0,
    );
    return { problems };
  }
  const control = controlCharacter(text);
  if (control >= 0) {
    const code = text.charCodeAt(control).toString(16).toUpperCase().padStart(4, '0');
    const binary = text.charCodeAt(control) === 0 || text[control] === '\uFFFD';
    add(
      'error',
      'control-character',
      `the character U+${code} cannot stand in a config${binary ? '; this looks like a binary file or one that is not UTF-8' : ''}`,
      control,
      control + 1,
    );
    return { problems };
  }
  let read = text;
  if (json) {
    const { problems: found, mended } = readJson(text);
    read = mended;
    for (const problem of found)
      problems.push({
        severity: 'error',
        code: 'json-syntax',
        ...problem,
        ...(problem.message.startsWith('JSON has no comma after') && {
          fix: { title: 'Remove the comma', safe: true, start: problem.start, end: problem.end, text: '' },
        }),
      });
  }

  // A lone carriage return ends a line in editors but not for the parser.
  const source = read.replace(/\r(?!\n)/g, '\n');
  let document: Document | undefined;
  // A broken text of a megabyte has a hundred thousand errors, and their stacks, which nobody reads, take seconds.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    const lexer = new Lexer();
    const parser = new Parser();
    const tokens = [];
    let values = 0;
    for (const lexeme of lexer.lex(source)) {
      if (startsValue(lexeme) && ++values > MOST_VALUES) {
        const most = MOST_VALUES.toLocaleString('en');
        const advice = 'write sets of states as ranges, such as 11-44';
        const message = `the file has more than ${most} keys and values; a training config has far fewer: ${advice}`;
        add('error', 'config-too-large', message, parser.offset, parser.offset + 1);
        return { problems };
      }
      for (const token of parser.next(lexeme)) tokens.push(token);
      if (parser.stack.length > DEEPEST) {
        add(
          'error',
          'nested-too-deep',
          `values are nested more than ${DEEPEST} levels deep`,
          parser.offset,
          parser.offset + 1,
        );
        return { problems };
      }
    }
    for (const token of parser.end()) tokens.push(token);
    const composer = new Composer({ merge: true, uniqueKeys: false, prettyErrors: false, keepSourceTokens: false });
    const later: Document[] = [];
    for (const composed of composer.compose(tokens, true, source.length)) {
      if (document) later.push(composed as Document);
      else document = composed as Document;
    }
    let lost = 0;
    for (const error of document?.errors ?? []) {
      if (json && problems.length > 0) break; // JSON's own sentence says it better
      // The parser goes on after a mistake, and stumbles over the same place again.
      if (problems.some((told) => told.code === 'yaml-syntax' && told.start === error.pos[0])) continue;
      // Behind a value that has ended the rest of the line is out of place; behind a list the rest of the file.
      if (error.pos[0] < lost && error.message.includes('token in YAML stream')) continue;
      if (error.message.includes('at node end'))
        lost = isSeq(document?.contents) ? source.length : `${source}\n`.indexOf('\n', error.pos[0]);
      const sentence = syntaxSentence(error, source, document);
      const opening = error.code === 'MISSING_CHAR' ? quoteThatEndsAt(document as Document, error.pos[0]) : undefined;
      add('error', 'yaml-syntax', sentence, ...(opening ?? error.pos));
      const fix = syntaxFix(error, sentence, source);
      if (fix) problems[problems.length - 1].fix = fix;
      // After an open quote the rest of the text was read as part of it.
      if (opening || problems.length >= MOST_PROBLEMS) break;
    }
    if (later.length > 0) {
      const start = later[0].range?.[0] ?? source.length;
      const marker = source.lastIndexOf('---', start);
      add('error', 'yaml-syntax', SECOND_DOCUMENT, marker, marker + 3);
    }
    for (const warning of document?.warnings ?? [])
      add('warning', 'yaml-syntax', lowerFirst(warning.message), ...warning.pos);
  } catch (error) {
    add('error', 'yaml-syntax', `the file cannot be read: ${lowerFirst((error as Error).message)}`, 0, 0);
    return { problems };
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  return { document, problems };
}

/** Whether a lexeme announces a plain or block text, or is one in quotes. */
function startsValue(lexeme: string): boolean {
  return lexeme === '\u001F' || lexeme[0] === '"' || lexeme[0] === "'";
}

/** A missing space after a colon, a tab: mended in place. */
function syntaxFix(error: YAMLParseError, sentence: string, text: string): ConfigFix | undefined {
  const [start] = error.pos;
  if (error.code === 'TAB_AS_INDENT') {
    const lineStart = text.lastIndexOf('\n', start - 1) + 1;
    const indent = /^[ \t]*/.exec(text.slice(lineStart))?.[0] ?? '';
    const end = lineStart + indent.length;
    return { title: 'Indent with spaces', safe: false, start: lineStart, end, text: indent.replaceAll('\t', '  ') };
  }
  if (sentence !== SPACE_MISSING) return undefined;
  const colon = text.indexOf(':', start);
  return { title: 'Put a space after the colon', safe: true, start: colon + 1, end: colon + 1, text: ' ' };
}

/** The quoted text that runs up to an offset: a missing quote is best shown where the text began. */
function quoteThatEndsAt(document: Document, end: number): [number, number] | undefined {
  let found: [number, number] | undefined;
  visit(document, {
    Scalar: (_key, node) => {
      if (node.type?.startsWith('QUOTE') && node.range?.[1] === end) found = [node.range[0], end];
    },
  });
  return found;
}

/** Offset of the first character that no text file holds, or -1. U+FFFD is what undecodable bytes become. */
function controlCharacter(text: string): number {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if ((code < 32 && code !== 9 && code !== 10 && code !== 13) || code === 127 || code === 0xfffd) return i;
  }
  return -1;
}
