/** Values that are surely of a type their field cannot have, and promises where their result is meant. */
import ts from 'typescript6';
import type { Fix } from '../../contract.ts';
import type { Analysis } from '../analysis.ts';
import { argumentsOf } from '../arguments.ts';
import { askedOfPromise, lookedAt } from '../promises.ts';
import { enclosingFunction, strip } from '../scopes.ts';
import { isSurely, isSurelyNot, KIND, type Property, placeOf, type Value } from '../values.ts';
import { walk } from '../walk.ts';
import { OUTCOME_KINDS } from './shape.ts';

const NAMES: [number, string][] = [
  [KIND.string, 'a text'],
  [KIND.number, 'a number'],
  [KIND.boolean, 'true or false'],
  [KIND.undefined, 'undefined'],
  [KIND.null, 'null'],
  [KIND.object, 'an object'],
  [KIND.array, 'a list'],
  [KIND.function, 'a function'],
  [KIND.promise, 'a promise'],
];

function kindName(value: Value): string {
  return NAMES.filter(([kind]) => value.kinds & kind)
    .map(([, name]) => name)
    .join(' or ');
}

/** The fields of adapter, outcome and launch against what the contract says. */
export function fieldTypes(analysis: Analysis): void {
  const { adapter, outcome, launch } = analysis;
  const fields = adapter?.object.properties;
  if (fields) {
    const functions = { kinds: KIND.function, what: 'a function' };
    const lists = {
      kinds: KIND.object | KIND.function,
      what: 'an object ({ suite: [instruction, ...] }) or a function',
    };
    check(analysis, fields.get('name'), { kinds: KIND.string, what: 'a text' });
    check(analysis, fields.get('launch'), functions);
    check(analysis, fields.get('outcome'), functions);
    check(analysis, fields.get('scriptedTeacher'), functions);
    check(analysis, fields.get('tasks'), lists);
    const states = {
      kinds: KIND.number | KIND.object | KIND.function,
      what: 'a number, an object ({ suite: number }) or a function',
    };
    check(analysis, fields.get('states'), states);
    const failure = fields.get('onUpstreamFailure');
    const word = failure?.value().literal;
    if (failure && word !== undefined && word !== 'pass' && word !== 'fail-fast')
      analysis.report('adapter-wrong-type', placeOf(failure), 'onUpstreamFailure is "pass" or "fail-fast"');
  }
  for (const { value } of outcome?.cases ?? [])
    for (const [name, allowed] of Object.entries(OUTCOME_KINDS))
      check(analysis, value.object?.properties.get(name), allowed);
  for (const { value } of launch?.cases ?? []) {
    const process = value.object?.properties.get('worker')?.value() ?? value;
    checkProcess(analysis, process);
  }
}

function checkProcess(analysis: Analysis, process: Value): void {
  const text = { kinds: KIND.string, what: 'a text' };
  const fields = process.object?.properties;
  check(analysis, fields?.get('command'), text);
  check(analysis, fields?.get('cwd'), text);
  const args = fields?.get('args');
  check(analysis, args, { kinds: KIND.array, what: 'a list of texts' });
  for (const each of argumentsOf(analysis.evaluator, args))
    if (each?.direct) checkText(analysis, each.node, each.value, 'an argument');
  for (const [name, property] of fields?.get('env')?.value().object?.properties ?? [])
    if (property.expression && property.expression !== property.name)
      checkText(analysis, property.expression, property.value(), `the variable ${name}`);
}

/** Arguments and variables of a process are texts; a number can be made one. */
function checkText(analysis: Analysis, node: ts.Node, value: Value, what: string): void {
  const { report, syntax } = analysis;
  if (isSurely(value, KIND.promise) && !syntax.broken(node)) {
    const message = `${what} is a promise here, not its result: write await`;
    report('adapter-unawaited-promise', node, message, awaiting(analysis, node));
  }
  if (syntax.broken(node) || !isSurelyNot(value, KIND.string | KIND.undefined) || value.kinds & KIND.promise) return;
  const range = syntax.range(node);
  const fix: Fix = {
    title: 'Write it as a text: String(…)',
    edits: [{ range, newText: `String(${node.getText()})` }],
    safe: true,
  };
  const simple = isSurely(value, KIND.number | KIND.boolean);
  report(
    'adapter-wrong-type',
    node,
    `${what} must be a text, and this is ${kindName(value)}`,
    simple ? fix : undefined,
  );
}

