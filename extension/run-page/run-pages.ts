/** The open run pages of a window: one a run, brought back after a reload. */
import {
  Disposable,
  type LogOutputChannel,
  l10n,
  Uri,
  ViewColumn,
  type WebviewPanel,
  type WebviewPanelSerializer,
  window,
  workspace,
} from 'vscode';
import type { DaemonStatus } from '../daemon/client.ts';
import type { Folder, Folders } from '../folders.ts';
import { PANELS } from '../ids.ts';
import { plainLabel } from '../message-text.ts';
import { tell, tellProblem, tellWarning } from '../messages.ts';
import { showPage } from '../panel/panel-document.ts';
import { Conversation } from './conversation.ts';
import { readRestore } from './messages.ts';
import { recordedModel } from './recorded-source.ts';
import { RunPageSource } from './source.ts';
import { pageWords } from './wording.ts';

/** What a page is fed by. */
type PageSource = Pick<RunPageSource, 'model' | 'onChange' | 'dispose'>;
const NOTHING = { dispose: () => {} };

export class RunPages implements Disposable, WebviewPanelSerializer {
  private readonly files: Uri;
  private readonly folders: Folders;
  private readonly log: LogOutputChannel;
  private readonly panels = new Map<string, WebviewPanel>();
  private readonly serializer: Disposable;

  constructor(extension: Uri, folders: Folders, log: LogOutputChannel) {
    this.files = Uri.joinPath(extension, 'dist');
    this.folders = folders;
    this.log = log;
    this.serializer = window.registerWebviewPanelSerializer(PANELS.runPage, this);
  }

  /**
   * Shows a run's page, in front when it is open already. Starts the folder's daemon where there is none; in a workspace
   * that is not trusted, the run is only read.
   */
  async open(folder: Folder, run: string): Promise<void> {
    const known = this.panels.get(keyOf(folder, run));
    if (known) return known.reveal();
    const source = await this.follow(folder, run);
    const panel = window.createWebviewPanel(PANELS.runPage, titleOf(run), ViewColumn.Active, {
      enableFindWidget: true,
    });
    this.fill(panel, folder, run, source);
  }

  /** Called by the editor for a page that was open when the window was closed or reloaded. */
  async deserializeWebviewPanel(panel: WebviewPanel, state: unknown): Promise<void> {
    const restore = readRestore(state);
    const folder = this.folders.all.find(({ place }) => place.uri.toString() === restore?.folder);
    if (!restore || !folder) return panel.dispose();
    try {
      const source = await this.follow(folder, restore.run);
      this.fill(panel, folder, restore.run, source);
    } catch (error) {
      panel.dispose();
      const message = (error as Error).message;
      this.log.warn(`the page of ${restore.run} was not opened again: ${message}`);
      void tellWarning(l10n.t('The page of {0} could not be opened again: {1}', restore.run, message));
    }
  }

  dispose(): void {
    this.serializer.dispose();
    for (const panel of [...this.panels.values()]) panel.dispose();
  }

  private async follow({ client, place }: Folder, run: string): Promise<PageSource> {
    if (!workspace.isTrusted) {
      const directory = Uri.joinPath(place.uri, run).fsPath;
      const words = l10n.t(
        'The workspace is not trusted: this was read from the files of the run, as they were. Nothing is run, and planners are not compared.',
      );
      return { model: await recordedModel(directory, { run, words }), onChange: () => NOTHING, dispose: () => {} };
    }
    await client.start();
    return RunPageSource.open(client, run, {
      log: (text) => this.log.info(`${place.name}: ${text}`),
      connectionWords,
    });
  }

  private fill(panel: WebviewPanel, folder: Folder, run: string, source: PageSource): void {
    const key = keyOf(folder, run);
    this.panels.set(key, panel);
    const { webview } = panel;
    const restore = { folder: folder.place.uri.toString(), run };
    const conversation = new Conversation(source.model, pageWords(l10n), restore, {
      post: (message) => void webview.postMessage(message),
      save: (name, bytes) => void this.save(Uri.joinPath(folder.place.uri, name), bytes),
      log: (text) => this.log.warn(`${run}: ${text}`),
    });
    const belongings = Disposable.from(
      { dispose: () => conversation.dispose() },
      source,
      source.onChange(() => conversation.changed()),
      webview.onDidReceiveMessage((message: unknown) => conversation.hear(message)),
      panel.onDidChangeViewState(() => {
        // A hidden page is thrown away by the editor; it says that it is ready when it is made anew.
        if (!panel.visible) conversation.gone();
      }),
    );
    panel.onDidDispose(() => {
      if (this.panels.get(key) === panel) this.panels.delete(key);
      belongings.dispose();
    });
    showPage(panel, this.files, 'run-page');
  }

  private async save(proposed: Uri, bytes: Uint8Array): Promise<void> {
    try {
      const file = await window.showSaveDialog({ defaultUri: proposed });
      if (!file) return;
      await workspace.fs.writeFile(file, bytes);
      void tell(l10n.t('Saved {0}', workspace.asRelativePath(file)));
    } catch (error) {
      void tellProblem(error);
    }
  }
}

function keyOf({ place }: Folder, run: string): string {
  return `${place.uri.toString()} ${run}`;
}

function titleOf(run: string): string {
  return plainLabel(run.slice(run.lastIndexOf('/') + 1));
}

function connectionWords({ state }: DaemonStatus): string | null {
  switch (state) {
    case 'ready':
      return null;
    case 'starting':
    case 'reconnecting':
      return l10n.t('The connection to the daemon was lost; the run goes on. What follows is the last that was told.');
    default:
      return l10n.t('The daemon is not running. What follows is the last that it told.');
  }
}
