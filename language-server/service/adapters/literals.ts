/** Values that are written out: objects, lists, templates, new things. */
import ts from 'typescript6';
import type { Evaluator } from './evaluate.ts';
import { either, FROM, type Frame, KIND, of, type Property, UNKNOWN, type Value } from './values.ts';

export function templateText(evaluator: Evaluator, node: ts.TemplateExpression, frame: Frame): Value {
  let from = 0;
  let literal: string | undefined = node.head.text;
  for (const span of node.templateSpans) {
    const part = evaluator.value(span.expression, frame);
    // No number is a path.
    from |= part.kinds === KIND.number ? part.from & ~FROM.record : part.from;
    if (literal !== undefined && part.literal !== undefined) literal += String(part.literal) + span.literal.text;
    else literal = undefined;
  }
  // Which file is meant can often be told from the constant parts.
  const file = node.head.text + node.templateSpans.map((span) => `*${span.literal.text}`).join('');
  return of(KIND.string, from, { literal, file });
}

export function objectLiteral(evaluator: Evaluator, node: ts.ObjectLiteralExpression, frame: Frame): Value {
  const properties = new Map<string, Property>();
  let open = evaluator.syntax.broken(node);
  let from = 0;
  for (const member of node.properties) {
    if (ts.isSpreadAssignment(member)) {
      const spread = evaluator.value(member.expression, frame);
      from |= spread.from;
      if (spread.object && !spread.object.open)
        for (const [name, each] of spread.object.properties) properties.set(name, { ...each, node: member });
      else open = true;
      continue;
    }
    const name = member.name && keyText(member.name, evaluator, frame);
    if (name === undefined) {
      open = true;
      continue;
    }
    properties.set(name, propertyOf(evaluator, member, frame));
    if (ts.isPropertyAssignment(member)) from |= evaluator.value(member.initializer, frame).from & FROM.key;
    if (ts.isShorthandPropertyAssignment(member)) from |= evaluator.value(member.name, frame).from & FROM.key;
  }
  return of(KIND.object, from, { object: { node, properties, open }, node });
}

function propertyOf(
  evaluator: Evaluator,
  member: Exclude<ts.ObjectLiteralElementLike, ts.SpreadAssignment>,
  frame: Frame,
): Property {
  const name = member.name as ts.Node;
  if (ts.isPropertyAssignment(member)) {
    const expression = member.initializer;
    return { node: member, name, value: () => evaluator.value(expression, frame), expression, frame };
  }
  if (ts.isShorthandPropertyAssignment(member)) {
    const expression = member.name;
    return { node: member, name, value: () => evaluator.value(expression, frame), expression, frame };
  }
  if (ts.isMethodDeclaration(member))
    return { node: member, name, value: () => of(KIND.function, 0, { fn: { node: member, frame }, node: member }) };
  return { node: member, name, value: () => UNKNOWN };
}

export function arrayLiteral(evaluator: Evaluator, node: ts.ArrayLiteralExpression, frame: Frame): Value {
  let elements: Value[] | undefined = [];
  let from = 0;
  const all: Value[] = [];
  let count = 0;
  for (const each of node.elements) {
    if (ts.isSpreadElement(each)) {
      const spread = evaluator.value(each.expression, frame);
      from |= spread.from;
      count += spread.count ?? 0;
      if (spread.elements) {
        elements?.push(...spread.elements);
        all.push(...spread.elements);
      } else {
        elements = undefined;
        all.push(evaluator.elementOf(spread));
      }
    } else {
      const value = evaluator.value(each, frame);
      from |= value.from;
      elements?.push(value);
      count++;
      all.push(value);
    }
  }
  const element = elements === undefined && all.length > 0 ? all.reduce(either) : undefined;
  return of(KIND.array, from, { elements, element, count, node });
}

export function created(evaluator: Evaluator, node: ts.NewExpression, frame: Frame): Value {
  const name = evaluator.value(node.expression, frame).external ?? '';
  const args = evaluator.args(node, frame);
  const from = args.reduce((all, each) => all | each.from, 0);
  if (name === 'global.Promise') return of(KIND.promise);
  if (name === 'global.RegExp') return of(KIND.object, from, { pattern: String(args[0]?.literal ?? '') });
  if (name === 'global.Date' && args.length === 0) return of(KIND.object, FROM.chance);
  if (name === 'global.Set' || name === 'global.Map')
    return of(KIND.object, from, {
      element: args[0] && evaluator.elementOf(args[0]),
      count: Math.min(1, args[0]?.count ?? 0),
      mapped: name === 'global.Map' && args[0] ? entriesOf(evaluator, args[0]) : undefined,
    });
  return of(KIND.object, from);
}

/** Values of a map made of entries, and its keys where the entries are written out. */
function entriesOf(evaluator: Evaluator, entries: Value): Value['mapped'] {
  const part = (pair: Value, i: number): Value => pair.elements?.[i] ?? evaluator.elementOf(pair);
  const keys = entries.elements?.map((pair) => part(pair, 0).literal);
  const value = part(evaluator.elementOf(entries), 1);
  const values = entries.elements?.map((pair) => part(pair, 1));
  return {
    value: values && values.length > 0 ? values.reduce(either) : value,
    keys: keys?.every((each) => each !== undefined) ? keys : undefined,
  };
}

function keyText(name: ts.PropertyName, evaluator: Evaluator, frame: Frame): string | undefined {
  if (ts.isIdentifier(name) || ts.isStringLiteralLike(name) || ts.isNumericLiteral(name)) return name.text;
  if (!ts.isComputedPropertyName(name)) return undefined;
  const { literal } = evaluator.value(name.expression, frame);
  return literal === undefined ? undefined : String(literal);
}
