/**
 * Conditions and questions about a recorded call, such as `advantage < -0.5 && turn > 3`: names with paths into them,
 * numbers, texts, comparison, `&&`, `||`, `!`, arithmetic and parentheses. An expression is parsed to a tree and the tree is
 * walked: nothing is evaluated as code, nothing is called, and only what a value holds itself can be reached.
 *
 *     or      = and { "||" and }
 *     and     = compare { "&&" compare }
 *     compare = sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=" | "contains") sum ]
 *     sum     = product { ("+" | "-") product }
 *     product = unary { ("*" | "/" | "%") unary }
 *     unary   = ("!" | "-") unary | primary
 *     primary = number | text | "true" | "false" | "null" | "(" or ")" | path
 *     path    = name { "." name | "[" (whole number | text) "]" }
 */
import { nearest } from '../../protocol/nearest.ts';

/** What is wrong with an expression, or with evaluating it, and where. */
export class ExpressionError extends Error {
  /** 1-based, in UTF-16 units. */
  readonly column: number;

  constructor(problem: string, column: number) {
    super(`${problem} (column ${column})`);
    this.column = column;
  }
}

export const LONGEST_EXPRESSION = 1000;
const DEEPEST = 64;

type Step = string | number;
type Node = { at: number } & (
  | { kind: 'value'; value: number | string | boolean | null }
  | { kind: 'path'; name: string; steps: Step[] }
  | { kind: 'unary'; operator: '!' | '-'; of: Node }
  | { kind: 'binary'; operator: string; left: Node; right: Node }
);

export interface Expression {
  readonly text: string;
  /** Names that it asks for, each once. */
  readonly names: readonly string[];
  /** It is a name with a path into it, nothing more. */
  readonly isPath: boolean;
  /**
   * Its value. What is not there is null, as is arithmetic with it; a comparison with null is false, except for == and !=.
   * @param lookUp the value of one of {@link names}. @throws ExpressionError when kinds of values do not fit.
   */
  evaluate(lookUp: (name: string) => unknown): unknown;
}

/**
 * @param known names that there are; undefined allows any.
 * @throws ExpressionError
 */
export function parseExpression(text: string, known?: readonly string[]): Expression {
  if (text.length > LONGEST_EXPRESSION) {
    throw new ExpressionError(
      `an expression has at most ${LONGEST_EXPRESSION} characters, this one has ${text.length}`,
      LONGEST_EXPRESSION + 1,
    );
  }
  const tree = new Parser(lexed(text), text.length + 1).parse();
  const names = new Map<string, number>();
  visit(tree, (node) => node.kind === 'path' && !names.has(node.name) && names.set(node.name, node.at));
  for (const [name, at] of names) {
    if (!known || known.includes(name)) continue;
    const meant = nearest(name, known);
    throw new ExpressionError(`there is no "${name}"${meant ? `; did you mean "${meant}"?` : ''}`, at);
  }
  return { text, names: [...names.keys()], isPath: tree.kind === 'path', evaluate: (lookUp) => evaluate(tree, lookUp) };
}

/** Whether a condition with this value holds: not for null, false, 0, an empty text or not a number. */
export function holds(value: unknown): boolean {
  return Boolean(value);
}

interface Token {
  kind: 'number' | 'text' | 'name' | 'operator' | 'end';
  text: string;
  value?: number | string;
  at: number;
}

