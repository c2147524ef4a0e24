/** Whether the grammar is whole where the adapter is made: behind a half-typed line the tree may mean anything. */
import ts from 'typescript6';
import type { Located } from './locate.ts';
import type { Scopes } from './scopes.ts';
import type { Gap, Syntax } from './syntax.ts';
import type { Value } from './values.ts';

/**
 * Whether findings can be trusted: nothing is lacking in a statement that the adapter is made of or depends on, nor
 * between statements, where a bracket too many has ended one of them early. Another declaration may be half typed, as long
 * as it has not swallowed one that the adapter needs.
 */
export function isSound(
  syntax: Syntax,
  scopes: Scopes,
  adapter: Located | undefined,
  functions: readonly (Value['fn'] | undefined)[],
): boolean {
  const gaps = [...syntax.errors, ...syntax.unfinished];
  if (gaps.length === 0) return true;
  const touches = (node: ts.Node) => (gap: Gap) => gap.after <= node.end && gap.end >= node.pos;
  const { statements } = syntax.source;
  if (gaps.some((gap) => !statements.some((each) => touches(each)(gap)))) return false;
  const broken = statements.filter((each) => gaps.some(touches(each)));
  if (!adapter || !broken.every(isDeclaration)) return false;
  const hidden = new Set<string>();
  for (const each of broken) eachName(each, ({ text }) => hidden.add(text));
  const needed = new Set<ts.Node>();
  let lost = false;
  const need = (node: ts.Node): void => {
    const statement = statementOf(node);
    if (!statement || needed.has(statement)) return;
    needed.add(statement);
    eachName(statement, (name) => {
      const declaration = scopes.resolve(name);
      if (declaration) need(declaration);
      else lost ||= hidden.has(name.text);
    });
  };
  for (const node of [adapter.node, adapter.object.node, ...functions.map((fn) => fn?.node)]) if (node) need(node);
  return !lost && !broken.some((each) => needed.has(each));
}

function isDeclaration(node: ts.Node): boolean {
  return (
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isVariableStatement(node) ||
    // `export default` before what it exports is written.
    (ts.isExportAssignment(node) && node.expression.getWidth() === 0)
  );
}

function eachName(node: ts.Node, use: (name: ts.Identifier) => void): void {
  if (ts.isIdentifier(node)) use(node);
  ts.forEachChild(node, (child) => eachName(child, use));
}

/** The statement of the file that holds a node. */
function statementOf(node: ts.Node): ts.Node | undefined {
  let each = node;
  while (each.parent && !ts.isSourceFile(each.parent)) each = each.parent;
  return each.parent ? each : undefined;
}
