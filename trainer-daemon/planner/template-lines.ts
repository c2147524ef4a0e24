/**
 * Lines of a Jinja template, which the library does not tell: where its syntax breaks, and where a rendering fails.
 */
import { Template } from '@huggingface/jinja';

/** A `{% ... %}` or `{{ ... }}` of a template. */
interface Block {
  kind: '{%' | '{{';
  /** What stands between the braces, without the dashes that trim white space. */
  inner: string;
  /** Offset of the opening brace, and its line from 1. */
  start: number;
  line: number;
}

/** What is wrong with a template's syntax. */
export interface SyntaxProblem {
  message: string;
  /** From 1; absent when it is not known. */
  line?: number;
}

/** Statements that enclose others, and those that may stand between their two ends. */
const CLOSED_BY: Record<string, string> = {
  if: 'endif',
  for: 'endfor',
  macro: 'endmacro',
  call: 'endcall',
  filter: 'endfilter',
};
const BETWEEN: Record<string, string[]> = { elif: ['if'], else: ['if', 'for'] };

/**
 * The first thing that is wrong with a template's syntax.
 * @returns undefined when the library can parse it.
 */
export function syntaxProblem(template: string): SyntaxProblem | undefined {
  const whole = parseError(template);
  if (whole === undefined) return undefined;
  const { blocks, unclosed } = scan(template);
  const open: { name: string; line: number }[] = [];
  for (const { kind, inner, line } of blocks) {
    if (kind === '{{') {
      const message = parseError(`{{${inner}}}`);
      if (message !== undefined) return { message, line };
      continue;
    }
    const name = /^\s*(\w*)/.exec(inner)?.[1] ?? '';
    const message = statementProblem(name, inner, open);
    if (message !== undefined) return { message, line };
    if (name in CLOSED_BY || isSetBlock(name, inner)) open.push({ name, line });
    else if (name.startsWith('end') && name !== 'endgeneration') open.pop();
  }
  if (unclosed) return unclosed;
  const last = open.at(-1);
  if (last) return { message: `{% ${last.name} %} is never closed by {% end${last.name} %}`, line: last.line };
  return { message: whole };
}

/** What is wrong with one statement, given those it stands in. */
function statementProblem(name: string, inner: string, open: { name: string; line: number }[]): string | undefined {
  const within = open.at(-1);
  if (name.startsWith('end') && name !== 'endgeneration') {
    if (within && name === `end${within.name}`) return undefined;
    return `{% ${name} %} closes ${within ? `{% ${within.name} %} of line ${within.line}` : 'nothing'}`;
  }
  if (name in BETWEEN) {
    if (!within || !BETWEEN[name].includes(within.name)) return `{% ${name} %} stands outside of what it belongs to`;
    return name === 'elif' ? parseError(`{%${inner.replace('elif', 'if')}%}{% endif %}`) : undefined;
  }
  const close = isSetBlock(name, inner) ? 'endset' : CLOSED_BY[name];
  return parseError(`{%${inner}%}${close === undefined ? '' : `{% ${close} %}`}`);
}

/** `{% set x %}...{% endset %}`, unlike `{% set x = 1 %}`. */
function isSetBlock(name: string, inner: string): boolean {
  return name === 'set' && !inner.includes('=');
}

function parseError(template: string): string | undefined {
  try {
    new Template(template);
    return undefined;
  } catch (error) {
    // Where the text ends too early the library reads on beyond its tokens.
    return error instanceof TypeError ? 'it ends too early' : (error as Error).message;
  }
}

/**
 * The line at which rendering a template fails: that of the last statement or expression reached (for a failing
 * `elif`, the one before it).
 * @param values what the template was rendered with.
 * @returns undefined when rendering does not fail.
 */
export function failingLine(template: string, values: Record<string, unknown>): number | undefined {
  const { blocks } = scan(template);
  let name = 'line';
  while (template.includes(name)) name += '_';
  let traced = '';
  let from = 0;
  for (const { start, line } of blocks) {
    // What the tracing adds to the text does not matter: the text is thrown away.
    traced += `${template.slice(from, start)}{{ ${name}(${line}) }}`;
    from = start;
  }
  traced += template.slice(from);
  let reached: number | undefined;
  const note = (line: number) => {
    reached = line;
    return '';
  };
  try {
    new Template(traced).render({ ...values, [name]: note });
    return undefined;
  } catch {
    return reached;
  }
}

/** The blocks of a template, comments left out; and the first that is never closed. */
function scan(template: string): { blocks: Block[]; unclosed?: SyntaxProblem } {
  const blocks: Block[] = [];
  let line = 1;
  let counted = 0;
  const lineAt = (offset: number) => {
    for (; counted < offset; counted++) if (template[counted] === '\n') line++;
    return line;
  };
  for (let at = template.search(/\{[{%#]/); at >= 0 && at < template.length; ) {
    const kind = template.slice(at, at + 2) as '{%' | '{{' | '{#';
    const end = endOf(template, at, kind);
    if (end === undefined) {
      const message = `${kind} is never closed by ${kind === '{{' ? '}}' : `${kind[1]}}`}`;
      return { blocks, unclosed: { message, line: lineAt(at) } };
    }
    if (kind !== '{#') {
      const inner = template
        .slice(at + 2, end - 2)
        .replace(/^-/, '')
        .replace(/-$/, '');
      blocks.push({ kind, inner, start: at, line: lineAt(at) });
    }
    const next = template.slice(end).search(/\{[{%#]/);
    at = next < 0 ? -1 : end + next;
  }
  return { blocks };
}

/** Offset behind a block's closing braces. Braces within texts and within `{...}` tables do not close it. */
function endOf(template: string, start: number, kind: '{%' | '{{' | '{#'): number | undefined {
  if (kind === '{#') {
    const end = template.indexOf('#}', start + 2);
    return end < 0 ? undefined : end + 2;
  }
  const close = kind === '{{' ? '}}' : '%}';
  let depth = 0;
  for (let at = start + 2; at < template.length; at++) {
    const character = template[at];
    if (depth === 0 && template.startsWith(close, at)) return at + 2;
    if (character === '{') depth++;
    else if (character === '}') depth--;
    else if (character === '"' || character === "'") {
      for (at++; at < template.length && template[at] !== character; at++) if (template[at] === '\\') at++;
    }
  }
  return undefined;
}
