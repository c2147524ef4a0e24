/** The cases of an expression: what it may be, each with the conditions under which it is that. */
import ts from 'typescript6';
import { type Condition, conditionsOf, returnsOf } from './conditions.ts';
import type { Evaluator } from './evaluate.ts';
import { enclosingFunction, strip } from './scopes.ts';
import type { Frame, Value } from './values.ts';

/** A condition with the frame in which its names have values. */
export interface Reason extends Condition {
  frame: Frame;
}

export interface Case {
  expression: ts.Expression;
  frame: Frame;
  value: Value;
  reasons: Reason[];
  /** Statements that returned or assigned it, outermost first. */
  sites: { node: ts.Node; frame: Frame }[];
}

const DEEPEST = 8;

/** Cases of what a function returns. */
export function casesOfFunction(evaluator: Evaluator, fn: NonNullable<Value['fn']>, frame: Frame): Case[] {
  return returned(evaluator, fn, frame, [], [], 0);
}

/** Cases of an expression. */
export function casesOf(evaluator: Evaluator, expression: ts.Expression, frame: Frame): Case[] {
  return expand(evaluator, expression, frame, [], [], 0);
}

function returned(
  evaluator: Evaluator,
  fn: NonNullable<Value['fn']>,
  frame: Frame,
  reasons: Reason[],
  sites: Case['sites'],
  depth: number,
): Case[] {
  const { body } = fn.node;
  if (!body) return [];
  if (!ts.isBlock(body)) return expand(evaluator, body, frame, reasons, sites, depth);
  return returnsOf(body).flatMap((each) => {
    if (!each.expression) return [];
    const own = conditionsOf(each, fn.node).map((condition) => ({ ...condition, frame }));
    return expand(evaluator, each.expression, frame, [...own, ...reasons], [...sites, { node: each, frame }], depth);
  });
}

function expand(
  evaluator: Evaluator,
  written: ts.Expression,
  frame: Frame,
  reasons: Reason[],
  sites: Case['sites'],
  depth: number,
): Case[] {
  evaluator.tick();
  const expression = ts.isAwaitExpression(strip(written))
    ? strip((strip(written) as ts.AwaitExpression).expression)
    : strip(written);
  const leaf = (): Case[] => [{ expression, frame, value: evaluator.value(written, frame), reasons, sites }];
  if (depth > DEEPEST) return leaf();
  const inner = (each: ts.Expression, more: Reason[], site?: ts.Node) =>
    expand(evaluator, each, frame, [...more, ...reasons], site ? [...sites, { node: site, frame }] : sites, depth + 1);
  if (ts.isConditionalExpression(expression))
    return [
      ...inner(expression.whenTrue, [{ expression: expression.condition, holds: true, frame }]),
      ...inner(expression.whenFalse, [{ expression: expression.condition, holds: false, frame }]),
    ];
  if (ts.isBinaryExpression(expression)) {
    const { kind } = expression.operatorToken;
    if (kind === ts.SyntaxKind.QuestionQuestionToken)
      return [...inner(expression.left, []), ...inner(expression.right, [])];
  }
  if (ts.isCallExpression(expression)) {
    const target = evaluator.value(expression.expression, frame);
    if (target.fn && !evaluator.syntax.broken(target.fn.node)) {
      const called = evaluator.frame(target.fn, evaluator.args(expression, frame));
      if (called) return returned(evaluator, target.fn, called, reasons, sites, depth + 1);
    }
    return leaf();
  }
  if (ts.isIdentifier(expression)) {
    const declaration = evaluator.scopes.resolve(expression);
    if (!declaration || !ts.isVariableDeclaration(declaration)) return leaf();
    const writes = evaluator.scopes.writes(declaration);
    const home = enclosingFunction(declaration);
    if (writes.length === 0) return declaration.initializer ? inner(declaration.initializer, []) : leaf();
    if (writes.some((write) => write.kind !== 'assign' || enclosingFunction(write.node) !== home)) return leaf();
    return [
      ...(declaration.initializer ? inner(declaration.initializer, []) : []),
      ...writes.flatMap((write) => {
        const conditions = conditionsOf(write.node, home).map((condition) => ({ ...condition, frame }));
        return inner(write.values[0], conditions, write.node);
      }),
    ];
  }
  return leaf();
}
