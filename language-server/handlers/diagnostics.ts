/** Findings published for each document: a little after the last change, with the version they belong to. */
import { type CodeDescription, type Connection, type Diagnostic, DiagnosticSeverity } from 'vscode-languageserver';
import type { Finding } from '../service/contract.ts';

const SEVERITIES = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  hint: DiagnosticSeverity.Hint,
} as const;

/**
 * Milliseconds without a change before findings are published: as long as the last findings of the document took, within
 * these bounds. A quick text is so looked at nearly at once, a slow one not at every keystroke (those of a quick typist
 * are 60 ms apart).
 */
const QUIET = { least: 5, most: 30 };

/** @param page URI of a code's explanation. */
export function toDiagnostic(finding: Finding, page: (code: string) => string | undefined): Diagnostic {
  const { code, message, range, severity } = finding;
  const href = page(code);
  return {
    code,
    message,
    range,
    severity: SEVERITIES[severity],
    source: 'agentic-robo-rl',
    ...(href !== undefined && { codeDescription: { href } satisfies CodeDescription }),
  };
}

/** What is published of a document; undefined when it was closed meanwhile. */
export type Published = { version: number; diagnostics: Diagnostic[] } | undefined;

/**
 * One waiting publication a document; a later change replaces it. While a client is slow to read, nothing piles up:
 * the next findings of a document are made when the last ones have gone out.
 */
export class DiagnosticsQueue {
  readonly #connection: Connection;
  readonly #examine: (uri: string) => Promise<Published>;
  readonly #waiting = new Map<string, NodeJS.Timeout>();
  readonly #sending = new Set<string>();
  readonly #costs = new Map<string, number>();

  constructor(connection: Connection, examine: (uri: string) => Promise<Published>) {
    this.#connection = connection;
    this.#examine = examine;
  }

  changed(uri: string, wait = this.#quiet(uri)): void {
    clearTimeout(this.#waiting.get(uri));
    this.#waiting.set(
      uri,
      setTimeout(() => void this.#publish(uri), wait),
    );
  }

  #quiet(uri: string): number {
    return Math.min(QUIET.most, Math.max(QUIET.least, this.#costs.get(uri) ?? QUIET.most));
  }

  closed(uri: string): void {
    clearTimeout(this.#waiting.get(uri));
    this.#costs.delete(uri);
    this.#waiting.delete(uri);
    this.#connection.sendDiagnostics({ uri, diagnostics: [] }).catch(() => {});
  }

  close(): void {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }

  async #publish(uri: string): Promise<void> {
    if (this.#sending.has(uri)) {
      this.changed(uri);
      return;
    }
    this.#waiting.delete(uri);
    this.#sending.add(uri);
    try {
      const started = performance.now();
      const published = await this.#examine(uri);
      this.#costs.set(uri, performance.now() - started);
      // A change that came meanwhile has its own publication waiting.
      if (published && !this.#waiting.has(uri)) await this.#connection.sendDiagnostics({ uri, ...published });
    } catch (error) {
      // The connection is gone (it ends the process itself), or a defect: told, and the server goes on.
      this.#connection.console.error(`findings of ${uri} failed: ${(error as Error).stack}`);
    } finally {
      this.#sending.delete(uri);
    }
  }
}
