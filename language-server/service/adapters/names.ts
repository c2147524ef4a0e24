/** Values of declared names: variables with what is written to them later, parameters, destructuring, imports. */
import ts from 'typescript6';
import { conditionsOf, isGuarded } from './conditions.ts';
import type { Evaluator } from './evaluate.ts';
import { type Declaration, enclosingFunction, strip, type Write } from './scopes.ts';
import { either, FROM, type Frame, KIND, leastOf, of, shuffled, UNKNOWN, type Value, withFrom } from './values.ts';
import { countedName } from './wording.ts';
import { kindsOfType, literalsOfType } from './written-types.ts';

const PLANNERS = FROM.planner | FROM.plannerError | FROM.plannerRan;

/** The value of a declared name. */
export function declared(evaluator: Evaluator, declaration: Declaration, frame: Frame): Value {
  for (let each: Frame | undefined = frame; each; each = each.parent) {
    const bound = each.bindings.get(declaration);
    if (bound) return withWrites(evaluator, bound, declaration, frame);
  }
  if (ts.isVariableDeclaration(declaration)) return variable(evaluator, declaration, frame);
  if (ts.isBindingElement(declaration)) return bound(evaluator, declaration, frame);
  if (ts.isFunctionDeclaration(declaration) || ts.isFunctionExpression(declaration))
    return of(KIND.function, 0, {
      fn: { node: declaration, frame: evaluator.frameOf(declaration, frame) },
      node: declaration,
    });
  if (ts.isParameter(declaration)) {
    const kinds = declaration.type ? kindsOfType(declaration.type, evaluator.scopes) : KIND.any;
    const literals = declaration.type && literalsOfType(declaration.type, evaluator.scopes);
    return of(kinds, 0, { written: declaration.type, literals });
  }
  if (ts.isImportSpecifier(declaration)) {
    const module = moduleOf(declaration.parent.parent.parent);
    return of(KIND.any, 0, { external: `${module}.${(declaration.propertyName ?? declaration.name).text}` });
  }
  if (ts.isImportClause(declaration)) return of(KIND.any, 0, { external: moduleOf(declaration.parent) });
  if (ts.isNamespaceImport(declaration)) return of(KIND.any, 0, { external: moduleOf(declaration.parent.parent) });
  return UNKNOWN;
}

function variable(evaluator: Evaluator, declaration: ts.VariableDeclaration, frame: Frame): Value {
  const list = declaration.parent;
  const owner = list?.parent;
  if (owner && ts.isForOfStatement(owner)) {
    const items = evaluator.value(owner.expression, frame);
    return evaluator.elementOf(items);
  }
  if (owner && ts.isForInStatement(owner)) return of(KIND.string, evaluator.value(owner.expression, frame).from);
  if (ts.isCatchClause(declaration.parent)) return UNKNOWN;
  let value: Value;
  if (!declaration.initializer) {
    const written = declaration.type ? kindsOfType(declaration.type, evaluator.scopes) : 0;
    value = of(written & KIND.any ? KIND.any : 0, 0, { written: declaration.type });
  } else {
    value = evaluator.value(declaration.initializer, frame);
    if (declaration.type && value.kinds & KIND.any) value = evaluator.typed(value, declaration.type);
  }
  return withWrites(evaluator, value, declaration, frame);
}

/** What later assignments, pushes and changed properties make of a variable. */
function withWrites(evaluator: Evaluator, first: Value, declaration: Declaration, frame: Frame): Value {
  const writes = evaluator.scopes.writes(declaration);
  if (writes.length === 0) return first.kinds === 0 ? of(KIND.undefined) : first;
  let value = first;
  const home = enclosingFunction(declaration);
  for (const write of writes) {
    // Escapes concern objects only: texts and numbers do not change.
    const why = () => reason(evaluator, write.node, home, frame);
    if (write.kind === 'assign') {
      const assigned = withFrom(evaluator.value(write.values[0], frame), why());
      value = value.kinds === 0 ? assigned : either(value, assigned);
    } else if (write.kind === 'update') {
      const from = write.values.reduce((all, each) => all | evaluator.value(each, frame).from, 0) | why();
      const isCount = value.kinds === KIND.number;
      value = isCount
        ? {
            ...withFrom(value, from),
            literal: undefined,
            literals: undefined,
            nonZero: undefined,
            least: raised(evaluator, value, write, frame),
          }
        : of(value.kinds & ~KIND.any ? value.kinds : KIND.any, value.from | from);
    } else if (write.kind === 'push' && value.kinds & KIND.array) {
      const pushed = write.values.map((each) =>
        evaluator.value(ts.isSpreadElement(each) ? each.expression : each, frame),
      );
      const from = pushed.reduce((all, each) => all | each.from, 0);
      value = {
        ...value,
        ...shuffled(value, value.count, pushed),
        from: value.from | from,
      };
    } else if (value.count !== undefined && write.kind !== 'escape') {
      value = shuffled(value, takes(write) ? undefined : value.count);
    } else if (!value.object && write.kind !== 'escape') {
      // `url.searchParams.set('key', key)`.
      const held = write.values.reduce((all, each) => all | evaluator.value(each, frame).from, 0);
      value = withFrom(value, held & FROM.key);
    } else if (value.object) {
      value = { ...value, object: changed(evaluator, value.object, write.kind, write, frame) };
    }
  }
  return value;
}

/** What a number is at least that is counted up; nothing where it may be lowered. */
function raised(evaluator: Evaluator, value: Value, write: Write, frame: Frame): number | undefined {
  const step =
    write.operator === ts.SyntaxKind.PlusPlusToken
      ? 1
      : write.operator === ts.SyntaxKind.PlusEqualsToken && write.values[0]
        ? leastOf(evaluator.value(write.values[0], frame))
        : undefined;
  return step !== undefined && step >= 0 ? leastOf(value) : undefined;
}

