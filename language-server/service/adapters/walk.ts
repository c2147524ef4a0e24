/** Goes through all code that a function can reach within its file, with parameters bound at each call. */
import ts from 'typescript6';
import type { Evaluator } from './evaluate.ts';
import { isFunction, strip } from './scopes.ts';
import type { Frame, Value } from './values.ts';

/** How often one function is entered: its parameters may come from several places. */
const ENTRIES = 3;
const LIST_METHODS = /^(map|filter|some|every|find|findLast|findIndex|flatMap|forEach|sort|toSorted)$/;

export function walk(
  evaluator: Evaluator,
  fn: NonNullable<Value['fn']>,
  frame: Frame,
  visit: (node: ts.Node, frame: Frame) => void,
): void {
  const entries = new Map<ts.Node, number>();
  const enter = (target: NonNullable<Value['fn']>, args: readonly Value[]): void => {
    const times = entries.get(target.node) ?? 0;
    if (times >= ENTRIES || !target.node.body) return;
    entries.set(target.node, times + 1);
    const inner = evaluator.frame(target, args);
    if (inner) go(target.node.body, inner);
  };
  const go = (node: ts.Node, at: Frame): void => {
    evaluator.tick();
    if (isFunction(node)) {
      // Callbacks of list methods see the list's elements; of other functions within nothing is known.
      enter({ node, frame: at }, callbackArguments(evaluator, node, at));
      return;
    }
    visit(node, at);
    if (ts.isCallExpression(node)) {
      const target = evaluator.value(node.expression, at);
      if (target.fn && !isInline(node.expression)) enter(target.fn, evaluator.args(node, at));
      for (const argument of node.arguments) {
        if (!ts.isIdentifier(argument)) continue;
        const passed = evaluator.value(argument, at);
        if (passed.fn) enter(passed.fn, elementArguments(evaluator, node, at));
      }
    }
    ts.forEachChild(node, (child) => go(child, at));
  };
  entries.set(fn.node, ENTRIES);
  if (fn.node.body) go(fn.node.body, frame);
}

function isInline(callee: ts.Expression): boolean {
  return isFunction(strip(callee));
}

function callbackArguments(evaluator: Evaluator, node: ts.Node, frame: Frame): Value[] {
  const call = node.parent;
  return ts.isCallExpression(call) && call.arguments[0] === node ? elementArguments(evaluator, call, frame) : [];
}

function elementArguments(evaluator: Evaluator, call: ts.CallExpression, frame: Frame): Value[] {
  const callee = strip(call.expression);
  if (ts.isPropertyAccessExpression(callee) && callee.name.text === 'then') {
    const { awaited } = evaluator.value(callee.expression, frame);
    return awaited ? [awaited] : [];
  }
  if (!ts.isPropertyAccessExpression(callee) || !LIST_METHODS.test(callee.name.text)) return [];
  return [evaluator.elementOf(evaluator.value(callee.expression, frame))];
}
