/** Where the reward comes from, and whether it is a number on every path. */
import ts from 'typescript6';
import type { Analysis } from '../analysis.ts';
import { type Case, casesOf, type Reason } from '../cases.ts';
import { completes } from '../conditions.ts';
import { exhaustive } from '../endings.ts';
import type { Evaluator } from '../evaluate.ts';
import { enclosingFunction, isFunction, strip } from '../scopes.ts';
import { FROM, isSurely, KIND, type Property, placeOf } from '../values.ts';

const PLANNERS = FROM.planner | FROM.plannerError | FROM.plannerRan;

/** A reward that is decided by what the planner says of itself. */
export function rewardSource({ outcome, evaluator, report }: Analysis): void {
  for (const each of outcome?.cases ?? []) {
    const property = each.value.object?.properties.get('reward');
    if (!property) continue;
    const from = sourcesOf(evaluator, each, property);
    if ((from & PLANNERS) === 0) continue;
    report(
      'reward-from-planner',
      placeOf(property),
      from & FROM.planner
        ? "the reward comes from the planner's own word (its responses, finish, a transcript); take the simulator's check"
        : "that the planner's code ran without an error is no success; take the simulator's check",
    );
  }
}

/** Where what the reward may be comes from, and the conditions that decide for a constant above 0. */
function sourcesOf(evaluator: Evaluator, outer: Case, property: Property): number {
  const { expression, frame = outer.frame } = property;
  if (!expression) return property.value().from;
  let from = 0;
  for (const each of casesOf(evaluator, expression, frame)) {
    from |= each.value.from;
    if (typeof each.value.literal !== 'number' || each.value.literal <= 0) continue;
    // What stands around the whole outcome only decides where nothing within does.
    from |= decided(evaluator, each.reasons) ?? decided(evaluator, outer.reasons) ?? 0;
  }
  return from;
}

/**
 * Planner's sources of conditions that hold together; none where a record that is not the planner's decides as well.
 * Undefined where they tell of neither.
 */
function decided(evaluator: Evaluator, reasons: readonly Reason[]): number | undefined {
  const values = reasons.map((reason) => evaluator.value(reason.expression, reason.frame).from);
  if (values.some((from) => from & FROM.record && (from & PLANNERS) === 0 && (from & FROM.listed) === 0)) return 0;
  const from = values.reduce((all, each) => all | (each & PLANNERS), 0);
  return from === 0 ? undefined : from;
}

const EMPTY = KIND.undefined | KIND.null;

/** A reward that is NaN, infinite or undefined on a path. */
export function rewardIsNumber({ outcome, evaluator, report, syntax }: Analysis): void {
  for (const each of outcome?.cases ?? []) {
    const property = each.value.object?.properties.get('reward');
    if (!property || syntax.broken(property.node)) continue;
    const value = property.value();
    const place = placeOf(property);
    if (isSurely(value, KIND.undefined)) {
      report('reward-not-a-number', place, 'the reward is undefined here');
      continue;
    }
    if (value.doubt) {
      const what = value.doubt.what === 'infinite' ? 'infinite' : value.doubt.what;
      report('reward-not-a-number', place, `the reward can be ${what}: ${value.doubt.why}`);
      continue;
    }
    const expression = property.expression && strip(property.expression);
    const declaration = expression && ts.isIdentifier(expression) ? evaluator.scopes.resolve(expression) : undefined;
    const isUnset = declaration && ts.isVariableDeclaration(declaration) && !declaration.initializer;
    if (expression && !isUnset && value.kinds & EMPTY) {
      const empty = casesOf(evaluator, expression, property.frame ?? each.frame).find((one) =>
        isSurely(one.value, EMPTY),
      );
      if (empty || (value.kinds & KIND.any) === 0) {
        const what = value.kinds & KIND.null ? 'null' : 'undefined';
        report('reward-not-a-number', place, `the reward can be ${what}; write 0 for what is no success`);
        continue;
      }
    }
    if (!expression || !ts.isIdentifier(expression)) continue;
    const all = exhaustive(evaluator, each.frame);
    if (declaration && ts.isVariableDeclaration(declaration) && neverSurelySet(declaration, expression, all))
      report('reward-not-a-number', place, `the reward is undefined on a path that does not set ${expression.text}`);
  }
}

/** A variable declared without a value that a use of it can find unset. */
function neverSurelySet(declaration: ts.VariableDeclaration, use: ts.Identifier, all: All): boolean {
  if (declaration.initializer || !ts.isIdentifier(declaration.name)) return false;
  const list = declaration.parent;
  const statement = list.parent;
  if (!ts.isVariableStatement(statement) || !ts.isBlock(statement.parent)) return false;
  if (enclosingFunction(use) !== enclosingFunction(declaration)) return false;
  const { statements } = statement.parent;
  const name = declaration.name.text;
  const after = statements.slice(statements.indexOf(statement) + 1).filter((each) => each.end <= use.pos);
  // A use within a branch may follow an assignment in that branch.
  const around = statements.find((each) => each.pos <= use.pos && use.end <= each.end);
  if (around && !ts.isReturnStatement(around)) return false;
  return !after.some((each) => sets(each, name, all));
}

/** Whether a switch leaves nothing out. */
type All = (node: ts.SwitchStatement) => boolean;

/** Whether a statement sets a variable on every path that goes on behind it. */
function sets(statement: ts.Statement, name: string, all: All): boolean {
  if (!completes(statement, all)) return true;
  if (ts.isExpressionStatement(statement)) return assigns(statement.expression, name);
  if (ts.isBlock(statement)) return statement.statements.some((each) => sets(each, name, all));
  if (ts.isIfStatement(statement)) {
    const { thenStatement, elseStatement } = statement;
    return sets(thenStatement, name, all) && elseStatement !== undefined && sets(elseStatement, name, all);
  }
  if (ts.isTryStatement(statement)) {
    if (statement.finallyBlock && sets(statement.finallyBlock, name, all)) return true;
    return (
      sets(statement.tryBlock, name, all) && (!statement.catchClause || sets(statement.catchClause.block, name, all))
    );
  }
  if (ts.isSwitchStatement(statement)) {
    const { clauses } = statement.caseBlock;
    const filled = clauses.filter((clause, i) => clause.statements.length > 0 || i === clauses.length - 1);
    return (
      (clauses.some(ts.isDefaultClause) || all(statement)) &&
      filled.every((clause) => clause.statements.some((each) => sets(each, name, all)))
    );
  }
  // How often a loop runs is not followed; nothing is said about what it sets.
  return isLoop(statement) && mentionsAssignment(statement, name);
}

function isLoop(node: ts.Node): boolean {
  return (
    ts.isForStatement(node) ||
    ts.isForOfStatement(node) ||
    ts.isForInStatement(node) ||
    ts.isWhileStatement(node) ||
    ts.isDoStatement(node)
  );
}

function assigns(node: ts.Expression, name: string): boolean {
  const expression = strip(node);
  if (!ts.isBinaryExpression(expression) || expression.operatorToken.kind !== ts.SyntaxKind.EqualsToken) return false;
  if (ts.isIdentifier(expression.left)) return expression.left.text === name || assigns(expression.right, name);
  // Destructuring: taken as set.
  return ts.isObjectLiteralExpression(expression.left) || ts.isArrayLiteralExpression(expression.left);
}

function mentionsAssignment(node: ts.Node, name: string): boolean {
  let found = false;
  const visit = (each: ts.Node): void => {
    if (ts.isBinaryExpression(each) && assigns(each, name)) found = true;
    if (!found && !isFunction(each)) ts.forEachChild(each, visit);
  };
  visit(node);
  return found;
}
