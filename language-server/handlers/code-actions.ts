/** Quick fixes of findings, and one action that mends everything that can be mended safely. */
import { type CodeAction, CodeActionKind, type CodeActionParams, type Diagnostic } from 'vscode-languageserver';
import type { Finding, Range, TextEdit } from '../service/contract.ts';

/** @param toDiagnostic gives the diagnostic a fix belongs to, as it was published. */
export function codeActions(
  { textDocument: { uri }, range, context }: CodeActionParams,
  findings: readonly Finding[],
  toDiagnostic: (finding: Finding) => Diagnostic,
): CodeAction[] {
  const wanted = (kind: string) => !context.only || context.only.some((only) => `${kind}.`.startsWith(`${only}.`));
  const actions: CodeAction[] = [];
  if (wanted(CodeActionKind.QuickFix))
    for (const finding of findings) {
      if (!finding.fix || !touch(finding.range, range)) continue;
      actions.push({
        title: finding.fix.title,
        kind: CodeActionKind.QuickFix,
        diagnostics: [toDiagnostic(finding)],
        isPreferred: finding.fix.safe,
        edit: { changes: { [uri]: finding.fix.edits } },
      });
    }
  const edits = safeEdits(findings);
  if (context.only && wanted(CodeActionKind.SourceFixAll) && edits.length > 0)
    actions.push({
      title: 'Mend what can be mended safely',
      kind: `${CodeActionKind.SourceFixAll}.agenticRoboRL`,
      edit: { changes: { [uri]: edits } },
    });
  return actions;
}

/** Edits of all safe fixes; of two that overlap the first. */
function safeEdits(findings: readonly Finding[]): TextEdit[] {
  const edits: TextEdit[] = [];
  for (const { fix } of findings)
    if (fix?.safe && !fix.edits.some((edit) => edits.some((other) => touch(edit.range, other.range))))
      edits.push(...fix.edits);
  return edits;
}

function touch(a: Range, b: Range): boolean {
  const before = (x: Range['start'], y: Range['start']) =>
    x.line < y.line || (x.line === y.line && x.character <= y.character);
  return before(a.start, b.end) && before(b.start, a.end);
}
