/** Values of operators, and where they make a number doubtful. */
import ts from 'typescript6';
import { isGuarded } from './conditions.ts';
import { sourceOfEnd } from './contract-values.ts';
import type { Evaluator } from './evaluate.ts';
import { strip } from './scopes.ts';
import { type Doubt, either, FROM, type Frame, isNonZero, KIND, leastOf, of, type Value, withFrom } from './values.ts';
import { countedName, shortened } from './wording.ts';

const PLANNERS = FROM.planner | FROM.plannerError | FROM.plannerRan;

export function binary(evaluator: Evaluator, node: ts.BinaryExpression, frame: Frame): Value {
  const { kind } = node.operatorToken;
  if (kind === ts.SyntaxKind.EqualsToken) return evaluator.value(node.right, frame);
  if (kind === ts.SyntaxKind.CommaToken) return evaluator.value(node.right, frame);
  const left = evaluator.value(node.left, frame);
  const right = evaluator.value(node.right, frame);
  const from = left.from | right.from;
  const empty = KIND.undefined | KIND.null;
  switch (kind) {
    case ts.SyntaxKind.AmpersandAmpersandToken: {
      if (left.literal === false || (right.literal === false && left.kinds === KIND.boolean))
        return of(KIND.boolean, from & ~FROM.key, { literal: false });
      // With a simulator's word beside it, the planner's own alone does not decide.
      const independent = [left, right].some((each) => each.from & FROM.record && (each.from & PLANNERS) === 0);
      const joined = either(right, {
        ...left,
        kinds: left.kinds & ~(KIND.object | KIND.array | KIND.function),
        object: undefined,
      });
      const only =
        left.kinds === KIND.boolean
          ? { ...right, kinds: right.kinds | KIND.boolean, literal: undefined, literals: undefined }
          : joined;
      // What is left of it where it was asked for alone is its being there.
      const kept = from & ~(left.from & ~right.from & FROM.key);
      const doubt = right.kinds === KIND.number && left.kinds !== KIND.number ? unmet(node, left) : only.doubt;
      return { ...only, doubt, from: independent ? kept & ~PLANNERS : kept };
    }
    case ts.SyntaxKind.BarBarToken: {
      if (left.literal === true || (right.literal === true && left.kinds === KIND.boolean))
        return of(KIND.boolean, from & ~FROM.key, { literal: true });
      const kept = left.kinds & ~empty;
      if (kept === 0) return withFrom(right, from);
      return { ...either({ ...left, kinds: kept, nonZero: true, doubt: undefined, missing: undefined }, right), from };
    }
    case ts.SyntaxKind.QuestionQuestionToken: {
      const kept = left.kinds & ~empty;
      if (kept === 0) return withFrom(right, from);
      const doubt = left.doubt?.what === 'undefined' ? undefined : left.doubt;
      return { ...either({ ...left, kinds: kept, doubt, missing: undefined }, right), from };
    }
    case ts.SyntaxKind.PlusToken: {
      if ((left.kinds | right.kinds) === KIND.number) return arithmetic(evaluator, node, left, right);
      const text = left.kinds === KIND.string || right.kinds === KIND.string;
      const literal =
        left.literal !== undefined && right.literal !== undefined && text
          ? `${left.literal}${right.literal}`
          : undefined;
      const file = `${left.literal ?? left.file ?? '*'}${right.literal ?? right.file ?? '*'}`;
      // No number is a path, or says anything of the planner.
      const kept = [left, right].some((each) => each.kinds !== KIND.number && each.from & FROM.record)
        ? 0
        : FROM.record;
      return of(text ? KIND.string : KIND.any, text ? from & ~kept : from, {
        literal,
        file,
        ...(text ? {} : bounds(kind, left, right)),
      });
    }
    case ts.SyntaxKind.MinusToken:
    case ts.SyntaxKind.AsteriskToken:
    case ts.SyntaxKind.AsteriskAsteriskToken:
    case ts.SyntaxKind.SlashToken:
    case ts.SyntaxKind.PercentToken:
      return arithmetic(evaluator, node, left, right);
    case ts.SyntaxKind.EqualsEqualsEqualsToken:
    case ts.SyntaxKind.EqualsEqualsToken:
    case ts.SyntaxKind.ExclamationEqualsEqualsToken:
    case ts.SyntaxKind.ExclamationEqualsToken:
      for (const [one, other] of [
        [left, right],
        [right, left],
      ])
        if (one.from & FROM.listed && typeof other.literal === 'string') evaluator.hints.push(other.literal);
      return of(KIND.boolean, (from & ~FROM.key) | sourceOfEnd(left, right.literal) | sourceOfEnd(right, left.literal));
    case ts.SyntaxKind.LessThanToken:
    case ts.SyntaxKind.GreaterThanToken:
    case ts.SyntaxKind.LessThanEqualsToken:
    case ts.SyntaxKind.GreaterThanEqualsToken:
    case ts.SyntaxKind.InKeyword:
    case ts.SyntaxKind.InstanceOfKeyword:
      return of(KIND.boolean, from & ~FROM.key);
    case ts.SyntaxKind.AmpersandToken:
    case ts.SyntaxKind.BarToken:
    case ts.SyntaxKind.CaretToken:
    case ts.SyntaxKind.LessThanLessThanToken:
    case ts.SyntaxKind.GreaterThanGreaterThanToken:
    case ts.SyntaxKind.GreaterThanGreaterThanGreaterThanToken:
      return of(KIND.number, from);
  }
  return of(KIND.any, from);
}