function check(
  analysis: Analysis,
  property: Property | undefined,
  { kinds, what }: { kinds: number; what: string },
): void {
  const { report, syntax } = analysis;
  if (!property || syntax.broken(property.node)) return;
  const value = property.value();
  const name = property.name.getText();
  const place = placeOf(property);
  if (isSurely(value, KIND.promise)) {
    report(
      'adapter-unawaited-promise',
      place,
      `${name} is a promise here, not its result: write await`,
      awaiting(analysis, place),
    );
    return;
  }
  if (!isSurelyNot(value, kinds)) return;
  // What may be undefined besides is told by its own rule.
  if (isSurely(value, KIND.undefined) && name === 'reward') return;
  report(
    'adapter-wrong-type',
    place,
    `${name} must be ${what}, and this is ${kindName(value)}`,
    numberFix(analysis, property, value),
  );
}

/** `reward: result.solved` for `reward: result.solved ? 1 : 0`. */
function numberFix({ syntax }: Analysis, property: Property, value: Value): Fix | undefined {
  const { expression } = property;
  if (property.name.getText() !== 'reward' || !isSurely(value, KIND.boolean) || !expression) return undefined;
  const range = syntax.range(expression);
  const shorthand = expression === property.name ? 'reward: ' : '';
  const plain = /^[\w.?[\]]+$/.test(expression.getText()) ? expression.getText() : `(${expression.getText()})`;
  return {
    title: 'Write 1 for true and 0 for false',
    edits: [{ range, newText: `${shorthand}${plain} ? 1 : 0` }],
    safe: true,
  };
}

/** Writes `await`, and makes the function async where it is not. */
function awaiting({ syntax, outcome, launch }: Analysis, node: ts.Node): Fix | undefined {
  const home = enclosingFunction(node);
  const part = [outcome, launch].find((each) => each?.fn.node === home);
  if (!part || !ts.isExpression(node)) return undefined;
  const text = node.getText();
  const { parent } = node;
  const isPart = ts.isPropertyAccessExpression(parent) || ts.isElementAccessExpression(parent);
  const edits = [{ range: syntax.range(node), newText: isPart ? `(await ${text})` : `await ${text}` }];
  const { fn } = part;
  if (!fn.node.modifiers?.some((each) => each.kind === ts.SyntaxKind.AsyncKeyword)) {
    const start = fn.node.getStart();
    edits.unshift({ range: syntax.rangeOf(start, start), newText: 'async ' });
  }
  return { title: 'Await the promise', edits, safe: true };
}

/** A promise is looked at as if it were its result: it always holds, and has none of its result's parts. */
export function promisesUsed(analysis: Analysis): void {
  const { evaluator, report, syntax } = analysis;
  for (const part of [analysis.launch, analysis.outcome]) {
    if (!part) continue;
    const told = new Set<string>();
    walk(evaluator, part.fn, part.frame, (node, frame) => {
      const callback = askedOfPromise(evaluator, node, frame);
      if (callback && !syntax.broken(callback))
        report(
          'adapter-unawaited-promise',
          callback,
          'what is asked here is a promise, which always holds: await the results first, or use a loop',
        );
      for (const base of lookedAt(node)) {
        if (ts.isAwaitExpression(strip(base)) || syntax.broken(base)) continue;
        if (!isSurely(evaluator.value(base, frame), KIND.promise) || mayBeUnset(analysis, base)) continue;
        const name = strip(base).getText();
        if (told.has(name)) continue;
        told.add(name);
        report(
          'adapter-unawaited-promise',
          base,
          'this is a promise, not its result: write await',
          awaiting(analysis, base),
        );
      }
    });
  }
}

/** A variable that was declared without a value is asked for whether it holds a promise at all. */
function mayBeUnset({ evaluator }: Analysis, base: ts.Expression): boolean {
  const name = strip(base);
  const declaration = ts.isIdentifier(name) ? evaluator.scopes.resolve(name) : undefined;
  return declaration !== undefined && ts.isVariableDeclaration(declaration) && declaration.initializer === undefined;
}
