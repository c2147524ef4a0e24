/** Output files that may be missing, and paths that a record names. */
import ts from 'typescript6';
import type { Analysis } from '../analysis.ts';
import { isGuarded } from '../conditions.ts';
import { derivedNames } from '../derived.ts';
import type { Evaluator } from '../evaluate.ts';
import { enclosingFunction, strip } from '../scopes.ts';
import { FROM, type Frame, isSurely, KIND } from '../values.ts';
import { walk } from '../walk.ts';
import { shortened } from '../wording.ts';

/** `output.readJson('result.json').solved`: the file may not be there. */
export function missingFiles({ outcome, evaluator, report }: Analysis): void {
  if (!outcome) return;
  const told = new Set<ts.Node>();
  walk(evaluator, outcome.fn, outcome.frame, (node, frame) => {
    if (ts.isCallExpression(node)) {
      checkDirectRead(node, frame);
      checkName(node, frame);
      checkEmpty(node, frame);
    }
    const base = dereferenced(node);
    if (!base) return;
    const { missing } = evaluator.value(base, frame);
    if (!missing || told.has(missing) || isAnswered(missing, base)) return;
    told.add(missing);
    report(
      'missing-file-unhandled',
      base,
      `${shortened(missing.getText())} is undefined where the harness left no such file; say what the episode then is`,
    );
  });

  /** readFileSync without a try or a look whether the file exists. */
  function checkDirectRead(node: ts.CallExpression, frame: Frame): void {
    const { external } = evaluator.value(node.expression, frame);
    if (!external || !/^(fs\.(readFile|readdir)Sync|fs\/promises\.(readFile|readdir))$/.test(external)) return;
    const [path] = node.arguments;
    if (!path || evaluator.value(path, frame).from & FROM.listed || isAnswered(node, node) || isCaught(node)) return;
    report(
      'missing-file-unhandled',
      node,
      external.includes('readdir')
        ? `${shortened(node.getText())} fails where the harness left no such folder; output.list names what there is`
        : `${shortened(node.getText())} fails where the harness left no such file; output.readText gives undefined for it`,
    );
  }

  /** `readJson(list.find(...)!)`: the name of a file that may not be listed. */
  function checkName(node: ts.CallExpression, frame: Frame): void {
    const callee = strip(node.expression);
    const [path] = node.arguments;
    if (!path || !ts.isPropertyAccessExpression(callee) || !/^read(Text|Json)$/.test(callee.name.text)) return;
    const { doubt, from } = evaluator.value(path, frame);
    if (doubt?.what !== 'undefined' || (from & FROM.listed) === 0) return;
    if (told.has(node) || isAnswered(node, path)) return;
    told.add(node);
    report(
      'missing-file-unhandled',
      path,
      `${shortened(strip(path).getText())} is undefined where the harness left no such file; say what the episode then is`,
    );
  }

  /** `JSON.parse(output.readText('r.json') ?? '')`: an empty text cannot be parsed. */
  function checkEmpty(node: ts.CallExpression, frame: Frame): void {
    const [argument] = node.arguments;
    const text = argument && strip(argument);
    if (node.expression.getText() !== 'JSON.parse' || !text || !ts.isBinaryExpression(text)) return;
    const right = strip(text.right);
    if (!ts.isStringLiteralLike(right) || right.text !== '') return;
    const { missing } = evaluator.value(text.left, frame);
    if (!missing || told.has(missing) || isAnswered(missing, node)) return;
    told.add(missing);
    report(
      'missing-file-unhandled',
      text,
      `${shortened(missing.getText())} is undefined where the harness left no such file, and JSON.parse('') fails`,
    );
  }
}

const LOOKS = ['list', 'existsSync', 'statSync', 'exists', 'accessSync'];

/** A read or a use lies in a try, or the files were listed or looked for before, perhaps through a set or a filter. */
function isAnswered(read: ts.Node, use: ts.Node): boolean {
  const names = derivedNames(read.getSourceFile(), LOOKS);
  const looked = (node: ts.Node) => names.some((name) => isGuarded(node, name, true));
  return looked(read) || looked(use);
}

/** `readFile(path).catch(...)`, `.then(use, answer)`. */
function isCaught(node: ts.Node): boolean {
  for (
    let each = node;
    ts.isPropertyAccessExpression(each.parent) && ts.isCallExpression(each.parent.parent);
    each = each.parent.parent
  ) {
    const { name } = each.parent;
    if (name.text === 'catch' || (name.text === 'then' && each.parent.parent.arguments.length > 1)) return true;
  }
  return false;
}

