/** The same output gives the same outcome, and an adapter remembers nothing between episodes. */
import ts from 'typescript6';
import type { Analysis } from '../analysis.ts';
import { isChance, isClock } from '../chance.ts';
import { conditionsOf } from '../conditions.ts';
import { derivedNames } from '../derived.ts';
import type { Evaluator } from '../evaluate.ts';
import { enclosingFunction, strip } from '../scopes.ts';
import { FROM, type Frame } from '../values.ts';
import { walk } from '../walk.ts';

const OUTSIDE =
  /^(global\.fetch|global\.WebSocket|https?\.(get|request)|http2\.connect|net\.(connect|createConnection)|dns(\/promises)?\.|child_process\.)/;

/** Clock, chance, network or another program in `outcome`. */
export function determinism({ outcome, evaluator, report }: Analysis): void {
  if (!outcome) return;
  walk(evaluator, outcome.fn, outcome.frame, (node, frame) => {
    const what = unsteady(evaluator, node, frame);
    if (!what || inLog(node)) return;
    report(
      'outcome-not-deterministic',
      node,
      `outcome asks ${what}; the same output must always give the same five fields`,
    );
  });
}

function unsteady(evaluator: Evaluator, node: ts.Node, frame: Frame): string | undefined {
  if (ts.isNewExpression(node)) {
    const { external } = evaluator.value(node.expression, frame);
    return external === 'global.Date' && (node.arguments?.length ?? 0) === 0 ? 'the clock' : undefined;
  }
  if (!ts.isCallExpression(node)) return undefined;
  const { external } = evaluator.value(node.expression, frame);
  if (!external) return undefined;
  if (isClock(external)) return 'the clock';
  if (isChance(external)) return 'chance';
  if (OUTSIDE.test(external)) return external.startsWith('child_process') ? 'another program' : 'the network';
  return undefined;
}

/** What is only printed changes nothing. */
function inLog(node: ts.Node): boolean {
  for (let each = node.parent; each; each = each.parent) {
    if (ts.isCallExpression(each) && /^(console|process\.std(out|err))\./.test(each.expression.getText())) return true;
    if (ts.isStatement(each)) return false;
  }
  return false;
}

const MUTATORS = /^(push|unshift|pop|shift|splice|sort|reverse|fill|set|add|delete|clear)$/;

/** A variable of the module that launch or outcome changes. */
export function moduleState({ launch, outcome, evaluator, report }: Analysis): void {
  for (const part of [launch, outcome])
    if (part) {
      const entered = new Set<ts.Node>([part.fn.node]);
      const closures: { node: ts.Node; name: string; home: ts.Node }[] = [];
      walk(evaluator, part.fn, part.frame, (node, frame) => {
        entered.add(enclosingFunction(node));
        const file = keptFile(evaluator, node, frame);
        if (file !== undefined)
          report(
            'adapter-keeps-state',
            node,
            `${file} outlives the episode, and all episodes write it; write into the output folder`,
          );
        if (ts.isCallExpression(node) && evaluator.value(node.expression, frame).external === 'global.process.chdir')
          report(
            'adapter-keeps-state',
            node,
            'this moves the whole process, and all episodes with it; give the folder as cwd of the process',
          );
        const target = changed(node) ?? remembering(evaluator, node);
        if (!target) return;
        const root = rootOf(target);
        if (!root) return;
        const declaration = evaluator.scopes.resolve(root);
        if (!declaration) {
          if (!/^global(This)?$/.test(root.text) && !/^process\.env\b/.test(target.getText())) return;
          report('adapter-keeps-state', node, `${target.getText()} outlives the episode; the next ones would see it`);
          return;
        }
        if (ts.isClassDeclaration(declaration)) {
          report(
            'adapter-keeps-state',
            node,
            `${target.getText()} outlives the episode; an adapter keeps nothing between episodes, and they run side by side`,
          );
          return;
        }
        if (!ts.isVariableDeclaration(declaration)) return;
        const home = enclosingFunction(declaration);
        if (!ts.isSourceFile(home)) {
          if (!isCache(evaluator, node, root, frame)) closures.push({ node, name: root.text, home });
          return;
        }
        if (isCache(evaluator, node, root, frame) || isRewound(target, node)) return;
        report(
          'adapter-keeps-state',
          node,
          `${root.text} outlives the episode; an adapter keeps nothing between episodes, and they run side by side`,
        );
      });
      // A variable of a function that the file itself called, once for all episodes.
      for (const { node, name, home } of closures)
        if (!entered.has(home))
          report(
            'adapter-keeps-state',
            node,
            `${name} outlives the episode; an adapter keeps nothing between episodes, and they run side by side`,
          );
    }
}

/** `baseline.next()` where the class of the file, of which `baseline` is one, changes itself there. */
function remembering(evaluator: Evaluator, node: ts.Node): ts.Expression | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  const { expression: object, name } = node.expression;
  const declaration = ts.isIdentifier(object) ? evaluator.scopes.resolve(object) : undefined;
  const made = declaration && ts.isVariableDeclaration(declaration) ? declaration.initializer : undefined;
  const type = made && ts.isNewExpression(made) && ts.isIdentifier(made.expression) ? made.expression : undefined;
  // `Tally.count()`: of the class itself.
  const classNode = type ? evaluator.scopes.resolve(type) : declaration;
  if (!classNode || !ts.isClassDeclaration(classNode)) return undefined;
  const method = classNode.members.find((each) => ts.isMethodDeclaration(each) && each.name.getText() === name.text);
  let writes = false;
  const visit = (each: ts.Node): void => {
    const target = changed(each);
    const root = target && rootOf(target);
    if (target && (/^this\b/.test(target.getText()) || (root && evaluator.scopes.resolve(root) === classNode)))
      writes = true;
    if (!writes) ts.forEachChild(each, visit);
  };
  if (method) visit(method);
  return writes ? object : undefined;
}

