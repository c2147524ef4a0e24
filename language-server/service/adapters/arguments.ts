/**
 * The arguments a process is started with, one by one and in order, wherever they are put together: in a list, in a
 * variable that is pushed to, by concat, spread, map and flatMap, in a function of the file, or in one text that is split.
 */
import ts from 'typescript6';
import { returnsOf } from './conditions.ts';
import type { Evaluator } from './evaluate.ts';
import { strip } from './scopes.ts';
import { type Frame, KIND, of, type Property, placeOf, type Value } from './values.ts';

/** One argument; undefined stands where some may be that cannot be told. */
export interface Argument {
  /** Where it is written. */
  node: ts.Node;
  frame: Frame;
  value: Value;
  /** Its text; `*` for what is not constant in it. */
  text: string;
  /** The value is that of the expression at `node`. */
  direct: boolean;
}

type Items = (Argument | undefined)[];

/** How a place was come to. */
interface Trail {
  depth: number;
  /** Variables that are being followed: `args = args.concat(...)` adds to what they are, and is not followed again. */
  open: readonly ts.Node[];
  budget: { left: number };
}

function beginning(): Trail {
  return { depth: 0, open: [], budget: { left: MOST_STEPS } };
}

function deeper(trail: Trail): Trail {
  return { ...trail, depth: trail.depth + 1 };
}

const DEEPEST = 12;
/** An argument list longer than this is not followed to its end. */
const MOST = 300;
const MOST_STEPS = 3000;
const GAP: Items = [undefined];

/** Arguments of the `args` field of a process. */
export function argumentsOf(evaluator: Evaluator, args: Property | undefined): Items {
  if (!args) return [];
  const trail = beginning();
  const items = args.expression && args.frame ? list(evaluator, args.expression, args.frame, trail) : [];
  for (const { values, pushed, frame } of args.later ?? [])
    items.push(
      ...(pushed ? [] : GAP),
      ...values.flatMap((each) =>
        pushed ? element(evaluator, each, frame, trail) : list(evaluator, each, frame, trail),
      ),
    );
  return items.slice(0, MOST);
}

/** The words of an argument that is a command line itself, such as a script for a shell. */
export function wordsOf(evaluator: Evaluator, { node, frame, text }: Argument): Items {
  if (!/\s/.test(text) || !ts.isExpression(node)) return [];
  const joined = call(strip(node), 'join');
  if (joined) return list(evaluator, joined.base, frame, beginning());
  return split(evaluator, node, frame, ' ');
}

function item(evaluator: Evaluator, node: ts.Expression, frame: Frame): Argument {
  return written(node, frame, evaluator.value(node, frame), true);
}

function written(node: ts.Node, frame: Frame, value: Value, direct: boolean): Argument {
  const text = value.literal !== undefined ? String(value.literal) : (value.file ?? '*');
  return { node, frame, value, text, direct };
}

function list(evaluator: Evaluator, expression: ts.Expression, frame: Frame, trail: Trail): Items {
  evaluator.tick();
  const node = strip(expression);
  const go = (each: ts.Expression, at = frame) => list(evaluator, each, at, deeper(trail));
  if (trail.depth > DEEPEST || --trail.budget.left < 0) return GAP;
  if (ts.isArrayLiteralExpression(node)) return node.elements.flatMap((each) => element(evaluator, each, frame, trail));
  if (ts.isConditionalExpression(node)) return [...go(node.whenTrue), ...GAP, ...go(node.whenFalse), ...GAP];
  if (ts.isBinaryExpression(node)) {
    if (node.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken) return [...GAP, ...go(node.right), ...GAP];
    return [...go(node.left), ...GAP, ...go(node.right), ...GAP];
  }
  if (ts.isIdentifier(node)) return variable(evaluator, node, frame, trail);
  if (ts.isCallExpression(node)) return called(evaluator, node, frame, trail);
  const { node: origin } = evaluator.value(node, frame);
  return origin && origin !== node && ts.isExpression(origin) ? go(origin) : GAP;
}

