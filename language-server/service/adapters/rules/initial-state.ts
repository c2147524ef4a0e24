/** Task and initial state are the same for all attempts of a group, or their rewards cannot be compared. */
import ts from 'typescript6';
import type { Analysis } from '../analysis.ts';
import { type Argument, wordsOf } from '../arguments.ts';
import type { Evaluator } from '../evaluate.ts';
import { type Process, processesOf } from '../processes.ts';
import { FROM, isSurely, KIND, placeOf } from '../values.ts';
import { walk } from '../walk.ts';

const VARYING = FROM.attempt | FROM.seed | FROM.chance;

type Tell = (node: ts.Node, from: number, what: string) => void;

/** Names of options, variables and fields that choose the scene. */
const CHOOSES =
  /^(init(ial)?([-_]?(state|index|id|idx|seed))*|state([-_]?(id|index|idx))?|scene([-_]?(id|index|idx|seed))?|layout([-_]?(id|seed))?|(env|reset|sim|world)[-_]?seed|task([-_]?(id|index|idx))?)$/i;
const MAKES_SCENE = /^(make|get|pick|choose|create)?_?(scene|init(ial)?_?state|layout|placement)/i;

export function initialState(analysis: Analysis): void {
  const { outcome, launch, evaluator } = analysis;
  const tell: Tell = (node, from, what) =>
    analysis.report(
      'init-varies-with-attempt',
      node,
      `${what} depends on ${from & FROM.attempt ? 'the attempt' : from & FROM.seed ? 'the seed, which differs between attempts' : 'chance or the clock'}; attempts of a group must see the same scene`,
    );
  for (const { value } of outcome?.cases ?? [])
    for (const name of ['task', 'init']) {
      const property = value.object?.properties.get(name);
      const from = property?.value().from ?? 0;
      if (property && from & VARYING) tell(placeOf(property), from, name);
    }
  for (const process of processesOf(analysis)) {
    const { program, items, env, episode } = process;
    // RPent takes its initial state from --seed.
    const isRpent = /(^|\/)rpent$/.test(program);
    const seedIsState = isRpent || isCapxWithoutState(process);
    checkArguments(items, seedIsState, tell);
    for (const each of items) {
      if (!each) continue;
      checkArguments(wordsOf(evaluator, each), seedIsState, tell);
      checkObject(evaluator, each, tell);
    }
    for (const fields of [env, episode])
      for (const [name, property] of fields?.properties ?? []) {
        const option = name.replace(/^(EPISODE|HARNESS|ENV)_/, '');
        const { from } = property.value();
        if (varies(option, from, false)) tell(placeOf(property), from, name);
      }
    if (!writesState(analysis)) checkMixed(evaluator, process, tell);
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

/** Whether what an option or field is set to may not be what it comes from. */
function varies(name: string, from: number, seedIsState: boolean): boolean {
  if (CHOOSES.test(name) || (seedIsState && name === 'seed')) return (from & VARYING) !== 0;
  // Another seed than the scene's may differ between attempts, but it is the episode's then.
  return /(^|[-_])seed$/i.test(name) && (from & FROM.chance) !== 0;
}

/** `['--init', x]`, `['--init=' + x]`. */
function checkArguments(items: readonly (Argument | undefined)[], seedIsState: boolean, tell: Tell): void {
  let option: string | undefined;
  for (const each of items) {
    if (!each) {
      option = undefined;
      continue;
    }
    const { from } = each.value;
    if (option !== undefined && varies(option, from, seedIsState)) tell(each.node, from, `--${option}`);
    const [, name, joined] = /^--?([\w-]+)(=)?/.exec(each.text) ?? [];
    option = joined ? undefined : name;
    if (name !== undefined && joined && varies(name, from, seedIsState)) tell(each.node, from, `--${name}`);
  }
}

/** `JSON.stringify({ init: x })` as an argument. */
function checkObject(evaluator: Evaluator, { node, frame }: Argument, tell: Tell): void {
  if (!ts.isCallExpression(node) || node.expression.getText() !== 'JSON.stringify' || !node.arguments[0]) return;
  for (const [name, property] of evaluator.value(node.arguments[0], frame).object?.properties ?? []) {
    const { from } = property.value();
    if (varies(name, from, false)) tell(placeOf(property), from, name);
  }
}

/**
 * A number made of the initial state and the attempt, where the initial state does not reach the harness by itself: it can
 * only choose the scene, whatever the option is called.
 */
function checkMixed(evaluator: Evaluator, { items, env, episode }: Process, tell: Tell): void {
  if (hasState({ items, env, episode })) return;
  for (const each of items)
    if (each && each.value.from & FROM.mixed && isNumber(evaluator, each))
      tell(each.node, each.value.from, 'the initial state');
}

/** Whether the initial state reaches the harness by itself. */
function hasState({ items, env, episode }: Pick<Process, 'items' | 'env' | 'episode'>): boolean {
  const fields = [env, episode].flatMap((each) => [...(each?.properties.values() ?? [])]);
  const all = [...items.flatMap((each) => each?.value ?? []), ...fields.map((each) => each.value())];
  return all.some(({ from }) => (from & FROM.init) !== 0 && (from & FROM.attempt) === 0);
}

/** CaP-X's launch.py without an initial state beside its seed: the scene can only come from the seed. */
function isCapxWithoutState(process: Process): boolean {
  return process.items.some((each) => /(^|[/_-])capx\b.*\.py$/i.test(each?.text ?? '')) && !hasState(process);
}

/** Whether launch writes the initial state into a file, which the harness may read. */
function writesState({ launch, evaluator }: Analysis): boolean {
  let found = false;
  if (launch)
    walk(evaluator, launch.fn, launch.frame, (node, frame) => {
      if (!ts.isCallExpression(node)) return;
      const { external } = evaluator.value(node.expression, frame);
      if (external && /^fs(\/promises)?\./.test(external))
        found ||= evaluator.args(node, frame).some(({ from }) => (from & FROM.init) !== 0);
    });
  return found;
}

/** `String(n)`, `${n}`, `n.toString()`: a number as a text and nothing beside it. */
function isNumber(evaluator: Evaluator, { node, frame, text }: Argument): boolean {
  if (text !== '*') return false;
  const inner =
    ts.isCallExpression(node) && node.expression.getText() === 'String'
      ? node.arguments[0]
      : ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)
        ? node.expression.expression
        : ts.isTemplateExpression(node)
          ? node.templateSpans[0].expression
          : undefined;
  return inner !== undefined && isSurely(evaluator.value(inner, frame), KIND.number);
}
