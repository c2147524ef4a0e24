/** Findings as a person or an editor's problem matcher reads them. */
import type { Finding } from '../../protocol/finding.ts';
import { plural } from './format.ts';
import type { Painter } from './terminal.ts';

/** `file:line:column: error: sentence [code]`, coloured where the painter colours. */
export function findingLine(finding: Finding, paint: Painter): string {
  const severity = { error: paint.red('error'), warning: paint.yellow('warning'), hint: paint.dim('hint') };
  return `${paint.bold(`${finding.file}:${finding.line}:${finding.column}:`)} ${severity[finding.severity]}: ${finding.message} ${paint.dim(`[${finding.code}]`)}`;
}

/** `2 errors and 1 warning`; hints do not count. */
export function countFindings(findings: Finding[]): string {
  const of = (severity: Finding['severity']) => findings.filter((finding) => finding.severity === severity).length;
  const parts = [];
  if (of('error') > 0) parts.push(plural(of('error'), 'error'));
  if (of('warning') > 0) parts.push(plural(of('warning'), 'warning'));
  return parts.join(' and ') || 'no errors';
}

export function hasErrors(findings: Finding[]): boolean {
  return findings.some((finding) => finding.severity === 'error');
}
