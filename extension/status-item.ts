/** The one item in the status bar: the daemon of the active folder, and the run at work. */
import {
  Disposable,
  l10n,
  MarkdownString,
  StatusBarAlignment,
  type StatusBarItem,
  ThemeColor,
  window,
  workspace,
} from 'vscode';
import type { DaemonStatus } from './daemon/client.ts';
import type { Folder, Folders } from './folders.ts';
import { COMMANDS, DISPLAY_NAME, VIEWS } from './ids.ts';
import { plainLabel } from './message-text.ts';
import { progressWords, stageWord, workWords } from './runs/words.ts';

export class StatusItem implements Disposable {
  private readonly item: StatusBarItem;
  private readonly folders: Folders;
  private readonly subscriptions: Disposable;

  constructor(folders: Folders) {
    this.folders = folders;
    this.item = window.createStatusBarItem('agenticRoboRL', StatusBarAlignment.Left);
    this.item.name = DISPLAY_NAME;
    this.item.command = `${VIEWS.runs}.focus`;
    this.subscriptions = Disposable.from(
      this.item,
      folders.onNews(() => this.update()),
      window.onDidChangeActiveTextEditor(() => this.update()),
      workspace.onDidGrantWorkspaceTrust(() => this.update()),
    );
    this.update();
    this.item.show();
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  private update(): void {
    const { active } = this.folders;
    const status: DaemonStatus = active?.client.status ?? { state: 'stopped' };
    this.item.text = `${icon(status, active)} ${plainLabel(label(active))}`;
    const failed = status.state === 'failed' || status.state === 'incompatible';
    this.item.backgroundColor = failed ? new ThemeColor('statusBarItem.errorBackground') : undefined;
    this.item.tooltip = tooltip(active, status);
  }
}

function icon({ state }: DaemonStatus, folder: Folder | undefined): string {
  switch (state) {
    case 'stopped':
      return '$(circle-outline)';
    case 'starting':
    case 'reconnecting':
      return '$(sync~spin)';
    case 'ready':
      return folder?.runs.active ? '$(sync~spin)' : '$(check)';
    case 'failed':
      return '$(error)';
    case 'incompatible':
      return '$(warning)';
  }
}

function label(folder: Folder | undefined): string {
  const active = folder?.client.status.state === 'ready' ? folder.runs.active : undefined;
  if (!active) return DISPLAY_NAME;
  const { summary, state, tick } = active;
  const doing = tick ? progressWords(tick) : state.stage && stageWord(state.stage);
  return doing ? `${summary.name}: ${workWords(summary, doing)}` : summary.name;
}

function tooltip(folder: Folder | undefined, status: DaemonStatus): MarkdownString {
  const text = new MarkdownString(undefined, true);
  text.isTrusted = {
    enabledCommands: [
      ...[COMMANDS.train, COMMANDS.stopTraining, COMMANDS.resumeTraining, COMMANDS.showLogs],
      ...[COMMANDS.showDaemonLog, COMMANDS.restartDaemon, COMMANDS.stopDaemon],
    ],
  };
  const link = (words: string, command: string) => `[${words}](command:${command})`;
  const active = folder?.runs.active;
  text.appendMarkdown(`**${DISPLAY_NAME}**`);
  if (folder) text.appendText(` – ${folder.place.name}`);
  text.appendMarkdown('\n\n');
  text.appendText(workspace.isTrusted ? stateWords(status) : l10n.t('The workspace is not trusted: nothing is run.'));
  if (active) {
    text.appendMarkdown('\n\n');
    text.appendText(plainLabel(active.summary.run));
  }
  const actions = active
    ? [link(l10n.t('Stop Training'), COMMANDS.stopTraining)]
    : [link(l10n.t('Start Training'), COMMANDS.train), link(l10n.t('Resume Run'), COMMANDS.resumeTraining)];
  const running = status.state !== 'stopped' && status.state !== 'starting';
  if (running) {
    actions.push(
      link(l10n.t('Restart Daemon'), COMMANDS.restartDaemon),
      link(l10n.t('Stop Daemon'), COMMANDS.stopDaemon),
    );
    actions.push(link(l10n.t('Daemon Log'), COMMANDS.showDaemonLog));
  }
  actions.push(link(l10n.t('Show Logs'), COMMANDS.showLogs));
  text.appendMarkdown(`\n\n${actions.join(' | ')}`);
  return text;
}

/** What the daemon is doing, in a sentence. */
function stateWords({ state, message, version, pid, otherVersion }: DaemonStatus): string {
  const reason = message === undefined ? '' : `: ${message}`;
  switch (state) {
    case 'stopped':
      return l10n.t('No daemon is running; it starts when it is needed.');
    case 'starting':
      return l10n.t('The daemon is starting.');
    case 'ready': {
      const words = l10n.t('Daemon {0}, process {1}', version ?? '?', pid ?? '?');
      return otherVersion ? `${words}. ${l10n.t('It is of another version; restart it.')}` : words;
    }
    case 'reconnecting':
      return l10n.t('The connection to the daemon was lost; runs go on') + reason;
    case 'failed':
      return l10n.t('The daemon failed') + reason;
    case 'incompatible':
      return l10n.t('A daemon of another version serves this workspace; restart it') + reason;
  }
}
