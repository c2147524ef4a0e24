/** The built language server as a child process, driven over stdio with Microsoft's client library. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import {
  createProtocolConnection,
  type Diagnostic,
  DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification,
  ExitNotification,
  InitializedNotification,
  InitializeRequest,
  type ProtocolConnection,
  PublishDiagnosticsNotification,
  type PublishDiagnosticsParams,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';
import { bundlePath } from '../../trainer-daemon/bundles.ts';

export class LanguageClient {
  readonly process: ChildProcessWithoutNullStreams;
  readonly connection: ProtocolConnection;
  readonly published: PublishDiagnosticsParams[] = [];
  readonly #watchers = new Set<() => void>();
  readonly exited: Promise<number | null>;

  constructor() {
    this.process = spawn(process.execPath, [bundlePath('language-server'), '--stdio']);
    this.exited = new Promise((done) => this.process.on('exit', done));
    this.connection = createProtocolConnection(
      new StreamMessageReader(this.process.stdout),
      new StreamMessageWriter(this.process.stdin),
    );
    this.connection.onNotification(PublishDiagnosticsNotification.type, (parameters) => {
      this.published.push(parameters);
      for (const look of this.#watchers) look();
    });
    this.connection.listen();
  }

  async start(): Promise<void> {
    await this.connection.sendRequest(InitializeRequest.type, {
      processId: process.pid,
      rootUri: null,
      capabilities: { textDocument: { publishDiagnostics: { versionSupport: true } } },
    });
    await this.connection.sendNotification(InitializedNotification.type, {});
  }

  async open(uri: string, text: string, version = 1): Promise<void> {
    const textDocument = { uri, languageId: /\.[cm]?[jt]s$/.test(uri) ? 'typescript' : 'yaml', version, text };
    await this.connection.sendNotification(DidOpenTextDocumentNotification.type, { textDocument });
  }

  /** Puts a text at a place. */
  async insert(uri: string, version: number, line: number, character: number, text: string): Promise<void> {
    const at = { line, character };
    await this.connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version },
      contentChanges: [{ range: { start: at, end: at }, text }],
    });
  }

  /** Findings of a version of a document. */
  findings(uri: string, version: number): Promise<Diagnostic[]> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.published.find((one) => one.uri === uri && one.version === version);
        if (!found) return;
        this.#watchers.delete(look);
        resolve(found.diagnostics);
      };
      this.#watchers.add(look);
      this.exited.then(() => reject(new Error('the server ended')));
      look();
    });
  }

  async end(): Promise<number | null> {
    await this.connection.sendRequest(ShutdownRequest.type);
    await this.connection.sendNotification(ExitNotification.type);
    return this.exited;
  }
}
