/** Places that look at a value itself, where a promise, being an object, is never what is meant. */
import ts from 'typescript6';
import type { Evaluator } from './evaluate.ts';
import { strip } from './scopes.ts';
import { type Frame, isSurely, KIND } from './values.ts';

const CONVERTS = /^(JSON\.parse|Number|String|Boolean|parseFloat|parseInt|Number\.parse(Float|Int)|isNaN|isFinite)$/;
const ASKS = /^(some|every|filter|find|findLast|findIndex)$/;
const LOGICAL = [ts.SyntaxKind.AmpersandAmpersandToken, ts.SyntaxKind.BarBarToken];
/** Arithmetic and comparison: the operators from `<` to `**`, but not `in` and `instanceof`. */
const COMPARES = [
  ts.SyntaxKind.LessThanToken,
  ts.SyntaxKind.GreaterThanToken,
  ts.SyntaxKind.LessThanEqualsToken,
  ts.SyntaxKind.GreaterThanEqualsToken,
  ts.SyntaxKind.PlusToken,
  ts.SyntaxKind.MinusToken,
  ts.SyntaxKind.AsteriskToken,
  ts.SyntaxKind.SlashToken,
  ts.SyntaxKind.PercentToken,
];
const EQUALS = [
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
];

/** Expressions whose value a node looks at: conditions, operands, what is taken apart or made a text. */
export function lookedAt(node: ts.Node): ts.Expression[] {
  if (ts.isPropertyAccessExpression(node))
    return /^(then|catch|finally)$/.test(node.name.text) ? [] : [node.expression];
  if (ts.isElementAccessExpression(node)) return [node.expression];
  if (ts.isVariableDeclaration(node)) return node.initializer && !ts.isIdentifier(node.name) ? [node.initializer] : [];
  if (ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node)) return [node.expression];
  if (ts.isConditionalExpression(node)) return [node.condition];
  if (ts.isPrefixUnaryExpression(node)) return [node.operand];
  if (ts.isForOfStatement(node)) return node.awaitModifier ? [] : [node.expression];
  if (ts.isTemplateSpan(node)) return [node.expression];
  if (ts.isBinaryExpression(node)) {
    const { kind } = node.operatorToken;
    if (LOGICAL.includes(kind)) return [node.left, ...(isCondition(node) ? [node.right] : [])];
    if (COMPARES.includes(kind)) return [node.left, node.right];
    if (EQUALS.includes(kind) && ![node.left, node.right].some(isEmpty)) return [node.left, node.right];
  }
  if (ts.isCallExpression(node) && CONVERTS.test(node.expression.getText())) return node.arguments.slice(0, 1);
  return [];
}

/** Whether a part of a condition is only asked whether it holds. */
function isCondition(node: ts.Expression): boolean {
  const { parent } = node;
  if (ts.isParenthesizedExpression(parent)) return isCondition(parent);
  if (ts.isIfStatement(parent)) return parent.expression === node;
  if (ts.isConditionalExpression(parent)) return parent.condition === node;
  if (ts.isPrefixUnaryExpression(parent)) return parent.operator === ts.SyntaxKind.ExclamationToken;
  return ts.isBinaryExpression(parent) && LOGICAL.includes(parent.operatorToken.kind) && isCondition(parent);
}

function isEmpty(node: ts.Expression): boolean {
  return ['undefined', 'null'].includes(strip(node).getText());
}

/** The callback of `some`, `every` and the like that gives a promise, or looks at one: it always holds. */
export function askedOfPromise(evaluator: Evaluator, node: ts.Node, frame: Frame): ts.Expression | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  const [callback] = node.arguments;
  if (!callback || !ASKS.test(node.expression.name.text)) return undefined;
  const { fn, external } = evaluator.value(callback, frame);
  const element = evaluator.elementOf(evaluator.value(node.expression.expression, frame));
  if (external === 'global.Boolean' && isSurely(element, KIND.promise)) return callback;
  if (!fn) return undefined;
  return isSurely(evaluator.invoke(fn, [element], callback), KIND.promise) ? callback : undefined;
}
