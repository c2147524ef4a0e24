/** Hover and inlay hints in a transcript. Recorded text stands in code blocks, which hold neither links nor commands. */
import {
  type Disposable,
  EventEmitter,
  Hover,
  type HoverProvider,
  InlayHint,
  type InlayHintsProvider,
  l10n,
  languages,
  MarkdownString,
  Position,
  Range,
  type TextDocument,
} from 'vscode';
import { isDamaged } from '../../../recordings/index.ts';
import { shownInLine } from '../../../recordings/replay/index.ts';
import { TRANSCRIPT_LANGUAGE } from '../../ids.ts';
import { numberWords } from './credit.ts';
import type { OpenTranscript, TranscriptDocuments } from './documents.ts';
import { summaryOf, tokenLines } from './token-words.ts';
import { tokensIn } from './tokens-of-section.ts';

export class TranscriptHints implements HoverProvider, InlayHintsProvider, Disposable {
  private readonly documents: TranscriptDocuments;
  private readonly changed = new EventEmitter<void>();
  private readonly subscriptions: Disposable[];
  readonly onDidChangeInlayHints = this.changed.event;

  constructor(documents: TranscriptDocuments) {
    this.documents = documents;
    const selector = { language: TRANSCRIPT_LANGUAGE };
    this.subscriptions = [
      this.changed,
      documents.onNews(() => this.changed.fire()),
      languages.registerHoverProvider(selector, this),
      languages.registerInlayHintsProvider(selector, this),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  async provideHover(document: TextDocument, { line, character }: Position): Promise<Hover | undefined> {
    const shows = this.documents.of(document);
    const section = shows?.transcript?.sectionAt(line + 1);
    if (!shows || !section) return undefined;
    const at = line + 1 - section.line;
    if (at === 0) return this.hoverOfCall(shows, section.call, section.part);
    const found = await tokensIn(shows, section);
    for (const { token, ranges } of found?.places ?? []) {
      const range = ranges.find((one) => one.line === at && one.start <= character && character < one.end);
      if (!found || !range) continue;
      const lines = tokenLines(found.tokens[token], token, found.tokens.length);
      return new Hover(codeOf(lines), new Range(line, range.start, line, range.end));
    }
    return undefined;
  }

  async provideInlayHints(document: TextDocument, range: Range): Promise<InlayHint[]> {
    const shows = this.documents.of(document);
    if (!shows?.transcript) return [];
    const hints: InlayHint[] = [];
    for (const section of shows.transcript.sections) {
      const { line, lines, blocks, call, part } = section;
      if (part !== 'call' || line - 1 > range.end.line || line + lines.length - 1 < range.start.line) continue;
      // One hint a line: the editor writes several without a gap between their numbers.
      const texts = new Map<number, string[]>();
      const add = (at: number, text: string) => {
        if (text !== '') texts.set(at, [...(texts.get(at) ?? []), text]);
      };
      const found = await tokensIn(shows, section);
      if (found) {
        const all = summaryOf(found.tokens);
        add(0, all.clipped === null ? '' : l10n.t('{0} of {1} tokens clipped', all.clipped, all.count));
        for (const { key, from } of blocks) {
          const own = found.places.filter(({ block }) => block === key).map(({ token }) => found.tokens[token]);
          const { count, logb } = summaryOf(own);
          if (count > 0 && logb !== null) add(from, l10n.t('tokens: {0}, mean log b: {1}', count, twoPlaces(logb)));
        }
      }
      const { mode } = shows.target.view ?? {};
      if (mode !== 'sampled' && mode !== 'prompt') await this.addSpans(shows, call, blocks, add);
      for (const [at, words] of texts) {
        const place = new Position(line - 1 + at, lines[at].length);
        if (!range.contains(place)) continue;
        const hint = new InlayHint(place, words.join(' · '));
        hint.paddingLeft = true;
        hints.push(hint);
      }
    }
    return hints;
  }

  /** How long each action took in the world, and what was held at its end. */
  private async addSpans(
    { episode }: OpenTranscript,
    call: number,
    blocks: readonly { kind: string; index?: number; from: number }[],
    add: (at: number, text: string) => void,
  ): Promise<void> {
    const { toolCalls } = await episode.call(call);
    const { spans } = await episode.spans();
    for (const { kind, index, from } of blocks) {
      if (kind !== 'action' || index === undefined) continue;
      const place = toolCalls[index]?.span;
      const span = place === null || place === undefined ? undefined : spans[place];
      if (!span) continue;
      const seconds = numberWords(span.end - span.start);
      const held = span.held === null ? undefined : shownInLine(span.held, 60);
      add(from, held ? l10n.t('{0} s, holds {1}', seconds, held) : l10n.t('{0} s', seconds));
    }
  }

  private async hoverOfCall({ episode }: OpenTranscript, position: number, part: string): Promise<Hover | undefined> {
    if (part !== 'call' || position >= episode.length) return undefined;
    const { call, sample } = await episode.call(position);
    if (isDamaged(call)) return undefined;
    const { temperature, top_p: topP, top_k: topK, seed } = call.samplingSent;
    const given = { temperature, 'top p': topP, 'top k': topK, seed };
    const sampling = Object.entries(given).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [`${name} ${value}`],
    );
    return new Hover(
      codeOf([
        `call     ${call.id}`,
        `started  ${call.startedAt}`,
        `first token after ${call.durations.firstToken ?? '?'} ms, the last after ${call.durations.total} ms`,
        ...(sampling.length > 0 ? [`sampling ${sampling.join(', ')}`] : []),
        ...(sample
          ? [
              `sample   ${sample.status}, A ${sample.advantage ?? '-'}, u ${sample.u ?? '-'}, L ${sample.responseLength ?? '-'}`,
            ]
          : []),
      ]),
    );
  }
}

/** Without the sign of a number that is rounded to nothing. */
function twoPlaces(value: number): string {
  return value.toFixed(2).replace(/^-(0\.00)$/, '$1');
}

function codeOf(lines: string[]): MarkdownString {
  const text = new MarkdownString();
  text.isTrusted = false;
  text.supportHtml = false;
  text.appendCodeblock(lines.join('\n'), 'text');
  return text;
}
