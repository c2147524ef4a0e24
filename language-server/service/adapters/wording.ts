/** How messages and checks name an expression. */
import ts from 'typescript6';
import { strip } from './scopes.ts';

/** The name a check of an expression would mention: `seams` for `read.seams.length`, `end` for `read.end`. */
export function countedName(node: ts.Expression): string {
  if (ts.isCallExpression(node)) return countedName(strip(node.expression));
  if (ts.isElementAccessExpression(node)) return countedName(strip(node.expression));
  if (!ts.isPropertyAccessExpression(node)) return node.getText();
  return ['length', 'size'].includes(node.name.text) ? countedName(strip(node.expression)) : node.name.text;
}

/** An expression's text on one line, cut to what fits into a message. */
export function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 40 ? `${line.slice(0, 39)}…` : line;
}
