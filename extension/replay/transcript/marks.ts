/**
 * Where the replay stands, in the transcripts that are seen: the part is marked, and comes into sight when the cursor moves.
 * Only the replay that a person looks at has a mark; while there is none, each transcript has its own.
 */
import {
  type Disposable,
  l10n,
  OverviewRulerLane,
  Range,
  type TextEditor,
  TextEditorRevealType,
  ThemeColor,
  window,
  workspace,
} from 'vscode';
import { COLORS } from '../../ids.ts';
import type { ReplaySession } from '../session.ts';
import type { ReplaySessions } from '../sessions.ts';
import type { TranscriptDocuments } from './documents.ts';

export class CursorMarks implements Disposable {
  private readonly sessions: ReplaySessions;
  private readonly documents: TranscriptDocuments;
  private readonly here = window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new ThemeColor(COLORS.currentCall),
    overviewRulerColor: new ThemeColor(COLORS.currentCallBorder),
    overviewRulerLane: OverviewRulerLane.Full,
    after: { contentText: `  ◀ ${l10n.t('the replay is here')}`, color: new ThemeColor(COLORS.currentCallBorder) },
  });
  private readonly part = window.createTextEditorDecorationType({
    isWholeLine: true,
    borderWidth: '0 0 0 3px',
    borderStyle: 'solid',
    borderColor: new ThemeColor(COLORS.currentCallBorder),
  });
  private readonly subscriptions: { dispose(): void }[];

  constructor(sessions: ReplaySessions, documents: TranscriptDocuments) {
    this.sessions = sessions;
    this.documents = documents;
    this.subscriptions = [
      this.here,
      this.part,
      sessions.onDidChangeCurrent(() => {
        for (const editor of window.visibleTextEditors) this.mark(editor, undefined, false);
      }),
      documents.onMoved((session) => this.markAll(session, true)),
      documents.onNews((session) => this.markAll(session, false)),
      window.onDidChangeVisibleTextEditors((editors) => {
        for (const editor of editors) this.mark(editor, undefined, false);
      }),
      workspace.onDidChangeTextDocument(({ document }) => {
        for (const editor of window.visibleTextEditors)
          if (editor.document === document) this.mark(editor, undefined, false);
      }),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private markAll(session: ReplaySession, reveal: boolean): void {
    for (const editor of window.visibleTextEditors) this.mark(editor, session, reveal);
  }

  /** @param only marks the editor only when it shows an episode of this session. */
  private mark(editor: TextEditor, only: ReplaySession | undefined, reveal: boolean): void {
    const shows = this.documents.of(editor.document);
    if (!shows?.transcript || (only && only !== shows.session)) return;
    const { transcript, session, thread, target } = shows;
    const { position } = session.cursor;
    const alone = target.view?.mode === 'sampled' || target.view?.mode === 'prompt';
    const marked = position.thread === thread && !alone && (this.sessions.current ?? session) === session;
    const lines = marked ? transcript.linesOf(position.call, position.part) : undefined;
    if (!lines || lines.to > editor.document.lineCount + 1) {
      editor.setDecorations(this.here, []);
      editor.setDecorations(this.part, []);
      return;
    }
    const heading = new Range(lines.from - 1, 0, lines.from - 1, 0);
    editor.setDecorations(this.here, [heading]);
    editor.setDecorations(this.part, [new Range(lines.from - 1, 0, Math.max(lines.from, lines.to - 1) - 1, 0)]);
    if (reveal) editor.revealRange(heading, TextEditorRevealType.InCenterIfOutsideViewport);
  }
}
