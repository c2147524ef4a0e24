/** Which declaration a name in an adapter's file means, and where variables are written. A small binder of our own. */
import ts from 'typescript6';

/** What gives a name its meaning. Binding elements stand for themselves; their way to the value is in the tree. */
export type Declaration =
  | ts.VariableDeclaration
  | ts.ParameterDeclaration
  | ts.BindingElement
  | ts.FunctionDeclaration
  | ts.FunctionExpression
  | ts.ClassDeclaration
  | ts.EnumDeclaration
  | ts.ImportSpecifier
  | ts.ImportClause
  | ts.NamespaceImport;

/** A change of a variable, or of what it holds. */
export interface Write {
  kind: 'assign' | 'update' | 'property' | 'push' | 'mutate' | 'escape';
  /** The assignment, call or expression that writes. */
  node: ts.Node;
  /** What is assigned or pushed. */
  values: readonly ts.Expression[];
  /** For `property`: its name, where it is known. */
  property?: string;
  operator?: ts.SyntaxKind;
}

export interface Scopes {
  resolve(name: ts.Identifier): Declaration | undefined;
  writes(declaration: Declaration): readonly Write[];
  types: Map<string, ts.InterfaceDeclaration | ts.TypeAliasDeclaration>;
}

const MUTATORS = new Set([
  'push',
  'unshift',
  'pop',
  'shift',
  'splice',
  'sort',
  'reverse',
  'fill',
  'set',
  'add',
  'delete',
  'clear',
  'append',
]);

export function isFunction(node: ts.Node): node is ts.FunctionLikeDeclaration {
  return (
    ts.isFunctionDeclaration(node) ||
    ts.isFunctionExpression(node) ||
    ts.isArrowFunction(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isGetAccessor(node) ||
    ts.isSetAccessor(node) ||
    ts.isConstructorDeclaration(node)
  );
}

function isScope(node: ts.Node): boolean {
  return (
    ts.isSourceFile(node) ||
    isFunction(node) ||
    ts.isBlock(node) ||
    ts.isCaseBlock(node) ||
    ts.isCatchClause(node) ||
    ts.isForStatement(node) ||
    ts.isForOfStatement(node) ||
    ts.isForInStatement(node)
  );
}

/** @throws RangeError when the tree is too deep for the stack. */
export function bindScopes(source: ts.SourceFile): Scopes {
  const names = new Map<ts.Node, Map<string, Declaration>>();
  const types: Scopes['types'] = new Map();
  const declare = (scope: ts.Node, name: ts.Identifier, declaration: Declaration) => {
    const table = names.get(scope) ?? new Map<string, Declaration>();
    if (!table.has(name.text)) table.set(name.text, declaration);
    names.set(scope, table);
  };
  const declarePattern = (scope: ts.Node, pattern: ts.BindingName, declaration: Declaration) => {
    if (ts.isIdentifier(pattern)) return declare(scope, pattern, declaration);
    for (const element of pattern.elements)
      if (ts.isBindingElement(element)) declarePattern(scope, element.name, element);
  };
  const candidates: ts.Node[] = [];
  const visit = (node: ts.Node, scope: ts.Node, functionScope: ts.Node): void => {
    if (ts.isVariableDeclaration(node)) {
      const list = node.parent;
      const isVar = ts.isVariableDeclarationList(list) && (list.flags & ts.NodeFlags.BlockScoped) === 0;
      declarePattern(isVar ? functionScope : scope, node.name, node);
    } else if (ts.isParameter(node)) declarePattern(scope, node.name, node);
    else if ((ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node) || ts.isEnumDeclaration(node)) && node.name)
      declare(scope, node.name, node);
    else if (ts.isFunctionExpression(node) && node.name) declare(node, node.name, node);
    else if (ts.isImportClause(node) && node.name) declare(scope, node.name, node);
    else if (ts.isImportSpecifier(node) || ts.isNamespaceImport(node)) declare(scope, node.name, node);
    else if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) types.set(node.name.text, node);
    else if (
      ts.isBinaryExpression(node) ||
      ts.isPrefixUnaryExpression(node) ||
      ts.isPostfixUnaryExpression(node) ||
      ts.isDeleteExpression(node) ||
      ts.isCallExpression(node)
    )
      candidates.push(node);
    const inner = isScope(node) ? node : scope;
    const innerFunction = isFunction(node) || ts.isSourceFile(node) ? node : functionScope;
    ts.forEachChild(node, (child) => visit(child, inner, innerFunction));
  };
  visit(source, source, source);

  const resolve = (name: ts.Identifier): Declaration | undefined => {
    for (let node: ts.Node | undefined = name; node; node = node.parent) {
      const found = names.get(node)?.get(name.text);
      if (found) return found;
    }
    return undefined;
  };

  let written: Map<Declaration, Write[]> | undefined;
  const collect = (): Map<Declaration, Write[]> => {
    const all = new Map<Declaration, Write[]>();
    const add = (target: ts.Expression, write: Write) => {
      const root = rootName(target);
      const declaration = root && resolve(root);
      if (!declaration) return;
      const list = all.get(declaration) ?? [];
      list.push(write);
      all.set(declaration, list);
    };
    for (const node of candidates) collectWrite(node, add);
    return all;
  };
  return {
    resolve,
    writes: (declaration) => {
      written ??= collect();
      return written.get(declaration) ?? [];
    },
    types,
  };
}

