/**
 * Checks adapters on recorded outputs: the daemon runs `outcome` on them, and what it gives appears at the five fields.
 * On save, where outputs are named by a `// @outputs ./recordings/*` line or the setting; or by the command.
 */
import {
  type Disposable,
  type LogOutputChannel,
  l10n,
  RelativePattern,
  type TextDocument,
  Uri,
  window,
  workspace,
} from 'vscode';
import type { AdapterCheck } from '../../protocol/daemon.ts';
import type { Folders } from '../folders.ts';
import { isAdapterName, speaksOfUs } from '../language/documents.ts';
import type { LanguageServer } from '../language/language-server.ts';
import { tell, tellWarning } from '../messages.ts';
import { adapterOutputs, checksOnSave } from '../settings.ts';
import { mayExecute } from '../trust.ts';
import type { LastChecks } from './last-checks.ts';
import { filesPattern, outputFolders, outputsNamedIn, splitPattern } from './outputs-text.ts';

/** As many as the daemon takes at a time. */
const MOST_OUTPUTS = 200;
const MOST_FILES = 10_000;

export class AdapterChecks implements Disposable {
  private readonly folders: Folders;
  private readonly language: LanguageServer;
  private readonly last: LastChecks;
  private readonly log: LogOutputChannel;
  private readonly subscription: Disposable;
  /** By adapter: a save during a check asks for one more. */
  private readonly running = new Map<string, { again: boolean }>();

  constructor(folders: Folders, language: LanguageServer, last: LastChecks, log: LogOutputChannel) {
    this.folders = folders;
    this.language = language;
    this.last = last;
    this.log = log;
    this.subscription = workspace.onDidSaveTextDocument((document) => void this.saved(document));
  }

  dispose(): void {
    this.subscription.dispose();
  }

  /** The command: checks, and says what came of it. Asks for folders where the adapter names none. */
  async checkNow(adapter: Uri): Promise<void> {
    if (!mayExecute()) return;
    const document = await workspace.openTextDocument(adapter);
    if (document.isDirty && !(await document.save())) return;
    let outputs = await this.outputsOf(document);
    if (outputs.length === 0) {
      const chosen = await window.showOpenDialog({
        canSelectFolders: true,
        canSelectFiles: false,
        canSelectMany: true,
        defaultUri: workspace.getWorkspaceFolder(adapter)?.uri,
        openLabel: l10n.t('Check'),
        title: l10n.t('Folders that episodes left behind'),
      });
      outputs = chosen?.map(({ fsPath }) => fsPath) ?? [];
    }
    if (outputs.length === 0) return;
    const { outputs: checked } = await this.check(document.uri, outputs);
    const wrong = checked.filter(({ problem }) => problem !== null);
    const words = l10n.t('{0} outputs checked, {1} with problems', checked.length, wrong.length);
    if (wrong.length === 0) void tell(words);
    else void tellWarning(`${words}: ${wrong[0].problem}`);
  }

  private async saved(document: TextDocument): Promise<void> {
    const { uri } = document;
    if (!workspace.isTrusted || !isAdapterName(uri.path) || !checksOnSave(uri)) return;
    if (!speaksOfUs(document.getText())) return;
    const key = uri.toString();
    const before = this.running.get(key);
    if (before) {
      before.again = true;
      return;
    }
    const state = { again: false };
    this.running.set(key, state);
    try {
      do {
        state.again = false;
        const outputs = await this.outputsOf(document);
        if (outputs.length > 0) await this.check(uri, outputs);
      } while (state.again);
    } catch (error) {
      // Half-written adapters fail; what is wrong with them is underlined.
      this.log.info(`${uri.fsPath} was not checked on its outputs: ${(error as Error).message}`);
    } finally {
      this.running.delete(key);
    }
  }

  private async check(adapter: Uri, outputs: string[]): Promise<AdapterCheck> {
    const folder = this.folders.containing(adapter);
    if (!folder) throw new Error(l10n.t('{0} lies in no folder of the workspace', adapter.fsPath));
    await folder.client.start();
    const key = adapter.toString();
    const asked = folder.client.request('adapter.check', { adapter: adapter.fsPath, outputs });
    const result = await asked.catch((error: Error) => {
      this.last.failed(key, error.message, new Date());
      throw error;
    });
    this.last.checked(key, result, new Date());
    await this.language.showCheck(adapter, result);
    return result;
  }

  /** Folders that the adapter, or the setting, names; at most as many as are checked at a time. */
  private async outputsOf(document: TextDocument): Promise<string[]> {
    const found = new Set<string>();
    const beside = Uri.joinPath(document.uri, '..');
    const { uri: root } = workspace.getWorkspaceFolder(document.uri) ?? {};
    const named = outputsNamedIn(document.getText()).map((pattern) => ({ from: beside, pattern }));
    const set = root ? adapterOutputs(document.uri).map((pattern) => ({ from: root, pattern })) : [];
    for (const { from, pattern } of [...named, ...set]) {
      const { base, rest } = splitPattern(pattern);
      const folder = Uri.joinPath(from, base);
      const files = await workspace.findFiles(new RelativePattern(folder, filesPattern(rest)), null, MOST_FILES);
      const relative = files.map(({ path }) => path.slice(folder.path.length + 1));
      for (const output of outputFolders(relative, rest)) found.add(Uri.joinPath(folder, output).fsPath);
    }
    return [...found].slice(0, MOST_OUTPUTS);
  }
}
