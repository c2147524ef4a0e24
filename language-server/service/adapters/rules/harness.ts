/** The harness is trained as it is: launch leaves its tools, prompts and loop alone. */
import ts from 'typescript6';
import type { Analysis } from '../analysis.ts';
import { type Argument, wordsOf } from '../arguments.ts';
import type { Evaluator } from '../evaluate.ts';
import { processesOf } from '../processes.ts';
import { strip } from '../scopes.ts';
import { FROM, type Frame, KIND, placeOf, type Value } from '../values.ts';
import { walk } from '../walk.ts';
import { SHELL } from './launching.ts';

type Tell = (node: ts.Node, what: string) => void;

/** What an option, a variable or a field sets, by its name; each kind has its own test of what it is set to. */
const SETTINGS: [RegExp, (value: Value, text: string) => boolean][] = [
  // These change something whatever they are set to.
  [
    /^((extra|append|override)[-_](system[-_])?prompt|prompt[-_](append|prefix|suffix|override|extra)|(disable|disabled|disallow|disallowed|exclude|excluded|omit|block|blocked|without|extra|add|remove|hide|hidden)[-_]?(tools?|skills?)|(no|disable|without|skip)[-_]?(retry|retries|retry[-_]?loop|loop|self[-_]?correct(ion)?|reflection|replan(ning)?))$/i,
    () => true,
  ],
  [/^system[-_]?(prompt|message|instructions?)$/i, (value, text) => !isDefault(text) && isOwnText(value, 1)],
  [/^((system|user)[-_]?)?prompt[-_]?(file|path|template)$|^system[-_]?file$/i, (_value, text) => !isDefault(text)],
  [/^(allow|allowed|enable|enabled)?[-_]?(tools|skills)$/i, (value, text) => /,|\s/.test(text) || isOwnText(value, 2)],
  // The task's own instruction has to reach the harness somehow.
  [/^(prompt|instructions|guidelines)$/i, (value) => (value.from & FROM.task) === 0 && isOwnText(value, 2)],
  // What is added to it does not.
  [
    /(^|[-_])(instructions?|task|goal|prompt|lang(uage)?)([-_](text|description|prompt))?$/i,
    (value, text) => (value.from & FROM.task) !== 0 && value.literal === undefined && addsWords(text),
  ],
  [
    /^((agent|control|planning|planner)[-_]?)?loop$/i,
    (value, text) =>
      typeof value.literal === 'string' &&
      /[a-z]/i.test(text) &&
      !/^(default|standard|on|off|true|false|yes|no)$/i.test(text),
  ],
  [
    /^(prompt[-_]text|(enable|allow|allowed|no)[-_]?(tools?|skills?)|hints?|few[-_]?shot|examples|tool[-_]choice|max[-_]retries|retries|self[-_]?correct(ion)?)$/i,
    (value) => isOwnText(value, 3),
  ],
];

/** `default`, `prompts/standard.txt`: what the harness has itself, by its name. */
function isDefault(text: string): boolean {
  return /(^|[\W_])(default|standard|original|builtin)([\W_]|$)/i.test(text);
}

/** A value the adapter makes up itself: so many words of its own, or put together from several values. */
function isOwnText(value: Value, words: number): boolean {
  if (value.kinds & (KIND.array | KIND.object)) return true;
  if (typeof value.literal === 'string') return value.literal.trim().split(/\s+/).length >= words;
  return value.kinds === KIND.string;
}

/** Constant words beside a value, enough for a hint: `* Think step by step.`. */
function addsWords(text: string): boolean {
  return text.includes('*') && (text.match(/[A-Za-z]{2,}/g) ?? []).length >= 3;
}

function changes(name: string, value: Value, text: string): boolean {
  return SETTINGS.some(([names, isChange]) => names.test(name) && isChange(value, text));
}

const HARNESS_FILE = /prompt|tools?\b|skill|system|agent|instruction|\.py$/i;
const CHANGES_FILE = /^fs(\/promises)?\.(writeFile|appendFile|copyFile|cp|rename|rm|unlink|symlink)/;
const RUNS = /^child_process\.(exec|execFile|spawn)(Sync)?$/;
/** A command, or one of a shell's script, that rewrites source files. */
const CHANGES_SOURCES =
  /(?:^|[;&|]\s*)(?:\S*\/)?(?:sudo\s+)?(git\s+(?:-C\s+\S+\s+)?(?:apply|am|checkout|switch|reset|stash|cherry-pick|revert)\b|patch\s+\S|sed\s+(?:-\w+\s+)*-\w*i)/;

