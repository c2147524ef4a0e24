/** Half-typed places that parse all the same, because what follows was taken for their rest. */
import ts from 'typescript6';
import type { Gap } from './syntax.ts';

const MOST = 100;

/**
 * Lines that end in the middle of something, `o.` or `reward:`, and take the next line for the rest of it although that
 * begins no deeper, or although they stand outside their own block; names without anything; comments that swallowed
 * another. No formatter writes so, a person on the way does.
 * @throws RangeError when the tree is too deep for the stack.
 */
export function unfinishedPlaces(source: ts.SourceFile, text: string): Gap[] {
  const found: Gap[] = [];
  const nested = nestsComments(text);
  const add = (start: number, after: number): void => {
    if (found.length < MOST) found.push({ start, end: start, after });
  };
  const check = (end: number, next: ts.Node): void => {
    const start = next.getStart(source);
    if (end <= 0 || !text.slice(end, start).includes('\n')) return;
    if (indentOf(text, start) <= indentOf(text, end) || isOutside(next, end, source, text)) add(start, end);
  };
  const visit = (node: ts.Node): void => {
    if (nested && node.parent && (ts.isSourceFile(node.parent) || node.pos !== node.parent.pos))
      for (const { pos, end } of ts.getLeadingCommentRanges(text, node.pos) ?? [])
        if (hasOpening(text.slice(pos + 2, end))) found.push({ start: 0, end: text.length, after: 0 });
    if (ts.isPropertyAccessExpression(node)) check(node.name.pos, node.name);
    // A name before a list in a list of lists asks for one of its elements.
    else if (ts.isElementAccessExpression(node)) check(node.expression.end, node.argumentExpression);
    // No value of a list has this name; a function is to follow it.
    else if (ts.isIdentifier(node) && node.text === 'async' && ts.isArrayLiteralExpression(node.parent))
      add(node.end, node.getStart(source));
    else if (ts.isPropertyAssignment(node)) check(node.initializer.pos, node.initializer);
    else if (ts.isVariableDeclaration(node) && node.initializer) check(node.initializer.pos, node.initializer);
    // `reward:` or `a =` before the next member of a class.
    else if (ts.isPropertyDeclaration(node))
      for (const part of [node.type, node.initializer].filter((each) => each !== undefined)) check(part.pos, part);
    else if (ts.isExpressionStatement(node) && ts.isIdentifier(node.expression) && text[node.end - 1] !== ';')
      add(node.end, node.getStart(source));
    else if (
      ts.isReturnStatement(node) &&
      text[node.end - 1] !== ';' &&
      (isFollowed(node) || (!node.expression && writesSemicolons(source, text)))
    )
      add(node.end, node.getStart(source));
    else if (ts.isNewExpression(node)) check(node.expression.pos, node.expression);
    else if (ts.isLabeledStatement(node)) check(node.statement.pos, node.statement);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function indentOf(text: string, at: number): number {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', at - 1) + 1, at))?.[0].length ?? 0;
}

/** Whether a line within a block of several lines stands no deeper than the line that opens the block. */
function isOutside(node: ts.Node, at: number, source: ts.SourceFile, text: string): boolean {
  let block = node.parent;
  while (block && !holdsLines(block)) block = block.parent;
  if (!block) return false;
  const open = block.getStart(source);
  const opened = text.slice(open, at).includes('\n');
  return (
    opened && indentOf(text, at) <= indentOf(text, open) && indentOf(text, node.getStart(source)) > indentOf(text, open)
  );
}

function holdsLines(node: ts.Node): boolean {
  return (
    ts.isBlock(node) || ts.isObjectLiteralExpression(node) || ts.isArrayLiteralExpression(node) || ts.isClassLike(node)
  );
}

/** Whether a file ends its statements in semicolons, so that one without is on its way. */
function writesSemicolons(source: ts.SourceFile, text: string): boolean {
  const ending = source.statements.filter(
    (each) => ts.isImportDeclaration(each) || ts.isExportAssignment(each) || ts.isVariableStatement(each),
  );
  return ending.some((each) => text[each.end - 1] === ';');
}

/** A return without its semicolon that more follows: what it gives may have been cut in two. */
function isFollowed(node: ts.ReturnStatement): boolean {
  if (!ts.isBlock(node.parent)) return false;
  const { statements } = node.parent;
  return statements.slice(statements.indexOf(node) + 1).some((each) => !ts.isFunctionDeclaration(each));
}

/** Whether a comment may have another one in it; a text in quotes may look so, too. */
function nestsComments(text: string): boolean {
  for (let at = text.indexOf('/*'); at >= 0; ) {
    const end = text.indexOf('*/', at + 2);
    if (end < 0) return false;
    if (hasOpening(text.slice(at + 2, end))) return true;
    at = text.indexOf('/*', end + 2);
  }
  return false;
}

/** A comment begins on a line of its own, which is no pattern of file names. */
function hasOpening(comment: string): boolean {
  return /\n[ \t]*\/\*/.test(comment);
}