function arithmetic(evaluator: Evaluator, node: ts.BinaryExpression, left: Value, right: Value): Value {
  let doubt = left.doubt ?? right.doubt;
  if (doubt) doubt = asNumber(doubt);
  const divides = [ts.SyntaxKind.SlashToken, ts.SyntaxKind.PercentToken].includes(node.operatorToken.kind);
  if (!doubt && divides && (right.literal === undefined || right.literal === 0)) {
    const divisor = strip(node.right);
    const counts =
      right.literal === 0 ||
      right.from & FROM.record ||
      /\.(length|size)$/.test(divisor.getText()) ||
      isCount(evaluator, divisor);
    if (counts && !isNonZero(right) && !isGuarded(node, countedName(divisor), false) && !isTextGuarded(node, divisor))
      doubt = { what: 'NaN', node, why: `${shortened(divisor.getText())} may be 0, and 0 / 0 is NaN` };
  }
  const from = left.from | right.from | mixing(left, right);
  return of(KIND.number, from, { doubt, ...bounds(node.operatorToken.kind, left, right) });
}

/** `Number(m[2])` where `m[2]` was compared before. */
function isTextGuarded(node: ts.Node, divisor: ts.Expression): boolean {
  if (!ts.isCallExpression(divisor) || !/^(Number|parseFloat|parseInt)$/.test(divisor.expression.getText()))
    return false;
  const argument = divisor.arguments[0] && strip(divisor.arguments[0]);
  if (!argument) return false;
  const text = argument.getText();
  return isGuarded(node, countedName(argument), false, (condition) => condition.getText().includes(text));
}

function mixing(left: Value, right: Value): number {
  const has = (one: Value, other: Value) => (one.from & FROM.init) !== 0 && (other.from & FROM.attempt) !== 0;
  return has(left, right) || has(right, left) ? FROM.mixed : 0;
}

/** `ok && 1` is what `ok` is where that is not true. */
function unmet({ left }: ts.BinaryExpression, value: Value): Doubt {
  const text = shortened(left.getText());
  const isBoolean = value.kinds === KIND.boolean;
  const why = `it is ${isBoolean ? 'false' : `${text} itself`} where ${text} does not hold; write \`${text} ? … : 0\``;
  return { what: 'no number', node: left, why, becomes: isBoolean ? 0 : undefined };
}

/** What is left of a doubt where a number is made of the value: false becomes 0. */
function asNumber(doubt: Doubt): Doubt | undefined {
  if (doubt.what === 'no number') return doubt.becomes === 0 ? undefined : { ...doubt, what: 'NaN' };
  return doubt.what === 'undefined' ? { ...doubt, what: 'NaN' } : doubt;
}

/** What is known of a sum's or product's size. A count raised by a number is not zero. */
function bounds(operator: ts.SyntaxKind, left: Value, right: Value): Partial<Value> {
  const [one, other] = [leastOf(left), leastOf(right)];
  switch (operator) {
    case ts.SyntaxKind.PlusToken:
      if (one !== undefined && other !== undefined) return { least: one + other };
      return { nonZero: (one ?? 0) > 0 || (other ?? 0) > 0 || undefined };
    case ts.SyntaxKind.AsteriskToken:
      return {
        nonZero: (isNonZero(left) && isNonZero(right)) || undefined,
        least: (one ?? -1) >= 0 && (other ?? -1) >= 0 ? (one as number) * (other as number) : undefined,
      };
  }
  return {};
}

/** A constant that is some list's length. */
function isCount(evaluator: Evaluator, node: ts.Expression): boolean {
  if (!ts.isIdentifier(node)) return false;
  const declaration = evaluator.scopes.resolve(node);
  return (
    declaration !== undefined &&
    ts.isVariableDeclaration(declaration) &&
    /\.(length|size)$/.test(declaration.initializer?.getText() ?? '')
  );
}

export function prefix(evaluator: Evaluator, node: ts.PrefixUnaryExpression, frame: Frame): Value {
  const value = evaluator.value(node.operand, frame);
  switch (node.operator) {
    case ts.SyntaxKind.ExclamationToken:
      return of(KIND.boolean, value.from & ~FROM.key, value.literal === undefined ? {} : { literal: !value.literal });
    case ts.SyntaxKind.PlusToken:
      return toNumber(value, node);
    case ts.SyntaxKind.MinusToken:
      return of(KIND.number, value.from, {
        doubt: value.doubt,
        ...(typeof value.literal === 'number' ? { literal: -value.literal } : {}),
      });
  }
  return of(KIND.number, value.from);
}

/** What `Number(value)` is: NaN where the value is no number's text. */
export function toNumber(value: Value, node: ts.Expression): Value {
  if (typeof value.literal === 'string') {
    const number = Number(value.literal);
    if (Number.isFinite(number)) return of(KIND.number, value.from, { literal: number });
  }
  if (typeof value.literal === 'number') return of(KIND.number, value.from, { literal: value.literal });
  const safe = (value.kinds & ~(KIND.number | KIND.boolean | KIND.null)) === 0 || value.pattern === 'number';
  const doubt =
    value.doubt ?? (safe ? undefined : { what: 'NaN' as const, node, why: `it is NaN where the text is not a number` });
  return of(KIND.number, value.from, { doubt: doubt && asNumber(doubt) });
}