function element(evaluator: Evaluator, each: ts.Expression, frame: Frame, trail: Trail): Items {
  if (ts.isSpreadElement(each)) return list(evaluator, each.expression, frame, deeper(trail));
  return [item(evaluator, each, frame)];
}

function variable(evaluator: Evaluator, name: ts.Identifier, frame: Frame, outer: Trail): Items {
  const declaration = evaluator.scopes.resolve(name);
  if (!declaration) return GAP;
  if (outer.open.includes(declaration)) return [];
  const trail = { ...outer, open: [...outer.open, declaration] };
  const go = (each: ts.Expression) => list(evaluator, each, frame, deeper(trail));
  let items: Items;
  if (ts.isVariableDeclaration(declaration)) items = declaration.initializer ? go(declaration.initializer) : [];
  else if (ts.isBindingElement(declaration) && declaration.dotDotDotToken)
    items = rest(evaluator, declaration, frame, trail);
  else {
    const { node } = evaluator.value(name, frame);
    return node && ts.isArrayLiteralExpression(node) ? go(node) : GAP;
  }
  for (const write of evaluator.scopes.writes(declaration)) {
    const added = () => write.values.flatMap((each) => element(evaluator, each, frame, trail));
    if (write.kind === 'assign') items = [...items, ...GAP, ...go(write.values[0])];
    else if (write.kind === 'push') {
      const { expression } = write.node as ts.CallExpression;
      const first = ts.isPropertyAccessExpression(expression) && expression.name.text === 'unshift';
      items = first ? [...added(), ...items] : [...items, ...added()];
    } else if (write.kind !== 'escape') items = [...items, ...GAP];
  }
  return items;
}

/** `const [command, ...args] = [...]`. */
function rest(evaluator: Evaluator, declaration: ts.BindingElement, frame: Frame, trail: Trail): Items {
  const pattern = declaration.parent;
  const owner = pattern.parent;
  if (!ts.isArrayBindingPattern(pattern) || !ts.isVariableDeclaration(owner) || !owner.initializer) return GAP;
  return list(evaluator, owner.initializer, frame, deeper(trail)).slice(pattern.elements.indexOf(declaration));
}

/** `base.name(...)`, if a node is that. */
function call(node: ts.Node, name: string): { base: ts.Expression; given: ts.NodeArray<ts.Expression> } | undefined {
  if (!ts.isCallExpression(node)) return undefined;
  const callee = strip(node.expression);
  if (!ts.isPropertyAccessExpression(callee) || callee.name.text !== name) return undefined;
  return { base: callee.expression, given: node.arguments };
}

function called(evaluator: Evaluator, node: ts.CallExpression, frame: Frame, trail: Trail): Items {
  const go = (each: ts.Expression, at = frame) => list(evaluator, each, at, deeper(trail));
  const callee = strip(node.expression);
  const [first] = node.arguments;
  const target = evaluator.value(callee, frame);
  if (target.fn) {
    const inner = evaluator.frame(target.fn, evaluator.args(node, frame));
    return inner ? returned(evaluator, target.fn, inner, trail) : GAP;
  }
  if (/^global\.(Object\.freeze|Array\.from|structuredClone)$/.test(target.external ?? '') && first) return go(first);
  if (/^global\.Object\.(entries|keys|values)$/.test(target.external ?? '') && first)
    return members(evaluator, first, frame, target.external ?? '');
  if (!ts.isPropertyAccessExpression(callee)) return GAP;
  const base = callee.expression;
  switch (callee.name.text) {
    case 'concat':
      return [
        ...go(base),
        ...node.arguments.flatMap((each) =>
          !ts.isSpreadElement(each) && (evaluator.value(each, frame).kinds & KIND.array) === 0
            ? [item(evaluator, each, frame)]
            : go(ts.isSpreadElement(each) ? each.expression : each),
        ),
      ];
    case 'flat':
      return go(base).flatMap((each) =>
        each && ts.isExpression(each.node) && each.value.kinds & KIND.array ? go(each.node, each.frame) : [each],
      );
    case 'filter':
    case 'slice':
    case 'toSorted':
      return go(base);
    case 'map':
      return go(base).map((each, i) => {
        if (!each || !first) return undefined;
        const { fn } = evaluator.value(first, frame);
        const value = fn
          ? evaluator.invoke(fn, [each.value, of(KIND.number, 0, { literal: i })], first)
          : { ...each.value, kinds: KIND.any };
        return written(each.node, each.frame, value, false);
      });
    case 'flatMap': {
      const fn = first && evaluator.value(first, frame).fn;
      return go(base).flatMap((each): Items => {
        const inner = each && fn && evaluator.frame(fn, [each.value]);
        return inner ? returned(evaluator, fn, inner, trail) : GAP;
      });
    }
    case 'split':
      return split(evaluator, base, frame, String((first && evaluator.value(first, frame).literal) ?? ' '));
  }
  return GAP;
}

