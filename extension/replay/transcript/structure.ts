/** Outline, folding and links of a transcript. */
import {
  type Disposable,
  DocumentLink,
  type DocumentLinkProvider,
  DocumentSymbol,
  type DocumentSymbolProvider,
  FoldingRange,
  FoldingRangeKind,
  type FoldingRangeProvider,
  l10n,
  languages,
  Range,
  SymbolKind,
  type TextDocument,
} from 'vscode';
import type { TranscriptBlock } from '../../../recordings/replay/index.ts';
import { TRANSCRIPT_LANGUAGE } from '../../ids.ts';
import type { OpenTranscript, TranscriptDocuments } from './documents.ts';
import { imageUri } from './images.ts';
import { pagesOf } from './texts.ts';

/** Longer texts of a request are folded when the transcript is opened. Lines. */
const LONG = 12;

const KINDS: Partial<Record<TranscriptBlock['kind'], SymbolKind>> = {
  action: SymbolKind.Function,
  result: SymbolKind.Event,
  reasoning: SymbolKind.String,
  text: SymbolKind.String,
  message: SymbolKind.Field,
  problem: SymbolKind.Null,
};

export class TranscriptStructure
  implements DocumentSymbolProvider, FoldingRangeProvider, DocumentLinkProvider, Disposable
{
  private readonly documents: TranscriptDocuments;
  private readonly subscriptions: Disposable[];

  constructor(documents: TranscriptDocuments) {
    this.documents = documents;
    const selector = { language: TRANSCRIPT_LANGUAGE };
    this.subscriptions = [
      languages.registerDocumentSymbolProvider(selector, this),
      languages.registerFoldingRangeProvider(selector, this),
      languages.registerDocumentLinkProvider(selector, this),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  provideDocumentSymbols(document: TextDocument): DocumentSymbol[] {
    const { transcript } = this.documents.of(document) ?? {};
    return (transcript?.sections ?? []).map(({ line, lines, part, blocks }) => {
      const range = rangeOf(document, line - 1, line + lines.length - 2);
      const [name, ...details] = lines[0].split(' · ');
      const kind = part === 'outcome' ? SymbolKind.Boolean : SymbolKind.Class;
      const symbol = new DocumentSymbol(name, details.join(' · '), kind, range, document.lineAt(line - 1).range);
      for (const { kind: what, label, from, to } of blocks) {
        const own = KINDS[what];
        if (own === undefined) continue;
        const at = rangeOf(document, line - 1 + from, line - 1 + to);
        symbol.children.push(new DocumentSymbol(label.replace(/:$/, '') || '-', '', own, at, at));
      }
      return symbol;
    });
  }

  provideFoldingRanges(document: TextDocument): FoldingRange[] {
    const { transcript, target } = this.documents.of(document) ?? {};
    const alone = target?.view?.mode === 'sampled' || target?.view?.mode === 'prompt';
    return (transcript?.sections ?? []).flatMap(({ line, lines, blocks }) => [
      new FoldingRange(line - 1, line - 1 + lines.length - 2),
      ...blocks
        .filter(({ from, to }) => to > from)
        .map(({ kind, from, to }) => {
          const ofRequest = kind === 'message' || kind === 'tools' || kind === 'other';
          // The editor folds ranges of this kind by itself (editor.foldingImportsByDefault, set for transcripts).
          const fold = !alone && ofRequest && to - from > LONG ? FoldingRangeKind.Imports : undefined;
          return new FoldingRange(line - 1 + from, line - 1 + to, fold);
        }),
    ]);
  }

  provideDocumentLinks(document: TextDocument): DocumentLink[] {
    const shows = this.documents.of(document);
    return (shows?.transcript?.sections ?? []).flatMap(({ call, line, blocks }) =>
      blocks.flatMap((block) => [...this.imagesOf(shows, line, block), ...this.cutsOf(shows, call, line, block)]),
    );
  }

  private imagesOf(shows: OpenTranscript | undefined, line: number, { images }: TranscriptBlock): DocumentLink[] {
    return images.flatMap(({ line: at, start, end, sha256, mediaType }) => {
      const uri = shows && imageUri(shows.session.recording.directory, sha256, mediaType);
      if (!uri) return [];
      const link = new DocumentLink(new Range(line - 1 + at, start, line - 1 + at, end), uri);
      link.tooltip = l10n.t('Open the image');
      return [link];
    });
  }

  private cutsOf(shows: OpenTranscript | undefined, call: number, line: number, { key, cuts }: TranscriptBlock) {
    if (!shows) return [];
    return cuts.map(({ line: at, characters }) => {
      const view = { mode: 'block' as const, call, key, page: 0 };
      const range = new Range(line - 1 + at, 2, line - 1 + at, 1000);
      const link = new DocumentLink(range, this.documents.addressOf({ ...shows.target, cell: undefined, view }));
      const pages = pagesOf(characters);
      link.tooltip = pages > 1 ? l10n.t('Open the whole text ({0} parts)', pages) : l10n.t('Open the whole text');
      return link;
    });
  }
}

function rangeOf(document: TextDocument, from: number, to: number): Range {
  const last = Math.min(to, document.lineCount - 1);
  return new Range(Math.min(from, last), 0, last, document.lineAt(last).text.length);
}
