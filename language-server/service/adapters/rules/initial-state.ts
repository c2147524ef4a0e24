/** Task and initial state are the same for all attempts of a group, or their rewards cannot be compared. */
import ts from 'typescript6';
import type { Analysis } from '../analysis.ts';
import type { Evaluator } from '../evaluate.ts';
import { strip } from '../scopes.ts';
import { FROM, type Frame, type Value } from '../values.ts';
import { walk } from '../walk.ts';
import { placeOf } from './types.ts';

const VARYING = FROM.attempt | FROM.seed;
/** Names of options, variables and fields that choose the scene. */
const CHOOSES =
  /^(init(ial)?([-_]?(state|index|id|idx|seed))*|state([-_]?(id|index|idx))?|scene([-_]?(id|index|idx|seed))?|layout([-_]?(id|seed))?|(env|reset|sim|world)[-_]?seed|task([-_]?(id|index|idx))?)$/i;
const MAKES_SCENE = /^(make|get|pick|choose|create)?_?(scene|init(ial)?_?state|layout|placement)/i;

export function initialState(analysis: Analysis): void {
  const { outcome, launch, evaluator } = analysis;
  const tell = (node: ts.Node, from: number, what: string) =>
    analysis.report(
      'init-varies-with-attempt',
      node,
      `${what} depends on ${from & FROM.attempt ? 'the attempt' : 'the seed, which differs between attempts'}; attempts of a group must see the same scene`,
    );
  for (const { value } of outcome?.cases ?? [])
    for (const name of ['task', 'init']) {
      const property = value.object?.properties.get(name);
      const from = property?.value().from ?? 0;
      if (property && from & VARYING) tell(placeOf(property), from, name);
    }
  for (const { value } of launch?.cases ?? []) {
    const properties = value.object?.properties;
    const process = properties?.get('worker')?.value().object?.properties ?? properties;
    const command = process?.get('command')?.value().literal;
    const args = process?.get('args');
    if (args?.expression && args.frame) {
      // RPent takes its initial state from --seed.
      const isRpent = typeof command === 'string' && /(^|\/)rpent$/.test(command);
      checkArguments(evaluator, args.expression, args.frame, isRpent, tell);
    }
    const named = [process?.get('env')?.value(), properties?.get('episode')?.value()];
    for (const fields of named)
      for (const [name, property] of fields?.object?.properties ?? []) {
        if (!CHOOSES.test(name.replace(/^(EPISODE|HARNESS|ENV)_/, ''))) continue;
        const { from } = property.value();
        if (from & VARYING && from !== FROM.key) tell(placeOf(property), from, name);
      }
  }
  if (launch)
    walk(evaluator, launch.fn, launch.frame, (node, frame) => {
      if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return;
      if (!MAKES_SCENE.test(node.expression.text)) return;
      for (const argument of node.arguments) {
        const { from, object } = evaluator.value(argument, frame);
        if (from & VARYING && !object) tell(argument, from, 'the scene');
      }
    });
}

/** `['--init', x]`, `['--init=' + x]`, also in nested and spread lists. */
function checkArguments(
  evaluator: Evaluator,
  expression: ts.Expression,
  frame: Frame,
  seedIsState: boolean,
  tell: (node: ts.Node, from: number, what: string) => void,
): void {
  const list = strip(expression);
  if (!ts.isArrayLiteralExpression(list)) return;
  const chooses = (option: string) => CHOOSES.test(option) || (seedIsState && option === 'seed');
  let option: string | undefined;
  for (const each of list.elements) {
    if (ts.isSpreadElement(each)) {
      checkArguments(evaluator, each.expression, frame, seedIsState, tell);
      continue;
    }
    const value: Value = evaluator.value(each, frame);
    if (option !== undefined && value.from & VARYING) tell(each, value.from, `--${option}`);
    const written = typeof value.literal === 'string' ? value.literal : (value.file ?? '');
    const [, name, joined] = /^--?([\w-]+)(=)?/.exec(written) ?? [];
    option = name !== undefined && !joined && chooses(name) ? name : undefined;
    if (name !== undefined && joined && chooses(name) && value.from & VARYING) tell(each, value.from, `--${name}`);
  }
}
