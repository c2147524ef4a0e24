/** What a stage is fed by. */
import type { Disposable } from '../../daemon/emitter.ts';
import type { StageEpisode, StagePosition, StageScene } from './data.ts';
import type { StageRestore } from './messages.ts';

/** Where the cursor stands, and in which episode. */
export interface StagePlace {
  episode: string;
  position: StagePosition;
}

export interface StageSource {
  /** The episode that the cursor stands in. */
  snapshot(): Promise<StageEpisode>;
  place(): StagePlace;
  /** The motion of an episode of the group; null where none was recorded. @throws Error when it cannot be read. */
  scene(episode: string): Promise<StageScene | null>;
  /** An image of the run's blobs. @throws Error when it is missing or was changed. */
  image(sha: string): Promise<{ mediaType: string; bytes: Uint8Array }>;
  /** @throws Error when there is no such position (any longer). */
  goto(place: StagePlace): Promise<void>;
  /** Stands in another attempt of the group, at the call of the same number where it has one. @throws Error */
  enter(episode: string): Promise<void>;
  /** How to open the same again. */
  restore(): StageRestore;
  /** The cursor has moved, also from one episode to another. */
  onDidMove(listener: () => void): Disposable;
  /** The episode has grown, or others were loaded. */
  onDidChange(listener: () => void): Disposable;
}
