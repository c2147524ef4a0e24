/** One client's session: documents in, findings and answers out. Holds no transport of its own. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type CancellationToken,
  type Connection,
  type Diagnostic,
  DidChangeWatchedFilesNotification,
  ErrorCodes,
  LSPErrorCodes,
  MarkupKind,
  ResponseError,
  TextDocumentSyncKind,
  TextDocuments,
} from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { adapterFindingsOf, adapterService, optionsFor } from './handlers/adapter-handlers.ts';
import { CHECK_RESULTS_METHOD, CheckResults } from './handlers/check-results.ts';
import { CheckpointLooks } from './handlers/checkpoints.ts';
import { codeActions } from './handlers/code-actions.ts';
import { completions, definition, folding, OpenConfigs, symbols } from './handlers/config-handlers.ts';
import { DiagnosticsQueue, type Published, toDiagnostic } from './handlers/diagnostics.ts';
import { readShipped } from './handlers/surroundings.ts';
import { type DocumentKind, kindOf } from './handlers/workspace-files.ts';
import { configHover, configInlays } from './service/configs/index.ts';
import { type Finding, findingPage } from './service/contract.ts';

/** @param dist the folder of the built programs: the shipped adapters' lists lie there, the pages of findings above it. */
export function serve(connection: Connection, dist: string): void {
  const documents = new TextDocuments(TextDocument);
  const checkpoints = new CheckpointLooks(
    join(dist, 'checkpoint-inspection.mjs'),
    () => lookAgain(),
    (reason) => connection.console.warn(reason),
  );
  const configs = new OpenConfigs(readShipped(dist), checkpoints);
  const results = new CheckResults();
  const page = pagesIn(dirname(dist));
  const diagnosticOf = (finding: Finding): Diagnostic => toDiagnostic(finding, page);

  const findingsOf = async (document: TextDocument): Promise<Finding[]> => {
    const kind = kindOf(document.uri);
    if (kind === 'config') return configs.findings(document);
    return kind === 'adapter' ? adapterFindingsOf(await adapterService(), document, results) : [];
  };
  const examine = async (uri: string): Promise<Published> => {
    const document = documents.get(uri);
    if (!document) return undefined;
    const { version } = document;
    return { version, diagnostics: (await findingsOf(document)).map(diagnosticOf) };
  };
  const queue = new DiagnosticsQueue(connection, examine);

  /**
   * Answers a request about a document: after what has already arrived, so that a cancellation or a change that was
   * sent right behind it counts.
   */
  const answer =
    <P extends { textDocument: { uri: string } }, R>(
      none: R,
      respond: (document: TextDocument, kind: DocumentKind, params: P) => R | Promise<R>,
    ) =>
    async (params: P, token: CancellationToken): Promise<R | ResponseError<void>> => {
      const document = documents.get(params.textDocument.uri);
      const kind = kindOf(params.textDocument.uri);
      if (!document || !kind) return none;
      const { version } = document;
      await new Promise((resume) => setImmediate(resume));
      if (token.isCancellationRequested) return new ResponseError(LSPErrorCodes.RequestCancelled, 'cancelled');
      if (document.version !== version) return new ResponseError(LSPErrorCodes.ContentModified, 'the text has changed');
      return respond(document, kind, params);
    };

  let watches = false;
  connection.onInitialize(({ capabilities }) => {
    watches = capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration === true;
    return {
      capabilities: {
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
        completionProvider: { triggerCharacters: [':', ' ', '{', '[', ',', '"', '-', '/'] },
        hoverProvider: true,
        documentSymbolProvider: true,
        foldingRangeProvider: true,
        definitionProvider: true,
        codeActionProvider: { codeActionKinds: ['quickfix', 'source.fixAll.agenticRoboRL'] },
        inlayHintProvider: true,
        codeLensProvider: {},
      },
      serverInfo: { name: 'agentic-robo-rl' },
    };
  });
  connection.onInitialized(() => {
    if (!watches) return;
    // Adapters and checkpoints that configs name come and go.
    const watchers = [
      '**/*.adapter.*',
      '**/*config.json',
      '**/tokenizer.json',
      '**/chat_template.jinja',
      '**/*.safetensors',
    ].map((globPattern) => ({ globPattern }));
    connection.client.register(DidChangeWatchedFilesNotification.type, { watchers }).catch(() => {});
  });
  const lookAgain = () => {
    configs.forgetFindings();
    for (const document of documents.all()) queue.changed(document.uri);
  };
  connection.onDidChangeWatchedFiles(lookAgain);
  documents.onDidSave(lookAgain);
  // The first findings of a document do not wait.
  documents.onDidOpen(({ document }) => kindOf(document.uri) && queue.changed(document.uri, 0));
  documents.onDidChangeContent(({ document }) => {
    if (kindOf(document.uri) && document.version !== opened.get(document.uri)) queue.changed(document.uri);
  });
  const opened = new Map<string, number>();
  documents.onDidClose(({ document: { uri } }) => {
    if (!kindOf(uri)) return;
    opened.delete(uri);
    configs.close(uri);
    results.forget(uri);
    queue.closed(uri);
  });
  documents.onDidOpen(({ document }) => opened.set(document.uri, document.version));

  connection.onCompletion(
    answer(
      null,
      (document, kind, { position }: { textDocument: { uri: string }; position: Finding['range']['start'] }) =>
        kind === 'config' ? completions(configs.of(document), position) : null,
    ),
  );
  connection.onHover(
    answer(null, async (document, kind, { position }) => {
      const hover =
        kind === 'config'
          ? configHover(configs.of(document).config, position)
          : (await adapterService()).adapterHover(document.getText(), position, optionsFor(document.uri));
      return hover ? { contents: { kind: MarkupKind.Markdown, value: hover.contents }, range: hover.range } : null;
    }),
  );
  connection.onDocumentSymbol(
    answer(null, (document, kind) => (kind === 'config' ? symbols(configs.of(document)) : null)),
  );
  connection.onFoldingRanges(
    answer(null, (document, kind) => (kind === 'config' ? folding(configs.of(document)) : null)),
  );
  connection.onDefinition(
    answer(null, (document, kind, { position }) =>
      kind === 'config' ? definition(configs.of(document), document.uri, position) : null,
    ),
  );
  connection.onCodeAction(
    answer(null, async (document, _kind, params) => codeActions(params, await findingsOf(document), diagnosticOf)),
  );
  connection.onCodeLens(
    answer(null, async (document, kind) => {
      if (kind !== 'adapter') return null;
      const { uri } = document;
      const lenses = (await adapterService()).adapterLenses(document.getText(), optionsFor(uri));
      return lenses.map(({ range, title, command, arguments: words }) => ({
        range,
        command: { title, command, arguments: [uri, ...words] },
      }));
    }),
  );
  connection.languages.inlayHint.on(
    answer(null, async (document, kind, { range }) => {
      const { uri } = document;
      const hints =
        kind === 'config'
          ? configInlays(configs.of(document).config, configs.of(document).around)
          : (await adapterService()).adapterInlays(document.getText(), results.of(uri), optionsFor(uri));
      return hints
        .filter(({ position: { line } }) => line >= range.start.line && line <= range.end.line)
        .map((hint) => ({ ...hint, paddingLeft: true }));
    }),
  );
  connection.onRequest(CHECK_RESULTS_METHOD, (parameters: unknown) => {
    let uri: string;
    try {
      uri = results.accept(parameters);
    } catch (error) {
      return new ResponseError(ErrorCodes.InvalidParams, `not results of check-adapter: ${(error as Error).message}`);
    }
    queue.changed(uri, 0);
    connection.languages.inlayHint.refresh().catch(() => {}); // Not every client can.
    return { accepted: true };
  });
  connection.onShutdown(() => {
    queue.close();
    checkpoints.close();
  });
  documents.listen(connection);
  connection.listen();
}

/** URIs of the pages that explain findings, where they come with the package. */
function pagesIn(packageFolder: string): (code: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (code) => {
    if (!known.has(code)) {
      const file = join(packageFolder, findingPage(code));
      known.set(code, existsSync(file) ? pathToFileURL(file).href : undefined);
    }
    return known.get(code);
  };
}