/** Tools, prompts or loop of the harness made other than they are. */
export function harnessChanged(analysis: Analysis): void {
  const { evaluator, launch, report } = analysis;
  const tell: Tell = (node, what) =>
    report(
      'harness-changed',
      node,
      `${what} changes the harness; an adapter leaves its tools, prompts and loop as they are`,
    );
  for (const { program, items, env, episode } of processesOf(analysis)) {
    checkOptions(items, tell);
    for (const each of items) if (each) checkOptions(wordsOf(evaluator, each), tell);
    const words = [program, ...items.map((each) => each?.text ?? '*')];
    if (words.some((each) => SHELL.test(each)))
      for (const each of items) if (each) checkCommand(each.text, each.node, tell);
    // Without a shell the command is the first word.
    const line = words.join(' ').replace(/[;&|]/g, ' ');
    checkCommand(line, items[0]?.node, tell);
    for (const named of [env, episode])
      for (const [name, property] of named?.properties ?? []) {
        const option = name.replace(/([a-z])([A-Z])/g, '$1_$2').replace(/^(RPENT|CAPX|HARNESS|AGENT|PLANNER)_/i, '');
        const value = property.value();
        if (changes(option, value, textOf(value))) tell(placeOf(property), name);
      }
  }
  if (!launch) return;
  walk(evaluator, launch.fn, launch.frame, (node, frame) => {
    if (!ts.isCallExpression(node)) return;
    const { external = '' } = evaluator.value(node.expression, frame);
    if (RUNS.test(external)) checkCommand(commandOf(evaluator, node, frame), node, tell);
    if (!CHANGES_FILE.test(external)) return;
    const target = /\.(copyFile|cp|rename|symlink)/.test(external) ? node.arguments[1] : node.arguments[0];
    if (!target) return;
    const value = evaluator.value(target, frame);
    const path = textOf(value);
    if ((value.from & FROM.ownFolder) === 0 && HARNESS_FILE.test(path))
      tell(node, `writing ${path.replace(/^[*/]+/, '')}`);
  });
}

function textOf(value: Value): string {
  return typeof value.literal === 'string' ? value.literal : (value.file ?? '');
}

/** A command line that patches the harness's sources. */
function checkCommand(line: string, node: ts.Node | undefined, tell: Tell): void {
  const found = CHANGES_SOURCES.exec(line)?.[1];
  if (found && node) tell(node, `"${found.trim()}"`);
}

/** Command and arguments of `execFileSync('git', ['apply', ...])`, as one line. */
function commandOf(evaluator: Evaluator, { arguments: [command, args] }: ts.CallExpression, frame: Frame): string {
  if (!command) return '';
  const list = args && strip(args);
  const words = list && ts.isArrayLiteralExpression(list) ? list.elements : [];
  return [command, ...words].map((each) => textOf(evaluator.value(each, frame)) || '*').join(' ');
}

/** `--tools move,grasp`, `--system-prompt=...`. */
function checkOptions(items: readonly (Argument | undefined)[], tell: Tell): void {
  for (const [i, each] of items.entries()) {
    const [, option, joined] = /^--?([\w-]+)(?:=(.*))?$/s.exec(each?.text ?? '') ?? [];
    if (!each || option === undefined) continue;
    const next = items[i + 1];
    const isFlag = next === undefined || next.text.startsWith('--');
    const nothing: Value = { kinds: KIND.undefined, from: 0 };
    const set = joined !== undefined ? after(each, joined) : isFlag ? nothing : next.value;
    if (changes(option, set, joined ?? (isFlag ? 'default' : next.text))) tell(each.node, `--${option}`);
  }
}

/** The value behind the `=` of an option. */
function after({ value }: Argument, text: string): Value {
  return value.literal === undefined ? { ...value, kinds: KIND.string } : { ...value, literal: text };
}
