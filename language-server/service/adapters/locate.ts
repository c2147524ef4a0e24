/** Finds the adapter in a file: the object behind `export default`, through variables, `satisfies` and wrappers. */
import ts from 'typescript6';
import type { Evaluator } from './evaluate.ts';
import { strip } from './scopes.ts';
import type { ObjectShape, Value } from './values.ts';

export interface Located {
  object: ObjectShape;
  /** Where the adapter begins: the statement that exports it, or the call of defineAdapter. */
  node: ts.Node;
}

/** Expression that the file exports as its default, if any. */
export function defaultExport(source: ts.SourceFile): ts.Expression | undefined {
  for (const statement of source.statements) {
    if (ts.isExportAssignment(statement) && !statement.isExportEquals) return statement.expression;
    if (ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause))
      for (const each of statement.exportClause.elements)
        if (
          each.name.text === 'default' &&
          !statement.moduleSpecifier &&
          each.propertyName &&
          ts.isIdentifier(each.propertyName)
        )
          return each.propertyName;
  }
  return undefined;
}

/** Whether anything is exported as default, in whatever way. */
export function exportsDefault(source: ts.SourceFile): boolean {
  return source.statements.some((statement) => {
    if (ts.isExportAssignment(statement)) return true;
    if (ts.isExportDeclaration(statement))
      return (
        statement.exportClause !== undefined &&
        ts.isNamedExports(statement.exportClause) &&
        statement.exportClause.elements.some((each) => each.name.text === 'default')
      );
    return (
      ts.canHaveModifiers(statement) &&
      (ts.getModifiers(statement)?.some((each) => each.kind === ts.SyntaxKind.DefaultKeyword) ?? false)
    );
  });
}

/** The adapter's object; undefined where it is made in a way that cannot be followed, or not written yet. */
export function locateAdapter(evaluator: Evaluator): Located | undefined {
  const { source } = evaluator.syntax;
  const exported = defaultExport(source);
  if (exported) {
    const object = adapterObject(evaluator, exported);
    if (object) return { object, node: exported };
  }
  // While `export default` is not written yet, or in a wrapper that cannot be followed.
  let found: Located | undefined;
  const visit = (node: ts.Node): void => {
    if (found) return;
    if (
      ts.isCallExpression(node) &&
      /(^|\.)defineAdapter$/.test(node.expression.getText(source)) &&
      node.arguments[0]
    ) {
      const object = evaluator.value(node.arguments[0], evaluator.file).object;
      if (object) found = { object, node };
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function adapterObject(evaluator: Evaluator, exported: ts.Expression): ObjectShape | undefined {
  const value = evaluator.value(exported, evaluator.file);
  if (value.object) return value.object;
  // A wrapper from elsewhere: its argument that looks like an adapter.
  const call = strip(exported);
  if (!ts.isCallExpression(call)) return undefined;
  const looks = (each: Value) => each.object?.properties.has('launch') || each.object?.properties.has('outcome');
  const argument = evaluator.args(call, evaluator.file).find(looks)?.object;
  return argument && { ...argument, open: true };
}
