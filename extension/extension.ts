/** The extension of one window: what it consists of, and in which order it comes and goes. */
import { type ExtensionContext, type LogOutputChannel, window, workspace } from 'vscode';
import { registerCommands } from './commands/table.ts';
import { DISPLAY_NAME, SECTION } from './ids.ts';
import { LanguageServer } from './language/language-server.ts';
import { affectsLanguageServer } from './settings.ts';

export class Extension {
  private readonly context: ExtensionContext;
  private readonly log: LogOutputChannel;
  private readonly language: LanguageServer;

  constructor(context: ExtensionContext) {
    this.context = context;
    this.log = window.createOutputChannel(DISPLAY_NAME, { log: true });
    this.language = new LanguageServer(context.extensionUri, this.log);
  }

  /** Never throws: what cannot be started says so, and the rest works. */
  async start(): Promise<void> {
    const { subscriptions, extension } = this.context;
    this.log.info(`version ${extension.packageJSON.version}, trusted workspace: ${workspace.isTrusted}`);
    subscriptions.push(
      this.log,
      registerCommands({ context: this.context, log: this.log, language: this.language }),
      workspace.onDidChangeConfiguration((change) => {
        if (!change.affectsConfiguration(SECTION)) return;
        if (affectsLanguageServer(change)) void this.language.restart();
      }),
    );
    await this.language.restart();
  }

  async stop(): Promise<void> {
    await this.language.stop();
  }
}
