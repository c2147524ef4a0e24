/** The extension of one window: what it consists of, and in which order it comes and goes. */
import { commands, type ExtensionContext, type LogOutputChannel, tasks, window, workspace } from 'vscode';
import { AdapterChecks } from './adapters/adapter-check.ts';
import { LastChecks } from './adapters/last-checks.ts';
import { AdaptersTree } from './adapters/tree.ts';
import { findingsCollection } from './commands/findings.ts';
import { registerCommands } from './commands/table.ts';
import { Folders } from './folders.ts';
import { CONTEXTS, DISPLAY_NAME, LAST_CHECKS, SECTION, TASK_TYPE, VIEWS } from './ids.ts';
import { LanguageServer } from './language/language-server.ts';
import { PoliciesTree } from './policies/tree.ts';
import { Replay } from './replay/replay.ts';
import { ReplaySessions } from './replay/sessions.ts';
import { StagePanels } from './replay/stage/stage-panels.ts';
import { provideTranscripts } from './replay/transcript/index.ts';
import { RunPages } from './run-page/run-pages.ts';
import { tellEndings } from './runs/endings.ts';
import { FollowNewest } from './runs/follow.ts';
import { RunsTree } from './runs/tree.ts';
import { affectsLanguageServer, checkSettings } from './settings.ts';
import { StatusItem } from './status-item.ts';
import { CommandLineTasks } from './tasks/provider.ts';
import { provideTexts } from './texts.ts';
import { tellWrongSettings } from './wrong-settings.ts';

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
  start(): void {
    const { context, log, language } = this;
    const { subscriptions, extension, extensionUri } = context;
    const { version } = extension.packageJSON as { version: string };
    log.info(`version ${version}, trusted workspace: ${workspace.isTrusted}`);
    // Before anything reads a setting.
    subscriptions.push(tellWrongSettings(log));
    checkSettings();
    const folders = new Folders(extensionUri, version, log);
    const tree = new RunsTree(folders);
    const last = new LastChecks(context.workspaceState, LAST_CHECKS, (text) => log.warn(text));
    const checks = new AdapterChecks(folders, language, last, log);
    const adapters = new AdaptersTree(last);
    const view = window.createTreeView(VIEWS.runs, { treeDataProvider: tree, showCollapseAll: true });
    const follower = new FollowNewest(folders, tree, view, log);
    const policies = new PoliciesTree(folders);
    const policiesView = window.createTreeView(VIEWS.policies, { treeDataProvider: policies, showCollapseAll: true });
    const pages = new RunPages(extensionUri, folders, log);
    const sessions = new ReplaySessions((text) => log.warn(text));
    const replay = new Replay(sessions, log);
    const stages = new StagePanels(extensionUri, sessions, log);
    const { transcripts, subscription } = provideTranscripts(extensionUri, sessions, (text) => log.warn(text));
    subscriptions.push(
      log,
      folders,
      tree,
      checks,
      view,
      policies,
      policiesView,
      adapters,
      window.createTreeView(VIEWS.adapters, { treeDataProvider: adapters, showCollapseAll: true }),
      follower,
      pages,
      replay,
      stages,
      { dispose: () => void sessions.dispose() },
      subscription,
      new StatusItem(folders),
      findingsCollection(),
      registerCommands({
        context,
        log,
        language,
        folders,
        tree,
        runsView: view,
        follower,
        checks,
        pages,
        replay,
        sessions,
        stages,
        transcripts,
      }),
      provideTexts(),
      tellEndings(folders, log),
      tasks.registerTaskProvider(TASK_TYPE, new CommandLineTasks(extensionUri, log)),
      folders.onNews(() => {
        const training = folders.all.some(({ runs }) => runs.active !== undefined);
        const serving = folders.all.some(({ served }) => served.all.length > 0);
        const busy = folders.all.length > 0 && folders.all.every(({ runs }) => runs.active !== undefined);
        void commands.executeCommand('setContext', CONTEXTS.training, training);
        void commands.executeCommand('setContext', CONTEXTS.busy, busy);
        void commands.executeCommand('setContext', CONTEXTS.serving, serving);
      }),
      workspace.onDidGrantWorkspaceTrust(() => tree.refresh()),
      workspace.onDidChangeConfiguration((change) => {
        if (!change.affectsConfiguration(SECTION)) return;
        checkSettings();
        if (affectsLanguageServer(change)) void language.restart();
      }),
    );
    // Nobody waits for processes to start.
    void language.restart();
    void folders.attach();
  }

  /** Lets go of everything; runs go on in their daemons. */
  async stop(): Promise<void> {
    await this.language.stop();
  }
}
