/** An object's shape as it lies: which of its axes stands up, where its centre is, how it is turned. */
import type { BodyPose, Quaternion } from '../physics/simulation.ts';
import type { Vec3 } from '../types.ts';

export interface Stance {
  centre: Vec3;
  /** Extents: two along the ground, then the height. */
  size: Vec3;
  /** Of the first extent about z. */
  yaw: number;
  /** Cosine between the body's own up axis and the vertical. */
  upright: number;
}

/** Columns of the rotation matrix: the body's axes in the world. */
export function axes([w, x, y, z]: Quaternion): [Vec3, Vec3, Vec3] {
  return [
    [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
    [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
    [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
  ];
}

/** @param size full extents along the body's axes; the body's origin is the middle of its underside. */
export function stanceOf(pose: BodyPose, size: Vec3): Stance {
  const frame = axes(pose.quaternion);
  const up = frame[2];
  const centre = pose.position.map((p, i) => p + (up[i] * size[2]) / 2) as Vec3;
  const tilt = frame.map((axis) => Math.abs(axis[2]));
  // The most vertical axis is the height; the other two follow it in cyclic order.
  const height = tilt[2] > 0.6 ? 2 : tilt[0] > tilt[1] ? 0 : 1;
  const first = (height + 1) % 3;
  const second = (height + 2) % 3;
  return {
    centre,
    size: [size[first], size[second], size[height]],
    yaw: Math.atan2(frame[first][1], frame[first][0]),
    upright: up[2],
  };
}
