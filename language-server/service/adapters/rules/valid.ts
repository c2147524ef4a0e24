/** `valid` tells failures of the infrastructure from those of the planner: neither mixed up nor the same whatever happens. */
import ts from 'typescript6';
import type { Analysis } from '../analysis.ts';
import { type Case, casesOf, type Reason } from '../cases.ts';
import { atomsOf } from '../conditions.ts';
import { CALLS } from '../contract-values.ts';
import type { Evaluator } from '../evaluate.ts';
import { isFunction, strip } from '../scopes.ts';
import { FROM, type Frame, KIND, type Property, placeOf } from '../values.ts';
import { walk } from '../walk.ts';

const REASONS: [number, string][] = [
  [FROM.timeout, 'a limit that was reached is a failure of the planner, valid with reward 0'],
  [
    FROM.plannerError | FROM.plannerRan,
    "an error in the planner's code or tool call is a failure of the planner, valid with reward 0",
  ],
  [
    FROM.planner | FROM.acts,
    'what the planner answered is no failure of the infrastructure; its failure is valid with reward 0',
  ],
];

/** `valid` becomes false because of something the planner did. */
export function validReason({ outcome, evaluator, report, syntax }: Analysis): void {
  for (const each of outcome?.cases ?? []) {
    const property = each.value.object?.properties.get('valid');
    if (!property || syntax.broken(property.node)) continue;
    const cause = causeOf(evaluator, each, property);
    if (!cause) continue;
    const at = each.sites.find((site) => ts.isReturnStatement(site.node))?.node;
    const place = isShared(each, property) && at ? at : placeOf(property);
    report('valid-from-planner-error', place, `valid is false here, but ${cause}`);
  }
}

/** The object is made by a helper, so that the place is where the helper is called. */
function isShared(each: Case, property: Property): boolean {
  const [first] = each.sites;
  const written = property.expression ?? property.node;
  return first !== undefined && (written.pos < first.node.pos || written.end > first.node.end);
}

function causeOf(evaluator: Evaluator, outer: Case, property: Property): string | undefined {
  if (!property.expression) return undefined;
  const frame = property.frame ?? outer.frame;
  for (const each of casesOf(evaluator, property.expression, frame)) {
    if (each.value.literal === true) continue;
    const own = each.value.literal === false ? [] : [{ expression: each.expression, holds: false, frame: each.frame }];
    const cause =
      told(evaluator, [...own, ...each.reasons, ...outer.reasons]) ??
      caught(evaluator, each) ??
      caught(evaluator, outer);
    if (cause) return cause;
  }
  return undefined;
}

/** Reads the innermost condition that says something of the planner; those around it only choose the case. */
function told(evaluator: Evaluator, reasons: readonly Reason[]): string | undefined {
  for (const reason of reasons.slice(0, 2)) {
    const atoms = atomsOf(reason);
    for (const atom of atoms) {
      const { from, kinds } = evaluator.value(atom.expression, reason.frame);
      if (manyCalls(evaluator, atom.expression, reason.frame) === atom.holds) return REASONS[0][1];
      // What the planner did not do, of its recorded calls; that a file has something is the harness's doing.
      const told = kinds === KIND.boolean || kinds === KIND.number;
      const lacks = told && (from & FROM.record) === 0 ? from & (FROM.planner | FROM.acts) : 0;
      const why = atom.holds ? from & ~FROM.plannerRan : lacks | (from & FROM.plannerRan);
      const found = REASONS.find(([source]) => why & source);
      if (found) return found[1];
    }
  }
  return undefined;
}

/** Whether a comparison holds where the planner made many calls (true) or few (false); undefined for others. */
function manyCalls(evaluator: Evaluator, expression: ts.Expression, frame: Frame): boolean | undefined {
  const node = strip(expression);
  if (!ts.isBinaryExpression(node)) return undefined;
  const [, sign] = /^([<>])=?$/.exec(node.operatorToken.getText()) ?? [];
  const sides = [evaluator.value(node.left, frame), evaluator.value(node.right, frame)];
  const count = sides.findIndex((each) => each.name === `${CALLS}.length`);
  const limit = count < 0 ? undefined : sides[1 - count].literal;
  // That there was no call, or one alone, may be the harness's failure.
  if (sign === undefined || typeof limit !== 'number' || limit < 3) return undefined;
  return (sign === '>') === (count === 0);
}

/** `try { JSON.parse(call.arguments) } catch { return invalid }`. */
function caught(evaluator: Evaluator, { sites }: Case): string | undefined {
  for (const { node, frame } of sites)
    for (let each: ts.Node | undefined = node; each && !isFunction(each); each = each.parent) {
      if (!ts.isCatchClause(each)) continue;
      let from = 0;
      const visit = (part: ts.Node): void => {
        if (ts.isCallExpression(part) && part.expression.getText() === 'JSON.parse' && part.arguments[0])
          from |= evaluator.value(part.arguments[0], frame).from;
        ts.forEachChild(part, visit);
      };
      visit(each.parent.tryBlock);
      if (from & FROM.planner)
        return 'a tool call that cannot be parsed is a failure of the planner, valid with reward 0';
    }
  return undefined;
}

/** `valid` is the same on every path. */
export function validConstant(analysis: Analysis): void {
  const { outcome, evaluator, report } = analysis;
  if (!outcome?.whole || outcome.cases.length === 0) return;
  const values = new Set<unknown>();
  let last: Property | undefined;
  for (const each of outcome.cases) {
    const property = each.value.object?.properties.get('valid');
    if (!property?.expression) return;
    for (const one of casesOf(evaluator, property.expression, property.frame ?? each.frame))
      values.add(one.value.literal);
    last = property;
  }
  if (values.size !== 1 || !last) return;
  const [value] = values;
  if (typeof value !== 'boolean') return;
  // An error that is thrown makes the episode invalid too.
  if (value && throws(analysis)) return;
  report(
    'valid-is-constant',
    placeOf(last),
    value
      ? 'valid is true whatever happens; a harness or simulator that failed has to make it false, or outcome has to throw'
      : 'valid is false whatever happens: every episode would be left out of training',
  );
}

function throws({ evaluator, outcome }: Analysis): boolean {
  let found = false;
  if (!outcome) return false;
  walk(evaluator, outcome.fn, outcome.frame, (node, frame) => {
    if (ts.isThrowStatement(node)) found = true;
    // A function from elsewhere may throw: it is given the output or a record.
    if (ts.isCallExpression(node)) {
      const callee = strip(node.expression);
      const { external } = evaluator.value(callee, frame);
      if (external && !/^(global|fs|path|os|util|crypto)\b/.test(external)) found = true;
    }
  });
  return found;
}
