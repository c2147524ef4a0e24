/** A language server as a process, driven over stdio; two servers are driven alike. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import {
  ConfigurationRequest,
  createProtocolConnection,
  type Diagnostic,
  DidChangeConfigurationNotification,
  DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification,
  InitializedNotification,
  InitializeRequest,
  type ProtocolConnection,
  PublishDiagnosticsNotification,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';

/** Longest wait for findings, milliseconds. */
const PATIENCE = 60_000;

export class LspProbe {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #connection: ProtocolConnection;
  readonly #settings: Record<string, unknown>;
  #version = 1;
  #look: ((diagnostics: Diagnostic[]) => void) | undefined;

  /** @param settings what the server is told when it asks for its configuration. */
  constructor(script: string, settings: Record<string, unknown> = {}) {
    this.#settings = settings;
    this.#process = spawn(process.execPath, [script, '--stdio']);
    this.#process.stderr.resume();
    this.#connection = createProtocolConnection(
      new StreamMessageReader(this.#process.stdout),
      new StreamMessageWriter(this.#process.stdin),
    );
    this.#connection.onNotification(PublishDiagnosticsNotification.type, ({ diagnostics }) =>
      this.#look?.(diagnostics),
    );
    this.#connection.onRequest(ConfigurationRequest.type, ({ items }) =>
      items.map(({ section }) => (section === undefined ? settings : (settings[section] ?? {}))),
    );
    this.#connection.onRequest('client/registerCapability', () => null);
    this.#connection.listen();
  }

  async start(): Promise<void> {
    await this.#connection.sendRequest(InitializeRequest.type, {
      processId: process.pid,
      rootUri: null,
      capabilities: { workspace: { configuration: true }, textDocument: { publishDiagnostics: {} } },
    });
    await this.#connection.sendNotification(InitializedNotification.type, {});
    if (Object.keys(this.#settings).length > 0)
      await this.#connection.sendNotification(DidChangeConfigurationNotification.type, { settings: this.#settings });
  }

  /** Opens a document; resolves when findings as wished for are published. */
  open(uri: string, languageId: string, text: string, wished: (found: Diagnostic[]) => boolean): Promise<void> {
    const published = this.#until(wished);
    void this.#connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId, version: this.#version, text },
    });
    return published;
  }

  /** Replaces characters of a line; resolves with the milliseconds until findings as wished for were published. */
  async change(
    uri: string,
    line: number,
    [from, to]: [number, number],
    text: string,
    wished: (found: Diagnostic[]) => boolean,
  ): Promise<number> {
    const published = this.#until(wished);
    const started = performance.now();
    void this.#connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version: ++this.#version },
      contentChanges: [{ range: { start: { line, character: from }, end: { line, character: to } }, text }],
    });
    await published;
    return performance.now() - started;
  }

  #until(wished: (found: Diagnostic[]) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no such findings in a minute')), PATIENCE);
      this.#look = (diagnostics) => {
        if (!wished(diagnostics)) return;
        this.#look = undefined;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Memory in use, megabytes. */
  memory(): number {
    const status = readFileSync(`/proc/${this.#process.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1000;
  }

  /** Processor time so far, all threads, milliseconds. */
  processorTime(): number {
    const fields = readFileSync(`/proc/${this.#process.pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }

  end(): void {
    this.#connection.dispose();
    this.#process.kill('SIGKILL');
  }
}
