/** Finds the adapter in a file: the object behind `export default`, through variables, `satisfies` and wrappers. */
import ts from 'typescript6';
import type { Evaluator } from './evaluate.ts';
import { strip } from './scopes.ts';
import { KIND, type ObjectShape, of, type Property, UNKNOWN, type Value } from './values.ts';

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

/**
 * The adapter's object, or those of `cond ? a : b`; none where it is made in a way that cannot be followed, or not written
 * yet.
 */
export function locateAdapters(evaluator: Evaluator): Located[] {
  const { source } = evaluator.syntax;
  const exported = defaultExport(source);
  const located = (exported ? branches(exported) : []).flatMap((node) => {
    const object = adapterObject(evaluator, node);
    return object ? [{ object, node }] : [];
  });
  if (located.length > 0) return located;
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
  return found ? [found] : [];
}

/** `new A()`: fields and methods of a class of the file; helpers of its own are no fields of an adapter. */
function instance(evaluator: Evaluator, made: ts.Expression): ObjectShape | undefined {
  const created = strip(made);
  if (!ts.isNewExpression(created) || !ts.isIdentifier(created.expression)) return undefined;
  const declared = evaluator.scopes.resolve(created.expression);
  if (!declared || !ts.isClassDeclaration(declared)) return undefined;
  const properties = new Map<string, Property>();
  let open = declared.heritageClauses !== undefined;
  for (const member of declared.members) {
    if (ts.isConstructorDeclaration(member)) open = true;
    if (!member.name || !ts.isIdentifier(member.name) || !FIELDS.test(member.name.text)) continue;
    const { name } = member;
    if (ts.isMethodDeclaration(member)) {
      const value = of(KIND.function, 0, { fn: { node: member, frame: evaluator.file }, node: member });
      properties.set(name.text, { node: member, name, value: () => value });
    } else if (ts.isPropertyDeclaration(member)) {
      const { initializer: expression } = member;
      const value = () => (expression ? evaluator.value(expression, evaluator.file) : UNKNOWN);
      properties.set(name.text, { node: member, name, value, expression, frame: evaluator.file });
    }
  }
  return { node: created, properties, open };
}

const FIELDS = /^(name|tasks|states|launch|outcome|onUpstreamFailure|scriptedTeacher)$/;

/** What is exported, each branch of `cond ? a : b`. */
function branches(expression: ts.Expression): ts.Expression[] {
  const node = strip(expression);
  return ts.isConditionalExpression(node) ? [...branches(node.whenTrue), ...branches(node.whenFalse)] : [expression];
}

function adapterObject(evaluator: Evaluator, exported: ts.Expression): ObjectShape | undefined {
  const written = strip(exported);
  const made = instance(evaluator, written);
  if (made) return made;
  const given = ts.isCallExpression(written) ? written.arguments[0] : undefined;
  const inner = given && instance(evaluator, given);
  if (inner) return inner;
  const value = evaluator.value(exported, evaluator.file);
  if (value.object) return value.object;
  // A wrapper from elsewhere: its argument that looks like an adapter.
  const call = strip(exported);
  if (!ts.isCallExpression(call)) return undefined;
  const looks = (each: Value) => each.object?.properties.has('launch') || each.object?.properties.has('outcome');
  const argument = evaluator.args(call, evaluator.file).find(looks)?.object;
  return argument && { ...argument, open: true };
}