const TOKEN =
  /\s*(?:(?<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?<name>[\p{L}_$][\p{L}\p{N}_$]*)|(?<operator>&&|\|\||[=!<>]=|[-+*/%!<>().[\]])|(?<quote>["']))/uy;

function lexed(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw strange(text, from);
    const { number, name, operator } = match.groups as Record<string, string | undefined>;
    const found = number ?? name ?? operator;
    if (found === undefined) {
      tokens.push(quoted(text, TOKEN.lastIndex - 1));
      continue;
    }
    const at = TOKEN.lastIndex - found.length + 1;
    // 1.2.3 and 3px are mistakes, not two tokens.
    if (number !== undefined && /^[\p{L}\p{N}_.]/u.test(text.slice(TOKEN.lastIndex)))
      throw new ExpressionError('this is no number', at);
    if (number !== undefined) tokens.push({ kind: 'number', text: number, value: Number(number), at });
    else tokens.push({ kind: name === undefined ? 'operator' : 'name', text: found, at });
  }
  return tokens;
}

function strange(text: string, from: number): ExpressionError {
  const at = from + text.slice(from).search(/\S/);
  const sign = String.fromCodePoint(text.codePointAt(at) as number);
  const hints: Record<string, string> = { '=': 'compare with ==', '&': 'write && for "and"', '|': 'write || for "or"' };
  return new ExpressionError(`"${sign}" is not understood${hints[sign] ? `; ${hints[sign]}` : ''}`, at + 1);
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r' };

/** A text in quotes that begins at an offset. */
function quoted(text: string, from: number): Token {
  const quote = text[from];
  let value = '';
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === quote) {
      TOKEN.lastIndex = at + 1;
      return { kind: 'text', text: text.slice(from, at + 1), value, at: from + 1 };
    }
    if (text[at] === '\\' && at + 1 < text.length) {
      at++;
      value += ESCAPES[text[at]] ?? text[at];
    } else value += text[at];
  }
  throw new ExpressionError(`the text that begins here has no closing ${quote}`, from + 1);
}

const COMPARISONS = ['==', '!=', '<', '<=', '>', '>=', 'contains'];
const CONSTANTS = new Map<string, boolean | null>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

class Parser {
  private readonly tokens: Token[];
  private readonly end: Token;
  private next = 0;
  private depth = 0;

  constructor(tokens: Token[], end: number) {
    this.tokens = tokens;
    this.end = { kind: 'end', text: '', at: end };
  }

  parse(): Node {
    if (this.tokens.length === 0) throw new ExpressionError('there is nothing to evaluate', 1);
    const tree = this.or();
    const rest = this.peek();
    if (rest.kind !== 'end') throw this.unexpected(rest);
    return tree;
  }

  private or(): Node {
    return this.chain(['||'], () => this.chain(['&&'], () => this.comparison()));
  }

  private comparison(): Node {
    const left = this.sum();
    const operator = this.take(COMPARISONS);
    if (!operator) return left;
    const node: Node = { kind: 'binary', operator: operator.text, left, right: this.sum(), at: operator.at };
    const second = this.peek();
    if (second.kind !== 'end' && COMPARISONS.includes(second.text))
      throw new ExpressionError('comparisons cannot follow each other; put && between two of them', second.at);
    return node;
  }

  private sum(): Node {
    return this.chain(['+', '-'], () => this.chain(['*', '/', '%'], () => this.unary()));
  }

  private chain(operators: string[], inner: () => Node): Node {
    let left = inner();
    for (let links = 0; ; links++) {
      const operator = this.take(operators);
      if (!operator) return left;
      // A long chain is a deep tree.
      if (links >= DEEPEST) throw new ExpressionError('the expression is too long', operator.at);
      left = { kind: 'binary', operator: operator.text, left, right: inner(), at: operator.at };
    }
  }

  private unary(): Node {
    const operator = this.take(['!', '-']);
    if (!operator) return this.primary();
    return this.deeper(operator, () => {
      const of = this.unary();
      return { kind: 'unary', operator: operator.text as '!' | '-', of, at: operator.at };
    });
  }

  private primary(): Node {
    const token = this.peek();
    this.next++;
    const { kind, at, text } = token;
    if (kind === 'number' || kind === 'text') return { kind: 'value', value: token.value as number | string, at };
    if (kind === 'name' && text !== 'contains') {
      const constant = CONSTANTS.get(text);
      return constant === undefined ? this.path(token) : { kind: 'value', value: constant, at };
    }
    if (text !== '(' || kind !== 'operator') throw this.unexpected(token);
    return this.deeper(token, () => {
      const inner = this.or();
      if (!this.take([')'])) throw new ExpressionError(`a ")" is missing for the "(" of column ${at}`, this.peek().at);
      return inner;
    });
  }

  private path({ text: name, at }: Token): Node {
    const steps: Step[] = [];
    for (;;) {
      if (this.take(['.'])) {
        const field = this.peek();
        this.next++;
        if (field.kind !== 'name') throw new ExpressionError('after "." comes the name of a field', field.at);
        steps.push(field.text);
      } else if (this.take(['['])) {
        const index = this.peek();
        this.next++;
        const whole = index.kind === 'number' && Number.isInteger(index.value);
        if (!whole && index.kind !== 'text')
          throw new ExpressionError('in "[]" comes a whole number or a text', index.at);
        if (!this.take([']'])) throw new ExpressionError('a "]" is missing', this.peek().at);
        steps.push(index.value as Step);
      } else return { kind: 'path', name, steps, at };
      if (steps.length > DEEPEST) throw new ExpressionError('the path is too long', at);
    }
  }

  private deeper(token: Token, work: () => Node): Node {
    if (++this.depth > DEEPEST) throw new ExpressionError('the expression is nested too deeply', token.at);
    const node = work();
    this.depth--;
    return node;
  }

  private peek(): Token {
    return this.tokens[this.next] ?? this.end;
  }

  private take(texts: string[]): Token | undefined {
    const token = this.peek();
    if ((token.kind !== 'operator' && token.text !== 'contains') || token.kind === 'text') return undefined;
    if (!texts.includes(token.text)) return undefined;
    this.next++;
    return token;
  }

  private unexpected({ kind, text, at }: Token): ExpressionError {
    return new ExpressionError(kind === 'end' ? 'the expression is not complete' : `${text} is not expected here`, at);
  }
}

function visit(node: Node, look: (node: Node) => unknown): void {
  look(node);
  if (node.kind === 'unary') visit(node.of, look);
  if (node.kind === 'binary') {
    visit(node.left, look);
    visit(node.right, look);
  }
}

function evaluate(node: Node, lookUp: (name: string) => unknown): unknown {
  switch (node.kind) {
    case 'value':
      return node.value;
    case 'path':
      return node.steps.reduce<unknown>(stepInto, lookUp(node.name) ?? null);
    case 'unary': {
      const value = evaluate(node.of, lookUp);
      if (node.operator === '!') return !holds(value);
      return value === null ? null : -number(value, node);
    }
    case 'binary': {
      const left = evaluate(node.left, lookUp);
      if (node.operator === '&&') return holds(left) ? evaluate(node.right, lookUp) : left;
      if (node.operator === '||') return holds(left) ? left : evaluate(node.right, lookUp);
      return combine(node, left, evaluate(node.right, lookUp));
    }
  }
}

/** Only what a value holds itself; nothing of what it inherits. */
function stepInto(value: unknown, step: Step): unknown {
  if (value === null || value === undefined) return null;
  if ((typeof value === 'string' || Array.isArray(value)) && step === 'length') return value.length;
  if (typeof value !== 'object' || !Object.hasOwn(value, step)) return null;
  return (value as Record<Step, unknown>)[step] ?? null;
}

function combine(node: Extract<Node, { kind: 'binary' }>, left: unknown, right: unknown): unknown {
  const { operator } = node;
  if (operator === '==' || operator === '!=') return equal(left, right) === (operator === '==');
  if (operator === 'contains') return contains(left, right);
  const comparison = COMPARISONS.includes(operator);
  if (left === null || right === null) return comparison ? false : null;
  if (comparison || operator === '+') {
    if (typeof left === 'string' && typeof right === 'string') {
      if (operator === '+') return left + right;
      return compare(operator, left < right ? -1 : left > right ? 1 : 0);
    }
  }
  const [a, b] = [number(left, node), number(right, node)];
  if (comparison) return Number.isNaN(a) || Number.isNaN(b) ? false : compare(operator, a < b ? -1 : a > b ? 1 : 0);
  if (operator === '+') return a + b;
  if (operator === '-') return a - b;
  if (operator === '*') return a * b;
  return operator === '/' ? a / b : a % b;
}

function compare(operator: string, order: number): boolean {
  if (operator === '<') return order < 0;
  if (operator === '<=') return order <= 0;
  return operator === '>' ? order > 0 : order >= 0;
}

function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  return typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b);
}

/** A text in a text, or a value in a list. */
function contains(left: unknown, right: unknown): boolean {
  if (typeof left === 'string') return typeof right === 'string' && left.includes(right);
  return Array.isArray(left) && left.some((item) => equal(item, right));
}

function number(value: unknown, { operator, at }: { operator: string; at: number }): number {
  if (typeof value === 'number') return value;
  const kind =
    value === null
      ? 'null'
      : Array.isArray(value)
        ? 'a list'
        : typeof value === 'string'
          ? 'a text'
          : `${typeof value}`;
  throw new ExpressionError(`"${operator}" needs numbers, or two texts to compare; this is ${kind}`, at);
}
