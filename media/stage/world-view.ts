/** What draws the world: in three dimensions where the editor can, from above where it cannot. */
import type { StageDetection } from '../../extension/replay/stage/data.ts';
import type { Motion } from './motion.ts';

export const VIEWS = ['free', 'front', 'side', 'above'] as const;
export type ViewName = (typeof VIEWS)[number];

export interface WorldView {
  /** Goes into the page; has the focus when the view is turned by keys. */
  readonly element: HTMLElement;
  /** Worlds to draw: the episode's own, and one beside it. */
  setMotions(motions: readonly Motion[]): void;
  /** Draws the worlds at a simulated time, with what was detected in the first of them. */
  draw(time: number, detections: readonly StageDetection[]): void;
  /** The theme or the size has changed. */
  refit(): void;
  look(from: ViewName): void;
  /** Turns by radians to the left and up. */
  turn(left: number, up: number): void;
  /** Goes nearer (below 1) or further away (above 1). */
  zoom(factor: number): void;
  dispose(): void;
}
