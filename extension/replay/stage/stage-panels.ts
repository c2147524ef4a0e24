/** The open stages of a window: one an episode, brought back after a reload. */
import {
  Disposable,
  type LogOutputChannel,
  l10n,
  Uri,
  type WebviewPanel,
  type WebviewPanelSerializer,
  window,
} from 'vscode';
import { PANELS } from '../../ids.ts';
import { plainLabel } from '../../message-text.ts';
import { tellWarning } from '../../messages.ts';
import { showPage } from '../../panel/panel-document.ts';
import type { ReplaySession, ReplayTarget } from '../session.ts';
import type { ReplaySessions } from '../sessions.ts';
import { StageConversation } from './conversation.ts';
import { readRestore } from './messages.ts';
import { columnOfStages, keepStageApart } from './room.ts';
import { SessionSource } from './session-source.ts';
import { stageWords } from './wording.ts';

export class StagePanels implements Disposable, WebviewPanelSerializer {
  private readonly files: Uri;
  private readonly sessions: ReplaySessions;
  private readonly log: LogOutputChannel;
  private readonly panels = new Map<ReplaySession, WebviewPanel>();
  private readonly serializer: Disposable;

  constructor(extension: Uri, sessions: ReplaySessions, log: LogOutputChannel) {
    this.files = Uri.joinPath(extension, 'dist');
    this.sessions = sessions;
    this.log = log;
    this.serializer = window.registerWebviewPanelSerializer(PANELS.stage, this);
  }

  /**
   * Shows an episode's stage beside what is open, in front when it is open already. Reads files and runs nothing.
   * @throws RecordingError when there is no such run or episode.
   */
  async open(target: ReplayTarget): Promise<void> {
    const session = await this.sessions.acquire(target);
    const known = this.panels.get(session);
    if (known) {
      await this.sessions.release(session);
      return known.reveal();
    }
    const panel = window.createWebviewPanel(
      PANELS.stage,
      titleOf(session),
      { viewColumn: columnOfStages(), preserveFocus: false },
      { enableFindWidget: true },
    );
    keepStageApart();
    this.fill(panel, session);
  }

  /** Called by the editor for a stage that was open when the window was closed or reloaded. */
  async deserializeWebviewPanel(panel: WebviewPanel, state: unknown): Promise<void> {
    const restore = readRestore(state);
    if (!restore) return panel.dispose();
    const { directory, section, episode, position } = restore;
    try {
      const session = await this.sessions.acquire({ directory, section, episode });
      this.fill(panel, session);
      const { call, part } = session.cursor.position;
      // Where another view has come back before, its place counts. The episode may have been written anew since.
      if (call === 0 && part === 'call') await session.cursor.goto({ thread: 0, ...position }).catch(() => {});
    } catch (error) {
      panel.dispose();
      const message = (error as Error).message;
      this.log.warn(`the stage of ${episode} was not opened again: ${message}`);
      void tellWarning(l10n.t('The stage of {0} could not be opened again: {1}', episode, message));
    }
  }

  dispose(): void {
    this.serializer.dispose();
    for (const panel of [...this.panels.values()]) panel.dispose();
  }

  private fill(panel: WebviewPanel, session: ReplaySession): void {
    this.panels.set(session, panel);
    const { webview } = panel;
    const conversation = new StageConversation(new SessionSource(session), stageWords(l10n), {
      post: (message) => void webview.postMessage(message),
      log: (text) => this.log.warn(`${session.target.episode}: ${text}`),
    });
    // Another attempt may be stepped through, and an episode that was running gets its record.
    const retitle = () => {
      const title = titleOf(session);
      if (panel.title !== title) panel.title = title;
    };
    retitle();
    const belongings = Disposable.from(
      { dispose: () => conversation.dispose() },
      webview.onDidReceiveMessage((message: unknown) => void conversation.hear(message)),
      panel.onDidChangeViewState(() => {
        // A hidden page is thrown away by the editor; it says that it is ready when it is made anew.
        if (!panel.visible) conversation.gone();
        if (panel.active) this.sessions.show(session);
      }),
      session.onDidMove(retitle),
      session.onDidChange(retitle),
      session.onDidClose(() => panel.dispose()),
    );
    panel.onDidDispose(() => {
      this.panels.delete(session);
      belongings.dispose();
      void this.sessions.release(session);
    });
    this.sessions.show(session);
    showPage(panel, this.files, 'stage');
  }
}

function titleOf({ episode }: ReplaySession): string {
  const { record } = episode.outcome;
  return record
    ? l10n.t('Stage: {0}, attempt {1}', plainLabel(record.task), record.attempt)
    : l10n.t('Stage: {0}', plainLabel(episode.id));
}