/** What a function of the file gives; between several returns nothing belongs together. */
function returned(evaluator: Evaluator, fn: NonNullable<Value['fn']>, frame: Frame, trail: Trail): Items {
  const { body } = fn.node;
  if (!body || evaluator.syntax.broken(fn.node)) return GAP;
  if (!ts.isBlock(body)) return list(evaluator, body, frame, deeper(trail));
  const all = returnsOf(body).flatMap(({ expression }) => (expression ? [expression] : []));
  return all.flatMap((each, i) => [...(i > 0 ? GAP : []), ...list(evaluator, each, frame, deeper(trail))]);
}

/** `Object.entries({ init, model })`: names and values of an object of the file. */
function members(evaluator: Evaluator, expression: ts.Expression, frame: Frame, kind: string): Items {
  const { object } = evaluator.value(expression, frame);
  if (!object) return GAP;
  const items = [...object.properties].map(([name, property]): Argument => {
    const key = of(KIND.string, 0, { literal: name });
    if (kind.endsWith('keys')) return written(property.name, frame, key, false);
    const value = property.value();
    if (kind.endsWith('values')) return written(placeOf(property), frame, value, false);
    const pair = of(KIND.array, value.from, { elements: [key, value] });
    return written(placeOf(property), frame, pair, false);
  });
  return object.open ? [...items, ...GAP] : items;
}

/** The words of a text, each with the places its values come from. */
function split(evaluator: Evaluator, expression: ts.Expression, frame: Frame, separator: string): Items {
  const words: Argument[] = [];
  let word: Argument | undefined;
  const add = (text: string, node: ts.Node, value: Value): void => {
    const before = word;
    const from = (before?.value.from ?? 0) | value.from;
    const whole = (before?.text ?? '') + text;
    const literal = (before === undefined || before.value.literal !== undefined) && value.literal !== undefined;
    const place = before && (before.value.from !== 0 || value.from === 0) ? before.node : node;
    const joined = of(KIND.string, from, literal ? { literal: whole } : { file: whole });
    word = { node: place, frame, value: joined, text: whole, direct: false };
  };
  const end = (): void => {
    if (word) words.push(word);
    word = undefined;
  };
  const constant = (text: string, node: ts.Node): void => {
    for (const [i, each] of text.split(separator).entries()) {
      if (i > 0) end();
      if (each !== '') add(each, node, of(KIND.string, 0, { literal: each }));
    }
  };
  const visit = (written: ts.Expression): void => {
    const node = strip(written);
    if (ts.isTemplateExpression(node)) {
      constant(node.head.text, node);
      for (const span of node.templateSpans) {
        visit(span.expression);
        constant(span.literal.text, node);
      }
      return;
    }
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
      visit(node.left);
      visit(node.right);
      return;
    }
    const value = evaluator.value(node, frame);
    if (value.literal !== undefined) constant(String(value.literal), node);
    else add('*', node, value);
  };
  const origin = strip(expression);
  const declaration = ts.isIdentifier(origin) ? evaluator.scopes.resolve(origin) : undefined;
  const text =
    declaration && ts.isVariableDeclaration(declaration) && evaluator.scopes.writes(declaration).length === 0
      ? declaration.initializer
      : undefined;
  visit(text ?? origin);
  end();
  return words;
}
