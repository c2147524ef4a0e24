/** How launch starts the harness: without a shell, and without showing the key. */
import ts from 'typescript6';
import type { Fix } from '../../contract.ts';
import type { Analysis } from '../analysis.ts';
import type { Argument } from '../arguments.ts';
import { isCommandLine, isSplittable } from '../commands.ts';
import { type Process, processesOf } from '../processes.ts';
import { strip } from '../scopes.ts';
import { FROM, type ObjectShape, type Property, placeOf, type Value } from '../values.ts';
import { walk } from '../walk.ts';

export const SHELL = /(^|[\\/])(sh|bash|zsh|dash|ksh|fish|cmd|powershell|pwsh)(\.exe)?$/i;
/** A command line in one text instead of a command and its arguments. */
export function throughShell(analysis: Analysis): void {
  const { evaluator, launch, report } = analysis;
  for (const process of processesOf(analysis)) {
    const { fields, command, program: written } = process;
    if (!command) continue;
    if (isCommandLine(written))
      report(
        'launch-through-shell',
        placeOf(command),
        'command is the program alone; no shell splits this text: put its arguments into args',
        splitCommand(analysis, command, fields),
      );
    checkScripts(analysis, process);
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

/** Options of ssh that take a word of their own. */
const SSH_VALUE = /^-[BbcDEeFIiJLlmOopQRSWw]$/;

/**
 * `bash -c`, `env bash -lc`, `docker exec sim sh -c`, `ssh host` with a text put together from values: what is in them is
 * run. A constant script is the user's own.
 */
function checkScripts({ report }: Analysis, { program, items }: Process): void {
  const words = [program, ...items.map((each) => each?.text ?? '*')];
  const tell = (script: Argument | undefined) => {
    if (!script || script.value.literal !== undefined || !script.text.includes('*')) return;
    report(
      'launch-through-shell',
      script.node,
      'a shell runs whatever the values in this text hold; pass them as arguments of their own',
    );
  };
  const shell = words.findIndex((each) => SHELL.test(each));
  if (shell >= 0) {
    const option = words.findIndex((each, i) => i > shell && /^(-\w*c|\/c|-Command)$/i.test(each));
    if (option > 0) tell(items[option]);
  }
  const ssh = words.findIndex((each) => /(^|[\\/])ssh(\.exe)?$/.test(each));
  if (ssh < 0) return;
  let host = ssh + 1;
  while (words[host]?.startsWith('-')) host += SSH_VALUE.test(words[host]) ? 2 : 1;
  // ssh joins what follows the host into one text for the shell there; a text with spaces is meant as such.
  for (const each of items.slice(host)) if (each && /\s/.test(each.text)) tell(each);
}

/** Splits a plain command line at its spaces. */
function splitCommand({ syntax }: Analysis, command: Property, fields: ObjectShape['properties']): Fix | undefined {
  const expression = command.expression && strip(command.expression);
  if (!expression || fields.has('args') || command.node.getSourceFile() !== syntax.source) return undefined;
  if (!ts.isStringLiteralLike(expression) && !ts.isTemplateExpression(expression)) return undefined;
  const inner = expression.getText().slice(1, -1);
  if (!isSplittable(inner)) return undefined;
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
  for (const { command, args, items } of processesOf(analysis)) {
    if (command && command.value().from & FROM.key) report('api-key-exposed', placeOf(command), message);
    const shown = items.filter((each) => each !== undefined && (each.value.from & FROM.key) !== 0);
    for (const each of shown) if (each) report('api-key-exposed', each.node, message);
    if (shown.length === 0 && args && args.value().from & FROM.key) report('api-key-exposed', placeOf(args), message);
  }
  if (!launch) return;
  walk(evaluator, launch.fn, launch.frame, (node, frame) => {
    if (ts.isThrowStatement(node) && node.expression) {
      const thrown = strip(node.expression);
      const parts = ts.isNewExpression(thrown) ? (thrown.arguments ?? []) : [thrown];
      for (const each of parts)
        if (holdsKey(evaluator.value(each, frame)))
          report('api-key-exposed', each, 'this puts the key of the episode into an error, which is logged');
    }
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
