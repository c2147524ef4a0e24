/**
 * What the language server's services give to the thin LSP handlers and to the command line. Places count from 0,
 * columns in UTF-16 units, as the Language Server Protocol has them. Nothing here touches files or a connection.
 */
import type { Outcome } from '../../protocol/adapter.ts';
import type { Finding as FileFinding } from '../../protocol/finding.ts';

/** Zero-based line and UTF-16 column. */
export interface Position {
  line: number;
  character: number;
}

/** From `start` up to, not including, `end`. */
export interface Range {
  start: Position;
  end: Position;
}

export interface TextEdit {
  range: Range;
  newText: string;
}

/** A change that mends a finding. `safe` ones keep the meaning of everything else and may be applied to a whole file. */
export interface Fix {
  title: string;
  edits: TextEdit[];
  safe: boolean;
}

export type Severity = 'error' | 'warning' | 'hint';

/** One thing wrong (or doubtful) in a text. */
export interface Finding {
  /** Kebab-case; also the name of its page, `docs/findings/<code>.md`. */
  code: string;
  severity: Severity;
  message: string;
  range: Range;
  fix?: Fix;
}

export interface Hover {
  /** Markdown. */
  contents: string;
  range: Range;
}

/** A line above a place in the text. The handler puts the document's URI before `arguments`. */
export interface CodeLens {
  range: Range;
  title: string;
  /** Id of a command of the extension. */
  command: string;
  arguments: unknown[];
}

export interface InlayHint {
  position: Position;
  label: string;
  tooltip?: string;
}

/** What one recorded output became, as `check-adapter --json` prints it. */
export interface AdapterCheckOutput {
  directory: string;
  /** Whether the folder says what was asked; without it task, init and attempt cannot be compared. */
  known: boolean;
  outcome: Outcome | null;
  /** Why there is no outcome, or what is wrong with it. */
  problem: string | null;
  remark: string | null;
}

/** The document `check-adapter --json` prints. A client may send it for an open adapter. */
export interface AdapterCheckResult {
  ok: boolean;
  adapter: { name: string; file: string; sha256: string; hasScriptedTeacher: boolean; tasks: Record<string, string[]> };
  outputs: AdapterCheckOutput[];
}

export interface AdapterOptions {
  /** Decides the grammar (`.mjs`, `.js`: JavaScript; otherwise TypeScript). Default `adapter.ts`. */
  fileName?: string;
  /**
   * Also give the grammar's errors as findings. For the command line: in an editor TypeScript's own server shows them.
   */
  syntaxErrors?: boolean;
  /** Longest time for one analysis, milliseconds. Default 2000. Beyond it one finding says that the rest is unchecked. */
  budget?: number;
}

/** The adapter services, implemented in `adapters/index.ts`. None throws, whatever the text is. */
export interface AdapterService {
  /** In the order of the text; at most 100. */
  adapterFindings(text: string, options?: AdapterOptions): Finding[];
  /** What the paper means by the field under the position, and where the shipped harnesses take it from. */
  adapterHover(text: string, position: Position, options?: AdapterOptions): Hover | undefined;
  /** `Check on recorded outputs | Run one episode | Train`, above the adapter's object. */
  adapterLenses(text: string, options?: AdapterOptions): CodeLens[];
  /** At each of the five fields: what it became on recorded outputs, marked when the text has changed since. */
  adapterInlays(text: string, check?: AdapterCheckResult, options?: AdapterOptions): InlayHint[];
  /** An error at the field that a recorded output breaks; none once the text has changed. */
  adapterCheckFindings(text: string, check: AdapterCheckResult, options?: AdapterOptions): Finding[];
}

/** Page of a finding's explanation, relative to the package. */
export function findingPage(code: string): string {
  return `docs/findings/${code}.md`;
}

/** The form the command line prints: lines and columns from 1, the file's name with it. */
export function toFileFinding({ code, severity, message, range }: Finding, file: string): FileFinding {
  return {
    code,
    severity,
    message,
    file,
    line: range.start.line + 1,
    column: range.start.character + 1,
    endLine: range.end.line + 1,
    endColumn: range.end.character + 1,
  };
}
