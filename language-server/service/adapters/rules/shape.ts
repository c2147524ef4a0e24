/** Fields that an adapter, a launch or an outcome lacks, has too many of, or misspells. */
import ts from 'typescript6';
import { nearest } from '../../../../protocol/nearest.ts';
import type { Fix } from '../../contract.ts';
import type { Analysis, Part } from '../analysis.ts';
import { completes, returnsOf } from '../conditions.ts';
import { exhaustive } from '../endings.ts';

import { exportsDefault } from '../locate.ts';
import { enclosingFunction } from '../scopes.ts';
import { KIND, type ObjectShape } from '../values.ts';

export const ADAPTER_FIELDS = ['name', 'tasks', 'states', 'launch', 'outcome', 'onUpstreamFailure', 'scriptedTeacher'];
export const FIVE_FIELDS = ['task', 'init', 'attempt', 'reward', 'valid'];
const OUTCOME_FIELDS = [...FIVE_FIELDS, 'successTurn', 'invalidReason', 'trajectory'];
const PROCESS_FIELDS = ['command', 'args', 'env', 'cwd'];

/** Whether the file exports an adapter, and with the fields an adapter has. */
export function adapterShape(analysis: Analysis): void {
  const { adapter, syntax, report } = analysis;
  if (syntax.errors.length === 0 && !exportsDefault(syntax.source)) {
    const end = syntax.text.trimEnd().length;
    report(
      'adapter-no-default-export',
      syntax.rangeOf(Math.max(0, end - 1), end),
      'the file has no default export: write "export default defineAdapter({ name, launch, outcome })"',
    );
  }
  if (!adapter) return;
  checkFields(analysis, adapter.object, ADAPTER_FIELDS, ['name', 'launch', 'outcome'], 'an adapter');
}

/** Whether every outcome has the five fields, and no other than the contract's. */
export function outcomeShape(analysis: Analysis): void {
  const { outcome, report, syntax, evaluator } = analysis;
  if (!outcome) return;
  for (const { value } of outcome.cases) {
    if (!value.object) {
      continue;
    }
    checkFields(
      analysis,
      value.object,
      OUTCOME_FIELDS,
      FIVE_FIELDS,
      'an outcome',
      fillIn(analysis, outcome, value.object),
    );
  }
  const { body } = outcome.fn.node;
  if (!outcome.whole || !body || !ts.isBlock(body)) return;
  for (const each of returnsOf(body))
    if (!each.expression)
      report('adapter-no-outcome', each, 'outcome returns nothing here; every path gives the five fields or throws');
  if (completes(body, exhaustive(evaluator, outcome.frame))) {
    const name = outcome.fn.node.name ?? outcome.fn.node;
    report(
      'adapter-no-outcome',
      outcome.fn.node.name ? name : syntax.rangeOf(body.end - 1, body.end),
      'outcome can end without returning anything; every path gives the five fields or throws',
    );
  }
}

/** Whether what launch returns is a process, or a worker and an episode. */
export function launchShape(analysis: Analysis): void {
  for (const { value } of analysis.launch?.cases ?? []) {
    const { object } = value;
    if (!object) continue;
    const worker = object.properties.get('worker')?.value().object;
    if (object.properties.has('worker') || object.properties.has('episode')) {
      checkFields(analysis, object, ['worker', 'episode'], ['worker', 'episode'], 'a launch with a worker');
      if (worker) checkFields(analysis, worker, PROCESS_FIELDS, ['command'], 'a process');
    } else checkFields(analysis, object, PROCESS_FIELDS, ['command'], 'a process');
  }
}

function checkFields(
  { report, syntax, evaluator }: Analysis,
  object: ObjectShape,
  fields: string[],
  required: string[],
  what: string,
  fix?: (missing: string[]) => Fix | undefined,
): void {
  if (syntax.broken(object.node)) return;
  // `rew` of `reward`: a name on its way, which nothing in the file declares.
  const typed = [...object.properties.values()].some(
    ({ node }) => ts.isShorthandPropertyAssignment(node) && !evaluator.scopes.resolve(node.name),
  );
  if (typed) return;
  const missing = required.filter((name) => !object.properties.has(name));
  for (const [name, property] of object.properties) {
    if (fields.includes(name)) continue;
    const free = fields.filter((field) => !object.properties.has(field));
    const near = nearest(name, free);
    if (near && missing.includes(near)) missing.splice(missing.indexOf(near), 1);
    report(
      'adapter-unknown-field',
      property.name,
      near
        ? `${what} has no field "${name}"; did you mean "${near}"?`
        : `${what} has no field "${name}" (it has ${fields.join(', ')})`,
      near && isName(property.name) ? rename(syntax.range(property.name), property.node, name, near) : undefined,
    );
  }
  if (object.open || missing.length === 0) return;
  report(
    'adapter-missing-field',
    object.node,
    `${what} needs ${required.join(', ')}; here ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`,
    fix?.(missing),
  );
}

function isName(node: ts.Node): boolean {
  return ts.isIdentifier(node) || ts.isStringLiteralLike(node);
}

function rename(range: Fix['edits'][0]['range'], property: ts.Node, name: string, near: string): Fix {
  const newText = ts.isShorthandPropertyAssignment(property) ? `${near}: ${name}` : near;
  return { title: `Rename to "${near}"`, edits: [{ range, newText }], safe: true };
}

/** Task, initial state and attempt are those that were asked for; they can be filled in. */
function fillIn({ syntax }: Analysis, outcome: Part, object: ObjectShape): (missing: string[]) => Fix | undefined {
  return (missing) => {
    const [parameter] = outcome.fn.node.parameters;
    if (!missing.every((name) => ['task', 'init', 'attempt'].includes(name))) return undefined;
    if (!parameter || !ts.isIdentifier(parameter.name) || !ts.isObjectLiteralExpression(object.node)) return undefined;
    if (enclosingFunction(object.node) !== outcome.fn.node) return undefined;
    const start = object.node.getStart() + 1;
    const output = parameter.name.text;
    const newText = missing.map((name) => ` ${name}: ${output}.episode.${name},`).join('');
    return {
      title: `Add ${missing.join(', ')} as asked for`,
      edits: [{ range: syntax.rangeOf(start, start), newText }],
      safe: true,
    };
  };
}

/** The kinds each field may have. */
export const OUTCOME_KINDS: Record<string, { kinds: number; what: string }> = {
  task: { kinds: KIND.string, what: 'a text (suite/index)' },
  init: { kinds: KIND.number, what: 'a whole number' },
  attempt: { kinds: KIND.number, what: 'a whole number' },
  reward: { kinds: KIND.number, what: 'a number' },
  valid: { kinds: KIND.boolean, what: 'true or false' },
  successTurn: { kinds: KIND.number | KIND.undefined, what: 'a whole number, or left out' },
  invalidReason: { kinds: KIND.string | KIND.undefined, what: 'a text, or left out' },
  trajectory: { kinds: KIND.string | KIND.undefined, what: "a file's name, or left out" },
};
