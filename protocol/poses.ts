/**
 * Poses of bodies over time, in memory: what a trajectory's `poses` hold once unpacked. Runs in Node and in a browser.
 * Quaternions are w, x, y, z.
 */

/** Numbers of a pose: x, y, z in 0.1 mm, then w, x, y, z in 1/32767. */
export const CHANNELS = 7;
export const PER_METRE = 1e4;
export const PER_UNIT = 32767;

export interface PoseTrack {
  /** Frames a second. */
  rate: number;
  frames: number;
  bodies: number;
  /** {@link CHANNELS} numbers a pose: `values[(frame * bodies + body) * CHANNELS + channel]`. */
  values: Int16Array;
}

export type Quaternion = [w: number, x: number, y: number, z: number];

export interface Pose {
  /** Metres. */
  position: [number, number, number];
  /** Of length 1. */
  quaternion: Quaternion;
}

/** Seconds from the first frame to the last. */
export function durationOf({ frames, rate }: PoseTrack): number {
  return Math.max(0, frames - 1) / rate;
}

/**
 * The pose of a body at a time, between the two frames around it: places on the line, turns on the shortest arc.
 * Before the first frame it is the first one's, after the last the last one's.
 * @param time simulated seconds.
 */
export function poseAt(track: PoseTrack, time: number, body: number): Pose {
  const last = Math.max(0, track.frames - 1);
  const at = Math.min(last, Math.max(0, time * track.rate || 0));
  const before = Math.floor(at);
  const first = frameOf(track, before, body);
  const share = at - before;
  if (share < 1e-9) return first;
  return between(first, frameOf(track, before + 1, body), share);
}

function frameOf({ values, bodies }: PoseTrack, frame: number, body: number): Pose {
  const o = (frame * bodies + body) * CHANNELS;
  return {
    position: [values[o] / PER_METRE, values[o + 1] / PER_METRE, values[o + 2] / PER_METRE],
    quaternion: unit([values[o + 3], values[o + 4], values[o + 5], values[o + 6]]),
  };
}

function between(a: Pose, b: Pose, share: number): Pose {
  const position = a.position.map((x, k) => x + share * (b.position[k] - x)) as Pose['position'];
  return { position, quaternion: slerp(a.quaternion, b.quaternion, share) };
}

/** Spherical interpolation on the shorter of the two arcs. */
export function slerp(a: Quaternion, b: Quaternion, share: number): Quaternion {
  let cosine = 0;
  for (let k = 0; k < 4; k++) cosine += a[k] * b[k];
  const sign = cosine < 0 ? -1 : 1;
  const angle = Math.acos(Math.min(1, Math.abs(cosine)));
  const sine = Math.sin(angle);
  // Where the arc is tiny, the chord is the arc.
  const [u, v] =
    sine < 1e-6 ? [1 - share, share] : [Math.sin((1 - share) * angle) / sine, Math.sin(share * angle) / sine];
  return unit(a.map((x, k) => u * x + sign * v * b[k]) as Quaternion);
}

function unit(q: Quaternion): Quaternion {
  const length = Math.hypot(...q);
  // A hand-edited file may hold a quaternion of nothing.
  return length === 0 ? [1, 0, 0, 0] : (q.map((x) => x / length) as Quaternion);
}

/** A vector turned by a quaternion. */
export function turned(
  [w, x, y, z]: Quaternion,
  [a, b, c]: readonly [number, number, number],
): [number, number, number] {
  const s = 2 * (y * c - z * b);
  const t = 2 * (z * a - x * c);
  const u = 2 * (x * b - y * a);
  return [a + w * s + y * u - z * t, b + w * t + z * s - x * u, c + w * u + x * t - y * s];
}

/** The turn `a` after the turn `b`. */
export function product(a: Quaternion, b: Quaternion): Quaternion {
  return [
    a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
    a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
    a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
  ];
}
