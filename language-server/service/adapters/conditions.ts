/** Conditions under which a place in the code is reached, and what counts as a check of a variable before its use. */
import ts from 'typescript6';
import { neverReturns } from './endings.ts';
import { isFunction, strip } from './scopes.ts';

/** A condition on the way to a place: the expression and whether it held. */
export interface Condition {
  expression: ts.Expression;
  holds: boolean;
}

/**
 * Whether control can go on behind a statement.
 * @param all whether a switch without a default has a case for all there can be.
 */
export function completes(statement: ts.Statement, all: (node: ts.SwitchStatement) => boolean = () => false): boolean {
  const goesOn = (each: ts.Statement) => completes(each, all);
  if (ts.isReturnStatement(statement) || ts.isThrowStatement(statement)) return false;
  if (ts.isContinueStatement(statement) || ts.isBreakStatement(statement)) return false;
  if (ts.isBlock(statement)) return statement.statements.every(goesOn);
  if (ts.isIfStatement(statement))
    return statement.elseStatement === undefined || goesOn(statement.thenStatement) || goesOn(statement.elseStatement);
  if (ts.isTryStatement(statement)) {
    if (statement.finallyBlock && !goesOn(statement.finallyBlock)) return false;
    return goesOn(statement.tryBlock) || (statement.catchClause ? goesOn(statement.catchClause.block) : false);
  }
  if (ts.isSwitchStatement(statement)) {
    const { clauses } = statement.caseBlock;
    if (containsBreak(statement.caseBlock)) return true;
    if (!clauses.some(ts.isDefaultClause) && !all(statement)) return true;
    const last = clauses.at(-1);
    return last === undefined || last.statements.every(goesOn);
  }
  if (ts.isWhileStatement(statement) || ts.isDoStatement(statement))
    return statement.expression.kind !== ts.SyntaxKind.TrueKeyword || containsBreak(statement.statement);
  if (ts.isForStatement(statement)) return statement.condition !== undefined || containsBreak(statement.statement);
  if (ts.isLabeledStatement(statement)) return goesOn(statement.statement);
  if (ts.isExpressionStatement(statement)) {
    const expression = strip(statement.expression);
    return !ts.isCallExpression(expression) || !neverReturns(expression);
  }
  return true;
}

function containsBreak(node: ts.Node): boolean {
  let found = false;
  const visit = (each: ts.Node): void => {
    if (ts.isBreakStatement(each)) found = true;
    if (!found && !isFunction(each)) ts.forEachChild(each, visit);
  };
  visit(node);
  return found;
}

const mentioned = new WeakMap<ts.Node, Set<string>>();

function mentionsName(node: ts.Node | undefined, name: string): boolean {
  if (!node) return false;
  let names = mentioned.get(node);
  if (!names) {
    const found = new Set<string>();
    const visit = (each: ts.Node): void => {
      if (ts.isIdentifier(each)) found.add(each.text);
      ts.forEachChild(each, visit);
    };
    visit(node);
    mentioned.set(node, found);
    names = found;
  }
  return names.has(name);
}

/**
 * Whether a variable was looked at before a use of it: in a condition around the use, in an earlier `if` that leaves or
 * repairs it, or by an assertion. What the condition asks is not examined, so that no checked use is complained about.
 * @param tries an enclosing try with a catch counts as well.
 * @param counts which conditions that mention the variable count; all where it is left out.
 */
export function isGuarded(
  use: ts.Node,
  name: string,
  tries: boolean,
  counts: (condition: ts.Node) => boolean = () => true,
): boolean {
  const mentions = (node: ts.Node | undefined): boolean =>
    mentionsName(node, name) && node !== undefined && counts(node);
  for (let child = use, parent = use.parent; parent; child = parent, parent = parent.parent) {
    if (ts.isIfStatement(parent) && child !== parent.expression && mentions(parent.expression)) return true;
    if (ts.isConditionalExpression(parent) && child !== parent.condition && mentions(parent.condition)) return true;
    if (ts.isBinaryExpression(parent) && child === parent.right && isLogical(parent) && mentions(parent.left))
      return true;
    if (ts.isWhileStatement(parent) && child === parent.statement && mentions(parent.expression)) return true;
    if (ts.isForStatement(parent) && child === parent.statement && mentions(parent.condition)) return true;
    if (ts.isCaseClause(parent) && mentionsName(parent.parent.parent.expression, name)) return true;
    if (tries && ts.isTryStatement(parent) && child === parent.tryBlock && catches(parent)) return true;
    if (ts.isBlock(parent) || ts.isSourceFile(parent) || ts.isCaseOrDefaultClause(parent)) {
      for (const statement of parent.statements) {
        if (statement.pos >= child.pos) break;
        // Of a module's own statements only an `if` can be a check; there may be thousands of others.
        if ((!ts.isSourceFile(parent) || ts.isIfStatement(statement)) && isCheck(statement, name, mentions))
          return true;
      }
    }
  }
  return false;
}

/** Has a catch, or is not written to its end yet. */
function catches({ catchClause, finallyBlock }: ts.TryStatement): boolean {
  return catchClause !== undefined || finallyBlock === undefined || finallyBlock.end === finallyBlock.pos;
}

function isLogical({ operatorToken: { kind } }: ts.BinaryExpression): boolean {
  return (
    kind === ts.SyntaxKind.AmpersandAmpersandToken ||
    kind === ts.SyntaxKind.BarBarToken ||
    kind === ts.SyntaxKind.QuestionQuestionToken
  );
}

