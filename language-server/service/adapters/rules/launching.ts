/** How launch starts the harness: as it is, without a shell, and without showing the key. */
import ts from 'typescript6';
import type { Fix } from '../../contract.ts';
import type { Analysis } from '../analysis.ts';
import type { Evaluator } from '../evaluate.ts';
import { strip } from '../scopes.ts';
import { FROM, type Frame, KIND, type ObjectShape, type Property, type Value } from '../values.ts';
import { walk } from '../walk.ts';
import { placeOf } from './types.ts';

interface Process {
  fields: ObjectShape['properties'];
  command: Property | undefined;
  args: Property | undefined;
}

function processesOf({ launch }: Analysis): Process[] {
  return (launch?.cases ?? []).flatMap(({ value }) => {
    const object = value.object?.properties.get('worker')?.value().object ?? value.object;
    if (!object) return [];
    return [
      { fields: object.properties, command: object.properties.get('command'), args: object.properties.get('args') },
    ];
  });
}

const SHELL = /(^|[\\/])(sh|bash|zsh|dash|ksh|fish|cmd|powershell|pwsh)(\.exe)?$/i;
const PROGRAM =
  /^(python[\d.]*|node|npx|npm|bash|sh|uv|uvx|conda|docker|podman|ros2|rpent|poetry|deno|bun|java|cargo|make|env|sudo|xvfb-run)\s+\S/;

/** A command line in one text instead of a command and its arguments. */
export function throughShell(analysis: Analysis): void {
  const { evaluator, launch, report } = analysis;
  for (const { fields, command, args } of processesOf(analysis)) {
    if (!command) continue;
    const value = command.value();
    const written = typeof value.literal === 'string' ? value.literal : (value.file ?? '');
    if (PROGRAM.test(written) || (/^[\w.-]+\s+\S/.test(written) && /\s(-|\S+\.(py|js|mjs|sh|ts)\b)/.test(written)))
      report(
        'launch-through-shell',
        placeOf(command),
        'command is the program alone; no shell splits this text: put its arguments into args',
        splitCommand(analysis, command, fields),
      );
    if (SHELL.test(written) && args?.expression && args.frame) checkScript(analysis, args.expression, args.frame);
  }
  if (!launch) return;
  walk(evaluator, launch.fn, launch.frame, (node, frame) => {
    if (!ts.isCallExpression(node)) return;
    const { external } = evaluator.value(node.expression, frame);
    if (external !== 'child_process.exec' && external !== 'child_process.execSync') return;
    report(
      'launch-through-shell',
      node,
      'launch starts nothing and uses no shell: it returns the command and its arguments',
    );
  });
}

/** `bash -c` with a text put together from values: what is in them is run. A constant script is the user's own. */
function checkScript({ evaluator, report }: Analysis, expression: ts.Expression, frame: Frame): void {
  const list = strip(expression);
  if (!ts.isArrayLiteralExpression(list)) return;
  const option = list.elements.findIndex((each) =>
    /^(-\w*c|\/c|-Command)$/i.test(String(evaluator.value(each, frame).literal ?? '')),
  );
  const script = option < 0 ? undefined : list.elements[option + 1];
  if (!script || ts.isSpreadElement(script) || evaluator.value(script, frame).literal !== undefined) return;
  report(
    'launch-through-shell',
    script,
    'a shell runs whatever the values in this text hold; pass them as arguments of their own',
  );
}

