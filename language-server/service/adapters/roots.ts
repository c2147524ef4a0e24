/** Square roots of what may be below 0. */
import ts from 'typescript6';
import { isGuarded } from './conditions.ts';
import type { Evaluator } from './evaluate.ts';
import { strip } from './scopes.ts';
import type { Value } from './values.ts';
import { shortened } from './wording.ts';

/** `Math.sqrt(1 - d * d)` of a record's number: NaN below 0. Nothing is said where a function may have bounded it. */
export function rootDoubt(evaluator: Evaluator, name: string, node: ts.CallExpression): Value['doubt'] {
  const argument = node.arguments[0] && strip(node.arguments[0]);
  if (name !== 'Math.sqrt' || !argument || !ts.isBinaryExpression(argument)) return undefined;
  if (argument.operatorToken.kind !== ts.SyntaxKind.MinusToken) return undefined;
  const names: string[] = [];
  let bounded = false;
  const visit = (each: ts.Node, depth: number): void => {
    if (
      ts.isCallExpression(each) &&
      !/\.(readJson|readText|parse|parseFloat)$|^(Number|parseFloat)$/.test(each.expression.getText())
    )
      bounded = true;
    if (ts.isPropertyAccessExpression(each)) {
      names.push(each.name.text);
      if (ts.isIdentifier(strip(each.expression))) return;
    }
    if (ts.isIdentifier(each)) {
      names.push(each.text);
      const declaration = evaluator.scopes.resolve(each);
      if (declaration && ts.isParameter(declaration)) bounded ||= depth > 0 || declaration.name !== each;
      if (depth < 4 && declaration && ts.isVariableDeclaration(declaration) && declaration.initializer)
        visit(declaration.initializer, depth + 1);
    }
    ts.forEachChild(each, (child) => visit(child, depth));
  };
  visit(argument.right, 0);
  if (bounded || names.length === 0 || names.some((each) => isGuarded(node, each, false))) return undefined;
  return { what: 'NaN', node, why: `${shortened(argument.getText())} may be below 0, and has no root` };
}
