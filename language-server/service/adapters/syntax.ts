/** An adapter's text as a syntax tree, with bounds on what is looked at and with what a half-typed place spoils. */
import ts from 'typescript6';
import { LineIndex } from '../../../protocol/line-index.ts';
import type { AdapterOptions, Finding, Position, Range } from '../contract.ts';
import { unfinishedPlaces } from './unfinished.ts';

/** Adapters are a few hundred lines; a text beyond this is something else. */
const LARGEST = 300_000;
/** Brackets within brackets. The parser and everything behind it recurse. */
const DEEPEST = 500;
/** Errors of the grammar that are looked at one by one. */
const MOST_ERRORS = 100;
/** Of them, those that can be read in two ways. */
const MOST_DOUBTFUL = 6;

/** Where something is lacking. */
export interface Gap {
  start: number;
  end: number;
  /** End of the token before: what should have followed it belongs to the same place. */
  after: number;
}

export interface Syntax {
  text: string;
  source: ts.SourceFile;
  errors: (Gap & { message: string })[];
  /** Lines that parse only because the next one was taken for their end. */
  unfinished: Gap[];
  /** Whether the grammar is broken somewhere within a node, so that what it lacks may only not be written yet. */
  broken(node: ts.Node): boolean;
  range(node: ts.Node): Range;
  rangeOf(start: number, end: number): Range;
  /** Offset of a position; clamped to the text. */
  offset(position: Position): number;
}

/** Why a text cannot be analysed, as a finding; or its tree. Never throws. */
export function parseAdapter(written: string, options: AdapterOptions = {}): Syntax | { refused: Finding } {
  // Editors hide a byte-order mark, so it counts no column.
  const text = written.startsWith('\uFEFF') ? written.slice(1) : written;
  if (text.length > LARGEST)
    return refuse(
      `the file has ${(text.length / 1e6).toFixed(1)} million characters; adapters beyond 0.3 are not checked`,
    );
  const nul = text.indexOf('\0');
  const lines = new LineIndex(text);
  const place = (at: number): Position => {
    const { line, column } = lines.position(at);
    return { line: line - 1, character: column - 1 };
  };
  const rangeOf = (start: number, end: number) => ({ start: place(start), end: place(end) });
  if (nul >= 0) return refuse('there is a NUL character here: the file is not a text', rangeOf(nul, nul + 1));
  const deep = tooDeep(text);
  if (deep !== undefined)
    return refuse('too many brackets are open here; the file is not checked', rangeOf(deep, deep + 1));
  let source: ts.SourceFile;
  try {
    source = ts.createSourceFile('adapter.ts', text, ts.ScriptTarget.ESNext, true, grammar(options.fileName));
  } catch {
    // The parser ran out of stack: nesting that brackets do not show, such as a thousand prefix operators.
    return refuse('the code is nested too deeply to be checked');
  }
  const diagnostics = (source as unknown as { parseDiagnostics: ts.DiagnosticWithLocation[] }).parseDiagnostics;
  const errors = diagnostics.slice(0, MOST_ERRORS).map(({ start, length, messageText, code }) => ({
    start,
    after: code === COMMENT_OPEN ? 0 : withoutTrivia(text, start),
    end: start + length,
    message: ts.flattenDiagnosticMessageText(messageText, ' '),
  }));
  // Beyond so many nothing is sound; all of it is one broken place.
  const beyond = diagnostics.at(MOST_ERRORS);
  if (beyond)
    errors.push({ start: beyond.start, after: beyond.start, end: text.length, message: 'there are further errors' });
  let unfinished: Gap[];
  try {
    unfinished = unfinishedPlaces(source, text);
  } catch {
    return refuse('the code is nested too deeply to be checked');
  }
  const gaps = [...errors, ...unfinished];
  const end = text.trimEnd().length;
  const last = source.statements.at(-1);
  // A statement that the text ends with, without its semicolon, may go on in the next keystroke.
  const open =
    last && last.end >= end && !/[;}]/.test(text[end - 1]) && !ts.isExportAssignment(last) ? last : undefined;
  return {
    text,
    source,
    errors,
    unfinished,
    broken: (node) =>
      gaps.some((gap) => gap.after <= node.end && gap.end >= node.pos) || (open !== undefined && within(node, open)),
    range: (node) => rangeOf(node.getStart(source), node.end),
    rangeOf,
    offset: ({ line, character }) => offsetOf(text, line, character),
  };
}

/** A comment that is not closed hides the rest of the text. */
const COMMENT_OPEN = 1010;

function grammar(fileName = 'adapter.ts'): ts.ScriptKind {
  return /\.[cm]?js$/i.test(fileName) ? ts.ScriptKind.JS : ts.ScriptKind.TS;
}

/** Offset behind the last token before an offset. */
function withoutTrivia(text: string, offset: number): number {
  let end = offset;
  for (;;) {
    while (end > 0 && /\s/.test(text[end - 1])) end--;
    const line = text.slice(Math.max(text.lastIndexOf('\n', end - 1) + 1, end - 500), end);
    const comment = line.indexOf('//');
    if (text.startsWith('*/', end - 2)) end = Math.max(0, text.lastIndexOf('/*', end - 3));
    else if (comment >= 0) end -= line.length - comment;
    else return end;
  }
}

function within(node: ts.Node, outer: ts.Node): boolean {
  return node.pos >= outer.pos && node.end <= outer.end;
}

function refuse(message: string, range: Range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } }) {
  const finding: Finding = { code: 'adapter-not-checked', severity: 'warning', message, range };
  return { refused: finding };
}

/**
 * Offset at which too many brackets are open, if any. Brackets in strings count too: it is only a bound. Where the parser
 * has to try two readings (`async (` may be a call or a function, `a < (` a comparison or type arguments), each level
 * doubles its work, so that far fewer are let through.
 */
function tooDeep(text: string): number | undefined {
  const open: boolean[] = [];
  let doubtful = 0;
  let last = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 40 || unit === 91 || unit === 123) {
      const between = text.slice(Math.max(last, i - 300), i);
      const two = /\basync\b|</.test(between);
      open.push(two);
      if (two) doubtful++;
      if (open.length > DEEPEST || doubtful > MOST_DOUBTFUL) return i;
      last = i + 1;
    } else if (unit === 41 || unit === 93 || unit === 125) {
      if (open.pop()) doubtful--;
      last = i + 1;
    }
  }
  return undefined;
}

function offsetOf(text: string, line: number, character: number): number {
  let start = 0;
  for (const ending of text.matchAll(/\r\n|\n|\r/g)) {
    if (line === 0) return Math.min(start + character, ending.index);
    line--;
    start = ending.index + ending[0].length;
  }
  return line === 0 ? Math.min(start + character, text.length) : text.length;
}
