/** The language server of this window: started lazily with the extension, restarted one at a time. */
import {
  type CancellationToken,
  type CodeLens,
  type Diagnostic,
  type LogOutputChannel,
  l10n,
  type TextDocument,
  type Uri,
  workspace,
} from 'vscode';
import {
  type Executable,
  type LanguageClient,
  type LanguageClientOptions,
  type ProvideCodeLensesSignature,
  RevealOutputChannelOn,
  TransportKind,
} from 'vscode-languageclient/node';
import type { AdapterCheck } from '../../protocol/daemon.ts';
import {
  ADAPTER_FILES,
  CHECK_RESULTS_REQUEST,
  COMMANDS,
  CONFIG_FILES,
  DISPLAY_NAME,
  SECTION,
  SETTINGS,
} from '../ids.ts';
import { tellError } from '../messages.ts';
import { programPath, RUN_AS_NODE, runtime } from '../programs.ts';
import { nodePath } from '../settings.ts';
import { openSetting } from '../wrong-settings.ts';
import { coalesced } from './coalesced.ts';
import { isAdapterName, speaksOfUs } from './documents.ts';
import { quietClient } from './quiet-client.ts';
import { type StartFailure, startFailure } from './start-failure.ts';

const KNOWN_COMMANDS = new Set<string>(Object.values(COMMANDS));

export class LanguageServer {
  private readonly module: string;
  private readonly log: LogOutputChannel;
  private client: LanguageClient | undefined;
  private stopped = false;

  constructor(extension: Uri, log: LogOutputChannel) {
    this.module = programPath(extension, 'language-server');
    this.log = log;
  }

  /** Starts the server, or starts it anew. Tells the user when it cannot be started; never throws. */
  readonly restart = coalesced(async () => {
    await this.end();
    if (this.stopped) return;
    const client = quietClient(SECTION, DISPLAY_NAME, this.program(), this.options());
    this.client = client;
    try {
      await client.start();
      this.log.info('the language server has started');
    } catch (error) {
      this.tellFailure(reasonOf(startFailure(error)));
    }
  });

  /** Shows what an adapter makes of recorded outputs at its fields. Without a server nothing is shown. */
  async showCheck(adapter: Uri, results: AdapterCheck): Promise<void> {
    const { client } = this;
    if (!client?.isRunning()) return;
    const uri = client.code2ProtocolConverter.asUri(adapter);
    await client.sendRequest(CHECK_RESULTS_REQUEST, { uri, results });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.end();
  }

  private tellFailure(reason: string): void {
    this.log.error(`the language server could not be started: ${reason}`);
    const logs = l10n.t('Show Logs');
    const settings = l10n.t('Open Settings');
    const message = l10n.t('AgenticRoboRL: the language server could not be started: {0}', reason);
    // Only the user's own Node can be mended there.
    const ways = nodePath() === undefined ? [logs] : [settings, logs];
    void tellError(message, ...ways).then((chosen) => {
      if (chosen === logs) this.log.show();
      if (chosen === settings) void openSetting(SETTINGS.nodePath);
    });
  }

  private async end(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    // One that has not started, or has died, cannot be stopped; it is gone either way.
    await client?.dispose().catch((error: Error) => this.log.debug(`ending the language server: ${error.message}`));
  }

  /** The server in a process of its own: the user's Node, or the editor's program told to be Node. */
  private program(): Executable {
    return {
      command: runtime(),
      args: [this.module],
      transport: TransportKind.stdio,
      options: { env: { ...process.env, ...RUN_AS_NODE } },
    };
  }

  private options(): LanguageClientOptions {
    return {
      documentSelector: [CONFIG_FILES, ADAPTER_FILES].map((pattern) => ({ scheme: 'file', pattern })),
      outputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      middleware: {
        handleDiagnostics: (uri, diagnostics, next) => next(uri, this.ours(uri) ? diagnostics : noDiagnostics),
        provideCodeLenses: (document, token, next) => knownLenses(document, token, next),
      },
    };
  }

  /** Other projects, too, have files called `*.adapter.ts`. */
  private ours(uri: Uri): boolean {
    if (!isAdapterName(uri.path)) return true;
    const document = workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
    return document === undefined || speaksOfUs(document.getText());
  }
}

const noDiagnostics: Diagnostic[] = [];

/** Lenses whose commands this version has. */
async function knownLenses(
  document: TextDocument,
  token: CancellationToken,
  next: ProvideCodeLensesSignature,
): Promise<CodeLens[] | null | undefined> {
  const lenses = await next(document, token);
  return lenses?.filter(({ command }) => command === undefined || KNOWN_COMMANDS.has(command.command));
}

function reasonOf(failure: StartFailure): string {
  switch (failure.why) {
    case 'no-program':
      return l10n.t('there is no program {0}', failure.program);
    case 'not-permitted':
      return l10n.t('the program {0} may not be run', failure.program);
    case 'ended':
      return l10n.t('its program ended before it answered');
    case 'unknown':
      return l10n.t('no reason was given');
    case 'other':
      return failure.words;
  }
}
