/** Replay of recorded episodes: what is in them, and where one stands. */
export type { ReplayAction } from './actions.ts';
export {
  type CursorThread,
  EpisodeCursor,
  type Hit,
  type Move,
  type Part,
  type Position,
  type Rest,
  type StopAt,
} from './cursor.ts';
export { type EpisodeOutcome, openReplayEpisode, type ReplayCall, ReplayEpisode, roundOf } from './episode.ts';
export { ExpressionError, holds } from './expression.ts';
export { FACT_NAMES, facts, levelOf, parseCondition, placeAt, valueAt } from './facts.ts';
export { findEpisode } from './find-episode.ts';
export type { LackingAttempt, ReplayAttempt } from './group.ts';
export { type ListedEpisode, listedEpisodes } from './listing.ts';

export { cutAt, shown, shownInLine } from './shown-text.ts';
export type { ReplaySpan } from './spans.ts';
export { threadOf } from './thread.ts';
export {
  HEAT_LEVELS,
  HEATS,
  type Heat,
  type HeatLevel,
  heatLevel,
  ratioOf,
  type TokenPlace,
  type TokenRange,
  tokenPlaces,
} from './token-places.ts';
export { type ReplayToken, tokensOf } from './tokens.ts';
export { type NamedLine, namedLines, raised, raisingLine } from './traceback.ts';
export {
  actionWords,
  firstDifference,
  headOfTranscript,
  readBlock,
  readTranscript,
  Transcript,
  type TranscriptBlock,
  type TranscriptImage,
  type TranscriptSection,
} from './transcript-lines.ts';
export { textSection } from './transcript-section.ts';
export {
  parseTranscriptUri,
  TRANSCRIPT_SCHEME,
  type TranscriptTarget,
  type TranscriptView,
  transcriptUri,
} from './transcript-uri.ts';
export { Vocabulary, vocabularyOf } from './vocabulary.ts';
