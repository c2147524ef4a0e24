/** Findings that only the daemon can have (it runs the adapter), shown beside those of the language server. */

import { resolve } from 'node:path';
import { Diagnostic, type DiagnosticCollection, DiagnosticSeverity, languages, Range, Uri } from 'vscode';
import type { Finding } from '../../protocol/finding.ts';
import { DISPLAY_NAME } from '../ids.ts';

let shown: DiagnosticCollection | undefined;

/** A collection of its own, cleared by the next check. */
export function findingsCollection(): DiagnosticCollection {
  shown ??= languages.createDiagnosticCollection(DISPLAY_NAME);
  return shown;
}

/** @param folder what relative names start from. */
export function showFindings(findings: Finding[], folder: string): void {
  const collection = findingsCollection();
  collection.clear();
  const files = new Map<string, Diagnostic[]>();
  for (const finding of findings) {
    if (finding.file === undefined) continue;
    const uri = Uri.file(resolve(folder, finding.file));
    const at = new Range(finding.line - 1, finding.column - 1, finding.endLine - 1, finding.endColumn - 1);
    const known = languages
      .getDiagnostics(uri)
      .some(
        ({ code, range }) =>
          (typeof code === 'object' ? code.value : code) === finding.code && range.start.line === at.start.line,
      );
    if (known) continue;
    const diagnostic = new Diagnostic(at, finding.message, SEVERITIES[finding.severity]);
    diagnostic.source = DISPLAY_NAME;
    diagnostic.code = finding.code;
    files.set(uri.fsPath, [...(files.get(uri.fsPath) ?? []), diagnostic]);
  }
  for (const [file, diagnostics] of files) collection.set(Uri.file(file), diagnostics);
}

const SEVERITIES = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  hint: DiagnosticSeverity.Hint,
};
