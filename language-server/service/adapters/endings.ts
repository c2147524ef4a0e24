/** Where control does not come back: calls that never return, and switches that leave nothing out. */
import ts from 'typescript6';
import { completes, returnsOf } from './conditions.ts';
import type { Evaluator } from './evaluate.ts';
import { isFunction, strip } from './scopes.ts';
import { type Frame, literalsOf } from './values.ts';

/** Names of functions from elsewhere that throw. */
const THROWS = /(^|\.)(fail|failed|unreachable|assertNever|never|panic|die|abort|bail|raise|throw\w*|exhaustive\w*)$/i;

const functions = new WeakMap<ts.SourceFile, Map<string, ts.Node[]>>();
const deciding = new Set<ts.Node>();

/** Whether a call surely does not return: its type says never, or its function of the file always throws. */
export function neverReturns(call: ts.CallExpression): boolean {
  const callee = strip(call.expression);
  const name = callee.getText();
  if (/^process\.(exit|abort)$/.test(name)) return true;
  const known = ts.isIdentifier(callee) ? functionsOf(call.getSourceFile()).get(name) : undefined;
  if (!known) return THROWS.test(name);
  return known.every(throwsAlways);
}

function throwsAlways(node: ts.Node): boolean {
  if (ts.isVariableDeclaration(node)) {
    if (node.type && ts.isFunctionTypeNode(node.type)) return isNever(node.type.type);
    const made = node.initializer && strip(node.initializer);
    return made !== undefined && isFunction(made) && throwsAlways(made);
  }
  if (!isFunction(node)) return false;
  if (node.type) return isNever(node.type);
  const { body } = node;
  const waits = node.modifiers?.some((each) => each.kind === ts.SyntaxKind.AsyncKeyword);
  if (!body || waits || !ts.isBlock(body) || deciding.has(node)) return false;
  deciding.add(node);
  try {
    return returnsOf(body).length === 0 && !completes(body);
  } finally {
    deciding.delete(node);
  }
}

function isNever(type: ts.TypeNode): boolean {
  return type.kind === ts.SyntaxKind.NeverKeyword;
}

/** Functions of a file by name, wherever they stand in it. */
function functionsOf(source: ts.SourceFile): Map<string, ts.Node[]> {
  let found = functions.get(source);
  if (!found) {
    const all = new Map<string, ts.Node[]>();
    const visit = (node: ts.Node): void => {
      const named = ts.isFunctionDeclaration(node) || ts.isVariableDeclaration(node) || ts.isParameter(node);
      if (named && node.name && ts.isIdentifier(node.name))
        all.set(node.name.text, [...(all.get(node.name.text) ?? []), node]);
      ts.forEachChild(node, visit);
    };
    visit(source);
    functions.set(source, all);
    found = all;
  }
  return found;
}

/** Tells of a switch without a default whether its cases are all there can be; what cannot be told counts as all. */
export function exhaustive(evaluator: Evaluator, frame: Frame): (node: ts.SwitchStatement) => boolean {
  return ({ expression, caseBlock }) => {
    const value = evaluator.value(expression, frame);
    const cases = caseBlock.clauses.flatMap((each) => (ts.isCaseClause(each) ? [each.expression] : []));
    const literals = literalsOf(value);
    if (literals) {
      const covered = new Set(cases.map((each) => evaluator.value(each, frame).literal));
      return literals.every((each) => covered.has(each));
    }
    const type = value.written;
    if (type && ts.isTypeReferenceNode(type) && ts.isIdentifier(type.typeName)) {
      const declared = evaluator.scopes.resolve(type.typeName);
      if (declared && ts.isEnumDeclaration(declared)) {
        const covered = new Set(cases.map((each) => strip(each).getText()));
        return declared.members.every((each) => covered.has(`${declared.name.text}.${each.name.getText()}`));
      }
      // A type from another file.
      return declared !== undefined;
    }
    return isForeign(evaluator, expression);
  };
}

/** What a function from another file gave: its type is not known here. */
function isForeign(evaluator: Evaluator, expression: ts.Expression, depth = 0): boolean {
  const node = strip(expression);
  if (ts.isAwaitExpression(node)) return isForeign(evaluator, node.expression, depth);
  if (ts.isPropertyAccessExpression(node)) return isForeign(evaluator, node.expression, depth);
  if (ts.isIdentifier(node)) {
    const declaration = evaluator.scopes.resolve(node);
    if (!declaration || !ts.isVariableDeclaration(declaration) || !declaration.initializer || depth > 4) return false;
    return isForeign(evaluator, declaration.initializer, depth + 1);
  }
  if (!ts.isCallExpression(node)) return false;
  let callee = strip(node.expression);
  while (ts.isPropertyAccessExpression(callee)) callee = strip(callee.expression);
  const declaration = ts.isIdentifier(callee) ? evaluator.scopes.resolve(callee) : undefined;
  return (
    declaration !== undefined &&
    (ts.isImportSpecifier(declaration) || ts.isImportClause(declaration) || ts.isNamespaceImport(declaration))
  );
}
