/** The tokens of a transcript's section, with their places and numbers. */

import { isDamaged } from '../../../recordings/index.ts';
import {
  type ReplayToken,
  type TokenPlace,
  type TranscriptSection,
  tokenPlaces,
  tokensOf,
  vocabularyOf,
} from '../../../recordings/replay/index.ts';
import type { OpenTranscript } from './documents.ts';

export interface SectionTokens {
  tokens: ReplayToken[];
  places: TokenPlace[];
}

/** By section; scores may come later, so what depends on them is asked for each time. */
const placesOf = new WeakMap<TranscriptSection, TokenPlace[]>();

/** Undefined where the section has no tokens, or no tokenizer tells their texts. */
export async function tokensIn(
  { episode, target }: OpenTranscript,
  section: TranscriptSection,
): Promise<SectionTokens | undefined> {
  // A prompt's text is none that was sampled.
  if (section.part !== 'call' || target.view?.mode === 'prompt' || section.call >= episode.length) return undefined;
  const told = await episode.call(section.call);
  const { call } = told;
  if (isDamaged(call) || !call.responseTokenIds) return undefined;
  const vocabulary = await vocabularyOf(episode.recording, call.policyVersion);
  if (!vocabulary) return undefined;
  const places = placesOf.get(section) ?? tokenPlaces(section, call.responseTokenIds, vocabulary);
  placesOf.set(section, places);
  return { tokens: tokensOf(told, vocabulary), places };
}
