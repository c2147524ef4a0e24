/** Colours behind tokens: how likely each was, or how much likelier training made it. Hover tells the numbers. */
import {
  type DecorationRenderOptions,
  type Disposable,
  OverviewRulerLane,
  Range,
  type TextEditor,
  type TextEditorDecorationType,
  ThemeColor,
  window,
  workspace,
} from 'vscode';
import { HEAT_LEVELS, type HeatLevel, heatLevel } from '../../../recordings/replay/index.ts';
import { COLORS, SECTION, SETTINGS } from '../../ids.ts';
import { tokenHeat } from '../../settings.ts';
import type { TranscriptDocuments } from './documents.ts';
import { tokensIn } from './tokens-of-section.ts';

/** Lines around what is seen that are coloured as well, so that scrolling finds them ready. */
const AROUND = 80;
const PACE = 60;

/** Not by colour alone: the border tells the step and the direction where the theme gives it a colour (high contrast). */
const BORDERS: Record<HeatLevel, string> = {
  unlikely1: 'dotted',
  unlikely2: 'dashed',
  unlikely3: 'solid',
  unlikely4: 'double',
  up1: 'dashed',
  up2: 'solid',
  down1: 'dotted',
  down2: 'double',
};

function optionsOf(level: HeatLevel): DecorationRenderOptions {
  const color = new ThemeColor(COLORS.token[level].background);
  const strong = level === 'unlikely4' || level === 'down2';
  return {
    backgroundColor: color,
    borderStyle: BORDERS[level],
    borderWidth: `0 0 ${BORDERS[level] === 'double' ? 3 : 1}px 0`,
    borderColor: new ThemeColor(COLORS.token[level].border),
    ...(strong ? { overviewRulerColor: color, overviewRulerLane: OverviewRulerLane.Right } : {}),
  };
}

export class TokenHeat implements Disposable {
  private readonly documents: TranscriptDocuments;
  private readonly log: (text: string) => void;
  private readonly types = new Map<HeatLevel, TextEditorDecorationType>();
  private readonly subscriptions: Disposable[];
  private waiting: NodeJS.Timeout | undefined;

  constructor(documents: TranscriptDocuments, log: (text: string) => void) {
    this.documents = documents;
    this.log = log;
    for (const level of HEAT_LEVELS) this.types.set(level, window.createTextEditorDecorationType(optionsOf(level)));
    this.subscriptions = [
      ...this.types.values(),
      window.onDidChangeVisibleTextEditors(() => this.soon()),
      window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => documents.of(textEditor.document) && this.soon()),
      workspace.onDidChangeTextDocument(({ document }) => documents.of(document) && this.soon()),
      documents.onNews(() => this.soon()),
      workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration(`${SECTION}.${SETTINGS.tokenHeat}`)) this.soon();
      }),
    ];
    this.soon();
  }

  dispose(): void {
    clearTimeout(this.waiting);
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private soon(): void {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      for (const editor of window.visibleTextEditors)
        this.colour(editor).catch((error: Error) => this.log(`token heat: ${error.stack}`));
    }, PACE);
  }

  private async colour(editor: TextEditor): Promise<void> {
    const { document, visibleRanges } = editor;
    const shows = this.documents.of(document);
    if (!shows?.transcript || visibleRanges.length === 0) return;
    const heat = tokenHeat();
    const { version } = document;
    const first = visibleRanges[0].start.line - AROUND;
    const last = (visibleRanges.at(-1)?.end.line ?? 0) + AROUND;
    const ranges = new Map<HeatLevel, Range[]>(HEAT_LEVELS.map((level) => [level, []]));
    if (heat !== 'off') {
      for (const section of shows.transcript.sections) {
        const start = section.line - 1;
        if (start > last || start + section.lines.length < first) continue;
        const found = await tokensIn(shows, section);
        for (const { token, ranges: places } of found?.places ?? []) {
          const level = found && heatLevel(found.tokens[token], heat);
          if (level === undefined) continue;
          for (const { line, start: from, end } of places)
            if (start + line >= first && start + line <= last)
              ranges.get(level)?.push(new Range(start + line, from, start + line, end));
        }
      }
    }
    // It may have other lines by now; then it is coloured again.
    if (document.isClosed || document.version !== version) return;
    for (const [level, type] of this.types) editor.setDecorations(type, ranges.get(level) ?? []);
  }
}