/** The expression of which a part is taken, without `?.`. */
function dereferenced(node: ts.Node): ts.Expression | undefined {
  if ((ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) && !node.questionDotToken)
    return ts.isOptionalChain(node) ? undefined : node.expression;
  if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name)) return node.initializer;
  if (ts.isForOfStatement(node)) return node.expression;
  if (ts.isCallExpression(node) && /^(JSON\.parse|Object\.(keys|values|entries))$/.test(node.expression.getText()))
    return node.arguments[0];
  return undefined;
}

const READS_OR_WRITES =
  /^fs(\/promises)?\.(read|write|append|copy|rename|rm|unlink|open|stat|lstat|exists|access|createReadStream|createWriteStream|readdir|cp|mkdir|symlink)/;

/** `readFileSync(join(folder, result.video))`: the record may name any file of the machine. */
export function recordPaths({ outcome, evaluator, report }: Analysis): void {
  if (!outcome) return;
  const told = new Set<ts.Node | string>();
  walk(evaluator, outcome.fn, outcome.frame, (node, frame) => {
    if (!ts.isCallExpression(node)) return;
    const { external } = evaluator.value(node.expression, frame);
    if (!external || !READS_OR_WRITES.test(external)) return;
    const paths = /\.(copy|rename|cp|symlink)/.test(external) ? node.arguments.slice(0, 2) : node.arguments.slice(0, 1);
    for (const path of paths) {
      const value = evaluator.value(path, frame);
      if ((value.kinds & (KIND.string | KIND.any)) === 0 || (value.from & FROM.record) === 0) continue;
      if (
        value.from & FROM.checkedPath ||
        namesIn(path, (name) => evaluator.scopes.resolve(name)).some((name) => isExamined(evaluator, path, frame, name))
      )
        continue;
      // `existsSync(path) && readFileSync(path)` is one path.
      const same = (ts.isIdentifier(path) && evaluator.scopes.resolve(path)) || path.getText();
      if (told.has(same)) continue;
      told.add(same);
      report(
        'path-from-record',
        path,
        'this path comes from what the harness wrote, and nothing keeps it inside the output folder; use output.readText, or check it',
      );
    }
  });
}

/** Whether what a name holds was looked at before a use of it, in a condition or in a variable that one asks for. */
function isExamined(evaluator: Evaluator, use: ts.Node, frame: Frame, name: string): boolean {
  if (isGuarded(use, name, false, (condition) => examines(condition, name))) return true;
  let found = false;
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer)
      found ||=
        examines(node.initializer, name) &&
        isSurely(evaluator.value(node.initializer, frame), KIND.boolean) &&
        isGuarded(use, node.name.text, false);
    if (!found) ts.forEachChild(node, visit);
  };
  visit(enclosingFunction(use));
  return found;
}

/** Calls that say whether something is there or of a type, not what it is. */
const ONLY_THERE = /(^|\.)(existsSync|statSync|lstatSync|accessSync|exists|isArray|Boolean|String|Number|isString)$/;

/** Whether a condition looks at what a name holds, rather than whether it holds anything. */
function examines(condition: ts.Node, name: string): boolean {
  const has = (node: ts.Node): boolean =>
    (ts.isIdentifier(node) && node.text === name) ||
    (ts.forEachChild(node, (child) => has(child) || undefined) ?? false);
  if (ts.isCallExpression(condition) && !ONLY_THERE.test(condition.expression.getText())) return has(condition);
  if (ts.isBinaryExpression(condition) && /^[=!]==?$/.test(condition.operatorToken.getText())) {
    const sides = [strip(condition.left), strip(condition.right)];
    const isText = sides.some((each) => ts.isStringLiteralLike(each) && each.text !== '');
    if (isText && !sides.some(ts.isTypeOfExpression)) return has(condition);
  }
  return ts.forEachChild(condition, (child) => examines(child, name) || undefined) ?? false;
}

/** Names a path is made of: variables with what they were set to, and the last names of records' parts. */
function namesIn(path: ts.Expression, resolve: (name: ts.Identifier) => ts.Node | undefined, depth = 0): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node)) {
      names.push(node.name.text);
      return;
    }
    if (ts.isCallExpression(node)) {
      for (const argument of node.arguments) visit(argument);
      return;
    }
    if (ts.isIdentifier(node)) {
      names.push(node.text);
      const declaration = resolve(node);
      if (depth < 4 && declaration && ts.isVariableDeclaration(declaration) && declaration.initializer)
        names.push(...namesIn(strip(declaration.initializer), resolve, depth + 1));
      return;
    }
    ts.forEachChild(node, visit);
  };
  visit(path);
  return names;
}
