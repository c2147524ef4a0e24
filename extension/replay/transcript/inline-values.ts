/** While a replay is stopped: recorded values at the lines of transcripts, of code, of the adapter and of the harness. */
import { resolve } from 'node:path';
import {
  type Disposable,
  debug,
  type InlineValue,
  type InlineValuesProvider,
  InlineValueText,
  languages,
  type Range,
  type TextDocument,
} from 'vscode';
import { isDamaged } from '../../../recordings/index.ts';
import { parseTranscriptUri, type ReplayCall, TRANSCRIPT_SCHEME } from '../../../recordings/replay/index.ts';
import { ADAPTER_FILES, DEBUG_TYPE } from '../../ids.ts';
import type { ReplaySession } from '../session.ts';
import type { ReplaySessions } from '../sessions.ts';
import { numberWords, signed } from './credit.ts';
import type { TranscriptDocuments } from './documents.ts';
import { cellValues, outcomeValues, type SourceValue, tracebackValues } from './source-values.ts';

/** A harness is written in anything; tracebacks that name files are Python's. */
const SOURCES = [
  { scheme: TRANSCRIPT_SCHEME },
  { scheme: 'file', pattern: ADAPTER_FILES },
  { scheme: 'file', language: 'python' },
];
const LARGEST = 1024 * 1024;

export class RecordedValues implements InlineValuesProvider, Disposable {
  private readonly sessions: ReplaySessions;
  private readonly documents: TranscriptDocuments;
  private readonly subscription: Disposable;

  constructor(sessions: ReplaySessions, documents: TranscriptDocuments) {
    this.sessions = sessions;
    this.documents = documents;
    this.subscription = languages.registerInlineValuesProvider(SOURCES, this);
  }

  dispose(): void {
    this.subscription.dispose();
  }

  async provideInlineValues(document: TextDocument, viewPort: Range): Promise<InlineValue[]> {
    const session = this.sessions.current;
    if (debug.activeDebugSession?.type !== DEBUG_TYPE || !session) return [];
    const told = await session.current();
    const values = told ? await this.valuesOf(session, told, document) : [];
    return values
      .filter(({ line }) => line < document.lineCount && viewPort.contains(document.lineAt(line).range))
      .map(({ line, text }) => new InlineValueText(document.lineAt(line).range, text));
  }

  private async valuesOf(session: ReplaySession, told: ReplayCall, document: TextDocument): Promise<SourceValue[]> {
    const { uri } = document;
    if (uri.scheme === TRANSCRIPT_SCHEME) {
      const cell = parseTranscriptUri(uri.toString())?.cell;
      if (!cell) return this.inTranscript(session, told, document);
      const action = cell.call === told.position ? told.toolCalls[cell.action] : undefined;
      return action ? cellValues(document.getText(), action) : [];
    }
    const { info } = session.recording;
    const adapter = (info.config.harness as { adapter?: unknown } | undefined)?.adapter;
    const { record } = session.episode.outcome;
    if (typeof adapter === 'string' && resolve(info.configFolder, adapter) === uri.fsPath) {
      const text = document.getText();
      return record && text.length <= LARGEST ? outcomeValues(text, record) : [];
    }
    return tracebackValues(uri.fsPath, told.toolCalls);
  }

  private inTranscript(session: ReplaySession, told: ReplayCall, document: TextDocument): SourceValue[] {
    const shows = this.documents.of(document);
    const line = shows?.session === session ? shows.transcript?.lineOf(told.position, 'call') : undefined;
    if (line === undefined || isDamaged(told.call)) return [];
    const { sample, target } = told;
    // The lens above says it in words.
    const text = sample
      ? [
          ...(sample.advantage === null ? [] : [`A ${signed(sample.advantage)}`]),
          sample.u === null ? sample.status : `u ${numberWords(sample.u)}`,
        ].join(', ')
      : (target?.status ?? '');
    return text === '' ? [] : [{ line: line - 1, text }];
  }
}
