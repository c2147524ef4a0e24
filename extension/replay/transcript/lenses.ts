/** Above each call: what became of it, and what can be looked at. */
import {
  CodeLens,
  type CodeLensProvider,
  type Disposable,
  EventEmitter,
  l10n,
  languages,
  Range,
  type TextDocument,
} from 'vscode';
import { COMMANDS, TRANSCRIPT_LANGUAGE } from '../../ids.ts';
import { type CreditWords, creditsOf, creditText } from './credit.ts';
import type { TranscriptDocuments } from './documents.ts';

export class TranscriptLenses implements CodeLensProvider, Disposable {
  private readonly documents: TranscriptDocuments;
  private readonly changed = new EventEmitter<void>();
  private readonly subscriptions: Disposable[];
  readonly onDidChangeCodeLenses = this.changed.event;

  constructor(documents: TranscriptDocuments) {
    this.documents = documents;
    this.subscriptions = [
      this.changed,
      documents.onNews(() => this.changed.fire()),
      languages.registerCodeLensProvider({ language: TRANSCRIPT_LANGUAGE }, this),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  async provideCodeLenses(document: TextDocument): Promise<CodeLens[]> {
    const shows = this.documents.of(document);
    if (!shows?.transcript) return [];
    const { episode, transcript, session, thread, target } = shows;
    const mode = target.view?.mode;
    if (mode === 'sampled' || mode === 'prompt') return [];
    const { samples, targets } = await creditsOf(episode);
    const words = creditWords();
    const uri = document.uri.toString();
    const lenses: CodeLens[] = [];
    for (const { part, call, id, line } of transcript.sections) {
      const range = new Range(line - 1, 0, line - 1, 0);
      const add = (title: string, command: string, tooltip?: string) =>
        lenses.push(new CodeLens(range, { title, command, tooltip, arguments: [{ uri, call }] }));
      if (part === 'outcome') {
        if (episode.group.length > 1) add(l10n.t('Compare with another attempt'), COMMANDS.compareAttempts);
        continue;
      }
      const sample = id === null ? undefined : samples.get(id);
      const credit = creditText(episode.outcome, sample, id === null ? undefined : targets.get(id), words, l10n);
      add(credit || l10n.t('Go to this call'), COMMANDS.goToCall, l10n.t('Go to this call'));
      if (id === null) continue;
      if (mode === undefined) {
        const whole = session.isWhole(thread, call);
        add(whole ? l10n.t('Only what is new') : l10n.t('Full context'), COMMANDS.toggleContext);
      }
      add(l10n.t('As sampled'), COMMANDS.showSampled);
      if (sample?.status === 'zero-weight:prompt-mismatch') add(l10n.t('Compare prompts'), COMMANDS.comparePrompts);
    }
    return lenses;
  }
}

function creditWords(): CreditWords {
  return {
    reward: l10n.t('reward {0}'),
    invalid: l10n.t('invalid: {0}'),
    advantage: l10n.t('advantage {0}'),
    used: l10n.t('trained on, u {0}'),
    unused: l10n.t('not trained on: {0}'),
    target: l10n.t('a target of fine-tuning'),
    historyOnly: l10n.t('only history in fine-tuning'),
    dropped: l10n.t('dropped from fine-tuning: {0}'),
  };
}