/** Whether a list or set may hold less after a write. */
function takes({ kind, node }: Write): boolean {
  const method =
    ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) ? node.expression.name.text : undefined;
  return kind === 'property' || method === undefined || /^(pop|shift|splice|delete|clear)$/.test(method);
}

/** Where the conditions come from under which a write happens. */
export function reason(evaluator: Evaluator, node: ts.Node, home: ts.Node, frame: Frame): number {
  if (enclosingFunction(node) !== home) return 0;
  return conditionsOf(node, home).reduce(
    (all, condition) => all | (evaluator.value(condition.expression, frame).from & (PLANNERS | FROM.timeout)),
    0,
  );
}

function changed(
  evaluator: Evaluator,
  object: NonNullable<Value['object']>,
  kind: string,
  write: { property?: string; values: readonly ts.Expression[]; node: ts.Node },
  frame: Frame,
): NonNullable<Value['object']> {
  const properties = new Map(object.properties);
  const pushed = kind === 'push' ? pushedTo(write.node) : undefined;
  const list = pushed === undefined ? undefined : properties.get(pushed);
  if (pushed !== undefined && list) {
    const values = () =>
      write.values.map((each) => evaluator.value(ts.isSpreadElement(each) ? each.expression : each, frame));
    const value = () => {
      const [first, more] = [list.value(), values()];
      return withFrom(
        shuffled(first, first.count, more),
        more.reduce((all, each) => all | each.from, 0),
      );
    };
    const later = [...(list.later ?? []), { values: write.values, pushed: true, frame }];
    properties.set(pushed, { ...list, value, later });
    return { ...object, properties };
  }
  if (kind !== 'property' || write.property === undefined) return { ...object, open: true };
  const before = properties.get(write.property);
  const [expression] = write.values;
  properties.set(write.property, {
    node: write.node,
    name: write.node,
    value: () => {
      const after = expression ? evaluator.value(expression, frame) : UNKNOWN;
      return before ? either(before.value(), after) : after;
    },
    ...(before
      ? { later: [...(before.later ?? []), { values: write.values, pushed: false, frame }] }
      : { expression, frame }),
  });
  return { ...object, properties };
}

/** The property in `process.args.push(...)`. */
function pushedTo(node: ts.Node): string | undefined {
  const callee = ts.isCallExpression(node) ? node.expression : undefined;
  const target = callee && ts.isPropertyAccessExpression(callee) ? callee.expression : undefined;
  return target && ts.isPropertyAccessExpression(target) && ts.isIdentifier(target.expression)
    ? target.name.text
    : undefined;
}

function bound(evaluator: Evaluator, element: ts.BindingElement, frame: Frame): Value {
  const pattern = element.parent;
  const owner = pattern.parent;
  const whole =
    ts.isBindingElement(owner) || ts.isParameter(owner) || ts.isVariableDeclaration(owner)
      ? declared(evaluator, owner, frame)
      : UNKNOWN;
  let value: Value;
  if (element.dotDotDotToken) value = remaining(whole, pattern);
  else if (ts.isArrayBindingPattern(pattern)) {
    const index = pattern.elements.indexOf(element);
    value = whole.groups?.[index] ?? whole.elements?.[index] ?? evaluator.elementOf(whole);
    const looked =
      ts.isVariableDeclaration(owner) &&
      owner.initializer &&
      isGuarded(owner, countedName(strip(owner.initializer)), false);
    if (whole.from & FROM.listed && !whole.elements && !looked) {
      const doubt = { what: 'undefined' as const, node: element, why: 'no such file may be listed' };
      value = { ...value, kinds: value.kinds | KIND.undefined, doubt };
    }
  } else {
    const name = element.propertyName ?? element.name;
    const key = ts.isIdentifier(name) || ts.isStringLiteralLike(name) ? name.text : undefined;
    const holder = ts.isVariableDeclaration(owner) && owner.initializer ? strip(owner.initializer) : undefined;
    const called = holder && ts.isIdentifier(holder) ? holder.text : '';
    value = key === undefined ? of(KIND.any, whole.from) : evaluator.part(whole, key, called);
  }
  if (element.initializer) {
    const fallback = evaluator.value(element.initializer, frame);
    const kept = value.kinds & ~KIND.undefined;
    value = kept === 0 ? fallback : either({ ...value, kinds: kept, doubt: undefined, missing: undefined }, fallback);
  }
  return evaluator.scopes.writes(element).length > 0 ? withWrites(evaluator, value, element, frame) : value;
}

/** What `...rest` holds: the parts that are not named beside it. */
function remaining(whole: Value, pattern: ts.BindingPattern): Value {
  if (!whole.object)
    return of(whole.kinds & KIND.array ? KIND.array : KIND.object | KIND.any, whole.from, { element: whole.element });
  const properties = new Map(whole.object.properties);
  for (const each of pattern.elements) {
    if (!ts.isBindingElement(each) || each.dotDotDotToken) continue;
    const name = each.propertyName ?? each.name;
    if ('text' in name) properties.delete(name.text);
  }
  const held = [...properties.values()].reduce((all, each) => all | (each.value().from & FROM.key), 0);
  return of(KIND.object, (whole.from & ~FROM.key) | held, { object: { ...whole.object, properties } });
}

function moduleOf(node: ts.Node): string {
  const specifier = ts.isImportDeclaration(node) ? node.moduleSpecifier : undefined;
  return specifier && ts.isStringLiteralLike(specifier) ? specifier.text.replace(/^node:/, '') : '';
}
