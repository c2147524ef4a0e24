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
export type { ReplayAttempt } from './group.ts';
export type { ReplaySpan } from './spans.ts';