/** Splits a plain command line at its spaces. */
function splitCommand({ syntax }: Analysis, command: Property, fields: ObjectShape['properties']): Fix | undefined {
  const expression = command.expression && strip(command.expression);
  if (!expression || fields.has('args') || command.node.getSourceFile() !== syntax.source) return undefined;
  if (!ts.isStringLiteralLike(expression) && !ts.isTemplateExpression(expression)) return undefined;
  const inner = expression.getText().slice(1, -1);
  // Quotes, variables and the like need a person; so does a placeholder with spaces in it.
  if (/["'\\;&|<>`*~]|\$(?!\{)/.test(inner) || /\$\{[^}]*[\s{][^}]*\}/.test(inner)) return undefined;
  const [program, ...rest] = inner.trim().split(/\s+/);
  if (program.includes('${')) return undefined;
  const word = (text: string) => {
    const whole = /^\$\{([^{}]+)\}$/.exec(text);
    if (whole) return `String(${whole[1]})`;
    return text.includes('${') ? `\`${text}\`` : `'${text}'`;
  };
  const newText = `'${program}', args: [${rest.map(word).join(', ')}]`;
  return { title: 'Split into command and args', edits: [{ range: syntax.range(expression), newText }], safe: true };
}

const PRINTS = /^(global\.console\.|global\.process\.std(out|err)\.write)/;
const WRITES = /^fs(\/promises)?\.(writeFile|appendFile)/;

/** The episode's key on a command line, in a log or in a file. */
export function exposedKey(analysis: Analysis): void {
  const { evaluator, launch, report } = analysis;
  const message = 'other users of the machine can read command lines; give the key as a variable of env';
  for (const { command, args } of processesOf(analysis)) {
    if (command && command.value().from & FROM.key) report('api-key-exposed', placeOf(command), message);
    if (args && args.value().from & FROM.key)
      report(
        'api-key-exposed',
        args.expression ? keyNode(evaluator, args.expression, args.frame as Frame) : placeOf(args),
        message,
      );
  }
  if (!launch) return;
  walk(evaluator, launch.fn, launch.frame, (node, frame) => {
    if (!ts.isCallExpression(node)) return;
    const { external = '' } = evaluator.value(node.expression, frame);
    const prints = PRINTS.test(external);
    if (!prints && !WRITES.test(external)) return;
    for (const argument of node.arguments.slice(prints ? 0 : 1))
      if (holdsKey(evaluator.value(argument, frame)))
        report(
          'api-key-exposed',
          argument,
          prints ? 'this prints the key of the episode' : 'this writes the key of the episode into a file',
        );
  });
}

function holdsKey(value: Value): boolean {
  if (value.from & FROM.key) return true;
  return [...(value.object?.properties.values() ?? [])].some((each) => (each.value().from & FROM.key) !== 0);
}

/** The innermost part of an argument list that holds the key. */
function keyNode(evaluator: Evaluator, expression: ts.Expression, frame: Frame): ts.Expression {
  const node = strip(expression);
  const parts = ts.isArrayLiteralExpression(node)
    ? node.elements.map((each) => (ts.isSpreadElement(each) ? each.expression : each))
    : ts.isConditionalExpression(node)
      ? [node.whenTrue, node.whenFalse]
      : [];
  const found = parts.find((each) => evaluator.value(each, frame).from & FROM.key);
  return found ? keyNode(evaluator, found, frame) : node;
}

const PROMPT_OPTION =
  /^(system[-_]?prompt|prompt|(extra|append|override)[-_](system[-_])?prompt|prompt[-_](text|append|prefix|suffix|override|extra)|tools|(enable|disable|disabled|allow|allowed|disallow|disallowed|without|no|extra|add|remove|hide|hidden)[-_]?(tools?|skills?)|hints?|few[-_]?shot|examples|tool[-_]choice|max[-_]retries|retries|self[-_]?correct(ion)?|loop)$/i;
const ALWAYS =
  /^((extra|append|override)[-_](system[-_])?prompt|prompt[-_](append|prefix|suffix|override|extra)|(disable|disabled|disallow|disallowed|without|extra|add|remove|hide|hidden)[-_]?(tools?|skills?))$/i;
const HARNESS_FILE = /prompt|tools?\b|skill|system|agent|instruction|\.py$/i;
const CHANGES_FILE = /^fs(\/promises)?\.(writeFile|appendFile|copyFile|cp|rename|rm|unlink|symlink)/;

/** Tools, prompts or loop of the harness made other than they are. */
export function harnessChanged(analysis: Analysis): void {
  const { evaluator, launch, report } = analysis;
  const tell = (node: ts.Node, what: string) =>
    report(
      'harness-changed',
      node,
      `${what} changes the harness; an adapter leaves its tools, prompts and loop as they are`,
    );
  for (const each of launch?.cases ?? []) {
    const properties = each.value.object?.properties;
    const fields = properties?.get('worker')?.value().object?.properties ?? properties;
    const args = fields?.get('args');
    if (args?.expression && args.frame) checkOptions(evaluator, args.expression, args.frame, tell);
    for (const named of [fields?.get('env')?.value(), properties?.get('episode')?.value()])
      for (const [name, property] of named?.object?.properties ?? []) {
        const option = name.replace(/([a-z])([A-Z])/g, '$1_$2').replace(/^(RPENT|CAPX|HARNESS|AGENT|PLANNER)_/i, '');
        if (PROMPT_OPTION.test(option) && (ALWAYS.test(option) || isAdapters(property.value())))
          tell(placeOf(property), name);
      }
  }
  if (!launch) return;
  walk(evaluator, launch.fn, launch.frame, (node, frame) => {
    if (!ts.isCallExpression(node)) return;
    const { external = '' } = evaluator.value(node.expression, frame);
    if (!CHANGES_FILE.test(external)) return;
    const target = /\.(copyFile|cp|rename|symlink)/.test(external) ? node.arguments[1] : node.arguments[0];
    if (!target) return;
    const value = evaluator.value(target, frame);
    const path = typeof value.literal === 'string' ? value.literal : (value.file ?? '');
    if ((value.from & FROM.ownFolder) === 0 && HARNESS_FILE.test(path))
      tell(node, `writing ${path.replace(/^[*/]+/, '')}`);
  });
}

/** A value the adapter makes up itself: words of its own, or chosen by role, task or attempt. */
function isAdapters(value: Value): boolean {
  if (value.kinds & (KIND.array | KIND.object)) return true;
  if (typeof value.literal === 'string') return value.literal.trim().split(/\s+/).length >= 3;
  return (value.kinds & KIND.string) !== 0 && value.kinds === KIND.string;
}

function checkOptions(
  evaluator: Evaluator,
  expression: ts.Expression,
  frame: Frame,
  tell: (node: ts.Node, what: string) => void,
): void {
  const list = strip(expression);
  if (!ts.isArrayLiteralExpression(list)) return;
  for (const [i, each] of list.elements.entries()) {
    if (ts.isSpreadElement(each)) {
      const inner = strip(each.expression);
      const branches = ts.isConditionalExpression(inner) ? [inner.whenTrue, inner.whenFalse] : [inner];
      for (const branch of branches) checkOptions(evaluator, branch, frame, tell);
      continue;
    }
    const value = evaluator.value(each, frame);
    const written = typeof value.literal === 'string' ? value.literal : (value.file ?? '');
    const [, option, joined] = /^--?([\w-]+)(=(.*))?$/s.exec(written) ?? [];
    if (option === undefined || !PROMPT_OPTION.test(option)) continue;
    const next = list.elements[i + 1];
    const after = next && !ts.isSpreadElement(next) ? evaluator.value(next, frame) : undefined;
    const own =
      joined === undefined
        ? after !== undefined && isAdapters(after)
        : value.literal === undefined || isAdapters(value);
    if (ALWAYS.test(option) || own) tell(each, `--${option}`);
  }
}