/** The constant path of a file that is written. */
function keptFile(evaluator: Evaluator, node: ts.Node, frame: Frame): string | undefined {
  if (!ts.isCallExpression(node) || !node.arguments[0]) return undefined;
  const { external } = evaluator.value(node.expression, frame);
  if (!external || !/^fs(\/promises)?\.(write|append)File/.test(external)) return undefined;
  const { literal } = evaluator.value(node.arguments[0], frame);
  return typeof literal === 'string' ? literal : undefined;
}

/** `pattern.lastIndex = 0`: what an earlier episode left is undone. */
function isRewound(target: ts.Expression, node: ts.Node): boolean {
  return (
    ts.isPropertyAccessExpression(target) &&
    target.name.text === 'lastIndex' &&
    ts.isBinaryExpression(node) &&
    ts.isNumericLiteral(node.right) &&
    node.right.text === '0'
  );
}

/** What a node writes to, if it is a write. */
function changed(node: ts.Node): ts.Expression | undefined {
  if (ts.isBinaryExpression(node)) {
    const { kind } = node.operatorToken;
    return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment ? strip(node.left) : undefined;
  }
  if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) {
    const steps = [ts.SyntaxKind.PlusPlusToken, ts.SyntaxKind.MinusMinusToken];
    return steps.includes(node.operator) ? strip(node.operand) : undefined;
  }
  if (ts.isDeleteExpression(node)) return strip(node.expression);
  if (
    ts.isCallExpression(node) &&
    /^(Object\.(assign|defineProperty|defineProperties)|Reflect\.set)$/.test(node.expression.getText()) &&
    node.arguments[0]
  )
    return strip(node.arguments[0]);
  if (
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    MUTATORS.test(node.expression.name.text)
  )
    return strip(node.expression.expression);
  return undefined;
}

function rootOf(target: ts.Expression): ts.Identifier | undefined {
  let node = target;
  while (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) node = strip(node.expression);
  return ts.isIdentifier(node) ? node : undefined;
}

/** A value worked out once and kept: filled only where it is not there yet. */
function isCache(evaluator: Evaluator, node: ts.Node, root: ts.Identifier, frame: Frame): boolean {
  if (ts.isBinaryExpression(node)) {
    if (ofThisEpisode(evaluator, node.right, frame)) return false;
    const once = [ts.SyntaxKind.QuestionQuestionEqualsToken, ts.SyntaxKind.BarBarEqualsToken].includes(
      node.operatorToken.kind,
    );
    const guarded = conditionsOf(node, enclosingFunction(node)).some((each) => asksFor(each.expression, root.text));
    if (once || (guarded && node.operatorToken.kind === ts.SyntaxKind.EqualsToken))
      return !usesLocals(evaluator, node.right) || ts.isElementAccessExpression(strip(node.left));
    return false;
  }
  return (
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    node.expression.name.text === 'set' &&
    conditionsOf(node, enclosingFunction(node)).some((each) => asksFor(each.expression, root.text))
  );
}

/** Whether an expression tells of the episode that was just played: no later one may have it. */
function ofThisEpisode(evaluator: Evaluator, expression: ts.Expression, frame: Frame): boolean {
  let found = false;
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && !(ts.isPropertyAccessExpression(node.parent) && node.parent.name === node)) {
      const declaration = evaluator.scopes.resolve(node);
      if (declaration && !ts.isSourceFile(enclosingFunction(declaration)) && !isWithin(declaration, expression)) {
        const value = evaluator.value(node, frame);
        const part = ts.isPropertyAccessExpression(node.parent) ? node.parent.name.text : '';
        const isOutput = value.object?.properties.has('readText') === true && part !== 'episode';
        if (isOutput || value.from & (FROM.record | FROM.planner | FROM.acts)) found = true;
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(expression);
  return found;
}

function asksFor(expression: ts.Expression, name: string): boolean {
  const names = derivedNames(expression.getSourceFile(), [name]);
  const has = (node: ts.Node): boolean =>
    (ts.isIdentifier(node) && names.includes(node.text)) ||
    (ts.forEachChild(node, (child) => has(child) || undefined) ?? false);
  return has(expression);
}

/** Whether an expression depends on anything of the call it stands in. */
function usesLocals(evaluator: Evaluator, node: ts.Node): boolean {
  let found = false;
  const visit = (each: ts.Node): void => {
    if (ts.isIdentifier(each) && !(ts.isPropertyAccessExpression(each.parent) && each.parent.name === each)) {
      const declaration = evaluator.scopes.resolve(each);
      if (declaration && !ts.isSourceFile(enclosingFunction(declaration)) && !isWithin(declaration, node)) found = true;
    }
    ts.forEachChild(each, visit);
  };
  visit(node);
  return found;
}

function isWithin(node: ts.Node, outer: ts.Node): boolean {
  return node.pos >= outer.pos && node.end <= outer.end;
}
