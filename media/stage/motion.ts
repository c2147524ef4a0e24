/** The motion of an episode, unpacked. */
import type { StageScene } from '../../extension/replay/stage/data.ts';
import { CHANNELS, type Pose, type PoseTrack, poseAt } from '../../protocol/poses.ts';

export interface Motion {
  /** How it is told apart from the one beside it. */
  label: string;
  bodies: StageScene['bodies'];
  geoms: StageScene['geoms'];
  track: PoseTrack;
  held: StageScene['held'];
}

/** @throws Error when the data are of another length than they should be. */
export function motionOf({ bodies, geoms, rate, frames, poses, held }: StageScene, label: string): Motion {
  const bytes = Uint8Array.from(atob(poses), (letter) => letter.charCodeAt(0));
  const expected = 2 * CHANNELS * bodies.length * frames;
  if (bytes.length !== expected) throw new Error(`${bytes.length} bytes of poses, expected ${expected}`);
  const view = new DataView(bytes.buffer);
  const values = Int16Array.from({ length: expected / 2 }, (_, k) => view.getInt16(2 * k, true));
  return { label, bodies, geoms, track: { rate, frames, bodies: bodies.length, values }, held };
}

/** Body in the gripper at a time; null for none. */
export function heldAt({ held }: Motion, time: number): string | null {
  return held.findLast(({ start }) => start <= time + 1e-6)?.body ?? null;
}

/** The body that carries the gripper, as the embedded world calls it. */
const HAND = 'hand';

/** Where the gripper is at a time, in metres; undefined in a world that has none of this name. */
export function gripperAt({ bodies, track }: Motion, time: number): Pose['position'] | undefined {
  const body = bodies.indexOf(HAND);
  return body < 0 ? undefined : poseAt(track, time, body).position;
}
