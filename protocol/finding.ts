/** One thing wrong (or doubtful) in a file a person wrote. Lines and columns count from 1; columns in UTF-16 units. */
export interface Finding {
  code: string;
  severity: 'error' | 'warning' | 'hint';
  message: string;
  file?: string;
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
  /** Key path in a config, for example `rl.clip.dual`. */
  path?: string;
}

/** `file:line:column: severity: message [code]`, the form compilers use and editors parse. */
export function formatFinding(finding: Finding): string {
  return `${finding.file ?? '<text>'}:${finding.line}:${finding.column}: ${finding.severity}: ${finding.message} [${finding.code}]`;
}
