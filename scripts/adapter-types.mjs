// The adapter contract as a declaration file that stands alone: what New Adapter puts into a workspace, so that adapters
// are typed there without an installation.

import { readFileSync } from 'node:fs';
import ts from 'typescript6';

/** @param {string} file protocol/adapter.ts @returns {string} its interfaces, types and functions, without its schemas. */
export function adapterTypes(file) {
  const text = readFileSync(file, 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const parts = ["// Types of 'agentic-robo-rl' for adapters. Written by AgenticRoboRL for VS Code; changes are lost."];
  for (const statement of source.statements) {
    if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement))
      parts.push(whole(text, statement));
    else if (ts.isFunctionDeclaration(statement) && statement.body)
      parts.push(
        `${whole(text, statement, statement.body.pos)};`.replace('export function', 'export declare function'),
      );
  }
  return `${parts.join('\n\n')}\n`;
}

/** A statement with the comment before it, up to `end`. */
function whole(text, statement, end = statement.end) {
  const comments = ts.getLeadingCommentRanges(text, statement.getFullStart()) ?? [];
  const start = comments.length > 0 ? comments[comments.length - 1].pos : statement.getStart();
  return text.slice(start, end).trim();
}