function collectWrite(node: ts.Node, add: (target: ts.Expression, write: Write) => void): void {
  if (ts.isBinaryExpression(node)) {
    const operator = node.operatorToken.kind;
    if (operator < ts.SyntaxKind.FirstAssignment || operator > ts.SyntaxKind.LastAssignment) return;
    addTarget(node.left, node, [node.right], operator, add);
  } else if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) {
    if (node.operator === ts.SyntaxKind.PlusPlusToken || node.operator === ts.SyntaxKind.MinusMinusToken)
      addTarget(node.operand, node, [], node.operator, add);
  } else if (ts.isDeleteExpression(node)) addTarget(node.expression, node, [], undefined, add);
  else if (ts.isCallExpression(node)) {
    const callee = node.expression;
    if (ts.isPropertyAccessExpression(callee) && MUTATORS.has(callee.name.text)) {
      const kind = ['push', 'unshift'].includes(callee.name.text) ? 'push' : 'mutate';
      add(callee.expression, { kind, node, values: node.arguments });
    }
    const name = callee.getText();
    if (
      /^(JSON\.|console\.|String$|Boolean$|Number$|Array\.isArray$|Object\.(keys|values|entries|freeze)$|defineAdapter$)/.test(
        name,
      )
    )
      return;
    for (const argument of node.arguments)
      if (ts.isIdentifier(argument)) add(argument, { kind: 'escape', node, values: [] });
  }
}

function addTarget(
  target: ts.Expression,
  node: ts.Node,
  values: ts.Expression[],
  operator: ts.SyntaxKind | undefined,
  add: (target: ts.Expression, write: Write) => void,
): void {
  const inner = strip(target);
  if (ts.isIdentifier(inner)) {
    const plain = operator === ts.SyntaxKind.EqualsToken || operator === ts.SyntaxKind.QuestionQuestionEqualsToken;
    add(inner, { kind: plain ? 'assign' : 'update', node, values, operator });
  } else if (ts.isPropertyAccessExpression(inner)) {
    const direct = ts.isIdentifier(strip(inner.expression));
    add(inner, { kind: direct ? 'property' : 'mutate', node, values, property: inner.name.text, operator });
  } else if (ts.isElementAccessExpression(inner)) {
    const key = inner.argumentExpression;
    const property = ts.isStringLiteralLike(key) ? key.text : undefined;
    const direct = ts.isIdentifier(strip(inner.expression));
    add(inner, { kind: direct ? 'property' : 'mutate', node, values, property, operator });
  } else if (ts.isArrayLiteralExpression(inner) || ts.isObjectLiteralExpression(inner)) {
    // `[a, b] = ...` and `({ a } = ...)`: each name gets something unknown.
    const names: ts.Identifier[] = [];
    const find = (each: ts.Node): void => {
      if (ts.isIdentifier(each)) names.push(each);
      ts.forEachChild(each, find);
    };
    ts.forEachChild(inner, find);
    for (const name of names) add(name, { kind: 'update', node, values: [] });
  }
}

/** The variable at the start of `a.b[c].d`. */
function rootName(target: ts.Expression): ts.Identifier | undefined {
  let node = strip(target);
  while (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) node = strip(node.expression);
  return ts.isIdentifier(node) ? node : undefined;
}

/** An expression without parentheses, type assertions and `!`. */
export function strip(node: ts.Expression): ts.Expression {
  while (
    ts.isParenthesizedExpression(node) ||
    ts.isAsExpression(node) ||
    ts.isSatisfiesExpression(node) ||
    ts.isNonNullExpression(node) ||
    ts.isTypeAssertionExpression(node)
  )
    node = node.expression;
  return node;
}

/** The function (or file) around a node, not the node itself. */
export function enclosingFunction(node: ts.Node): ts.Node {
  let outer = node.parent;
  while (outer && !isFunction(outer) && !ts.isSourceFile(outer)) outer = outer.parent;
  return outer ?? node;
}
