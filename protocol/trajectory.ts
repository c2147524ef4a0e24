/**
 * The file of an episode's trajectory: body poses over time, in a form that replay draws without the physics, and what
 * each skill or observation did. Lengths in metres, times in simulated seconds, quaternions w, x, y, z.
 */
import { inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { CHANNELS, type PoseTrack } from './poses.ts';

const triple = z.tuple([z.number(), z.number(), z.number()]);
const quadruple = z.tuple([z.number(), z.number(), z.number(), z.number()]);
const word = z.string().max(200);

/** How many half sizes a shape has: radius first, then half length or the other half extents. */
export const SHAPE_SIZES = { plane: 2, sphere: 1, capsule: 2, cylinder: 2, box: 3 } as const;
export type ShapeKind = keyof typeof SHAPE_SIZES;

export const detectionSchema = z.object({
  /** As the planner was told. */
  name: word,
  kind: word,
  colour: word,
  /** Estimated centre. */
  position: triple,
  /** Estimated extents along the object's own axes. */
  size: triple,
  /** Estimated rotation about z. */
  yaw: z.number(),
  /** 0-1 */
  confidence: z.number(),
  camera: word,
  /** Pixels of that camera's picture: left, top, right, bottom. */
  box: quadruple,
  /** Drawers only. */
  open: z.boolean().optional(),
});

const geomSchema = z
  .object({
    /** Index of the body that carries it. */
    body: z.int().min(0),
    kind: z.enum(['plane', 'sphere', 'capsule', 'cylinder', 'box']),
    /** Half sizes, see {@link SHAPE_SIZES}. */
    size: z.array(z.number().min(0)),
    /** Pose in the body. */
    position: triple,
    quaternion: quadruple,
    /** Red, green, blue, opacity, 0-1. */
    colour: quadruple,
  })
  .refine(({ kind, size }) => size.length === SHAPE_SIZES[kind], 'has another number of sizes than its kind of shape');

/** What a call of a skill or observation did. */
export const spanSchema = z
  .object({
    name: word,
    start: z.number().min(0),
    end: z.number().min(0),
    /** Body between the fingers at its end. */
    held: word.nullable(),
    detections: z.array(detectionSchema).max(1000).optional(),
  })
  .refine(({ start, end }) => end >= start, 'ends before it starts');

/** Bytes of unpacked poses that are read at most: two hours of forty bodies. */
const MOST_BYTES = 96 * 1024 * 1024;

export const trajectorySchema = z
  .object({
    version: z.literal(1),
    /** Frames a second. */
    rate: z.number().positive().max(10_000),
    bodies: z.array(word).min(1).max(2000),
    geoms: z.array(geomSchema).max(20_000),
    frames: z.int().min(1),
    /** int16 differences from frame to frame (see protocol/poses.ts for units), body-major, deflated, base64. */
    poses: z.string(),
    /** In the order in which they happened. */
    spans: z.array(spanSchema).max(100_000),
  })
  .refine(({ geoms, bodies }) => geoms.every(({ body }) => body < bodies.length), {
    path: ['geoms'],
    message: 'a shape belongs to a body that is not there',
  })
  .refine(({ bodies, frames }) => 2 * CHANNELS * bodies.length * frames <= MOST_BYTES, {
    path: ['frames'],
    message: `more poses than can be shown (${MOST_BYTES} bytes)`,
  });

export type Trajectory = z.output<typeof trajectorySchema>;
export type TrajectorySpan = Trajectory['spans'][number];
export type TrajectoryGeom = Trajectory['geoms'][number];
export type TrajectoryDetection = z.output<typeof detectionSchema>;

/**
 * Unpacks the poses. Differences are taken modulo 2^16.
 * @throws Error when the data are no deflated ones, or of the wrong length.
 */
export function decodeTrajectory({ bodies, frames, rate, poses }: Trajectory): PoseTrack {
  const channels = bodies.length * CHANNELS;
  const expected = 2 * channels * frames;
  const told = `${frames} frames of ${bodies.length} bodies, which take ${expected}`;
  let bytes: Buffer;
  try {
    // One byte more than expected is enough to see that there are too many.
    bytes = inflateRawSync(Buffer.from(poses, 'base64'), { maxOutputLength: expected + 1 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ERR_BUFFER_TOO_LARGE' ? `more bytes than ${told}` : message;
    throw new Error(`the trajectory is damaged: ${why}`);
  }
  if (bytes.length !== expected) throw new Error(`the trajectory is damaged: ${bytes.length} bytes for ${told}`);
  const values = new Int16Array(channels * frames);
  for (let c = 0; c < channels; c++) {
    for (let f = 0; f < frames; f++) {
      const before = f > 0 ? values[(f - 1) * channels + c] : 0;
      values[f * channels + c] = bytes.readInt16LE(2 * (c * frames + f)) + before;
    }
  }
  return { rate, frames, bodies: bodies.length, values };
}