/** A statement behind which the variable has been checked. */
function isCheck(statement: ts.Statement, name: string, mentions: (node: ts.Node) => boolean): boolean {
  if (ts.isLabeledStatement(statement)) return isCheck(statement.statement, name, mentions);
  if (ts.isIfStatement(statement)) {
    if (!mentions(statement.expression)) {
      return statement.elseStatement !== undefined && ts.isIfStatement(statement.elseStatement)
        ? isCheck(statement.elseStatement, name, mentions)
        : false;
    }
    return (
      !completes(statement.thenStatement) ||
      (statement.elseStatement !== undefined && !completes(statement.elseStatement)) ||
      assigns(statement.thenStatement, name)
    );
  }
  if (ts.isSwitchStatement(statement)) return mentionsName(statement.expression, name);
  if (ts.isExpressionStatement(statement)) {
    const expression = strip(statement.expression);
    if (ts.isBinaryExpression(expression)) {
      const { kind } = expression.operatorToken;
      const target = strip(expression.left);
      const fills = kind === ts.SyntaxKind.QuestionQuestionEqualsToken || kind === ts.SyntaxKind.BarBarEqualsToken;
      return fills && ts.isIdentifier(target) && target.text === name;
    }
    // assert(result), requireResult(result): told by its name or that it is a statement of its own about the variable.
    return (
      ts.isCallExpression(expression) &&
      /assert|check|require|ensure|expect|validate|must|guard|invariant/i.test(expression.expression.getText()) &&
      expression.arguments.some((argument) => mentionsName(argument, name))
    );
  }
  return false;
}

function assigns(node: ts.Node, name: string): boolean {
  let found = false;
  const visit = (each: ts.Node): void => {
    if (
      ts.isBinaryExpression(each) &&
      each.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
      ts.isIdentifier(each.left) &&
      each.left.text === name
    )
      found = true;
    if (!found) ts.forEachChild(each, visit);
  };
  visit(node);
  return found;
}

/** One part of a condition that cannot be split, and whether it is asserted or denied where the condition held. */
export interface Atom {
  expression: ts.Expression;
  holds: boolean;
}

/** The parts of a condition that can have made it hold (or fail). `!x`, `x === false` and the like turn a part round. */
export function atomsOf({ expression, holds }: Condition): Atom[] {
  const node = strip(expression);
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return atomsOf({ expression: node.operand, holds: !holds });
  if (ts.isBinaryExpression(node)) {
    const { kind } = node.operatorToken;
    if (kind === ts.SyntaxKind.AmpersandAmpersandToken || kind === ts.SyntaxKind.BarBarToken)
      return [...atomsOf({ expression: node.left, holds }), ...atomsOf({ expression: node.right, holds })];
    const equal = kind === ts.SyntaxKind.EqualsEqualsEqualsToken || kind === ts.SyntaxKind.EqualsEqualsToken;
    const unequal =
      kind === ts.SyntaxKind.ExclamationEqualsEqualsToken || kind === ts.SyntaxKind.ExclamationEqualsToken;
    if (equal || unequal) {
      const [value, other] = isNothing(node.right) ? [node.right, node.left] : [node.left, node.right];
      if (isNothing(value)) return atomsOf({ expression: other, holds: holds !== equal });
      if (strip(value).kind === ts.SyntaxKind.TrueKeyword)
        return atomsOf({ expression: other, holds: holds === equal });
      if (strip(other).kind === ts.SyntaxKind.TrueKeyword)
        return atomsOf({ expression: value, holds: holds === equal });
      if (unequal) return [{ expression: node, holds: !holds }];
    }
  }
  return [{ expression: node, holds }];
}

/** A value that says "no": 0, false, null, undefined, an empty text, 'ok' and the like. */
function isNothing(expression: ts.Expression): boolean {
  const node = strip(expression);
  if (node.kind === ts.SyntaxKind.FalseKeyword || node.kind === ts.SyntaxKind.NullKeyword) return true;
  if (ts.isIdentifier(node)) return node.text === 'undefined';
  if (ts.isNumericLiteral(node)) return Number(node.text) === 0;
  return ts.isStringLiteralLike(node) && ['', '0', 'ok', 'none', 'stop', 'success'].includes(node.text);
}

/**
 * Conditions under which a node of a function's body is reached, innermost first. Of earlier `if`s that leave, only the
 * one just before counts, and only where nothing else decides: what is further up rarely is the reason.
 */
export function conditionsOf(node: ts.Node, end: ts.Node): Condition[] {
  const conditions: Condition[] = [];
  for (let child = node, parent = node.parent; parent && child !== end; child = parent, parent = parent.parent) {
    if (ts.isIfStatement(parent) && child !== parent.expression)
      conditions.push({ expression: parent.expression, holds: child === parent.thenStatement });
    else if (ts.isConditionalExpression(parent) && child !== parent.condition)
      conditions.push({ expression: parent.condition, holds: child === parent.whenTrue });
    else if (ts.isBlock(parent) && conditions.length === 0) {
      const before = parent.statements[parent.statements.indexOf(child as ts.Statement) - 1];
      if (before && ts.isIfStatement(before) && !completes(before.thenStatement) && !before.elseStatement)
        conditions.push({ expression: before.expression, holds: false });
    }
  }
  return conditions;
}

/** Return statements of a function's body, not of functions within. */
export function returnsOf(body: ts.Node): ts.ReturnStatement[] {
  const found: ts.ReturnStatement[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isReturnStatement(node)) found.push(node);
    if (!isFunction(node)) ts.forEachChild(node, visit);
  };
  ts.forEachChild(body, visit);
  return found;
}
