/**
 * What the stage shows, as plain data: the host makes it, the page draws it. Checked on both sides; zod's small build keeps
 * the page's script short. Times in seconds, lengths in metres, quaternions w, x, y, z.
 */
import * as z from 'zod/mini';

const count = z.int().check(z.gte(0));
const figure = z.nullable(z.number());
const name = z.string().check(z.maxLength(400));
const text = z.string().check(z.maxLength(20_000));
const sha = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const triple = z.tuple([z.number(), z.number(), z.number()]);
const quadruple = z.tuple([z.number(), z.number(), z.number(), z.number()]);

/** Where the cursor stands in the episode: on a call, on one of its tool calls, or on the outcome. */
export const positionSchema = z.strictObject({
  call: count,
  part: z.union([z.literal('call'), z.literal('outcome'), count]),
});
export type StagePosition = z.output<typeof positionSchema>;

export const detectionSchema = z.strictObject({
  name,
  position: triple,
  size: triple,
  yaw: z.number(),
  confidence: z.number(),
  camera: name,
  /** Pixels of the camera's picture: left, top, right, bottom. */
  box: quadruple,
});
export type StageDetection = z.output<typeof detectionSchema>;

/** Simulated seconds of something; null where none were recorded. */
const intervalSchema = z.nullable(z.strictObject({ start: z.number(), end: z.number() }));
export type StageInterval = z.output<typeof intervalSchema>;

const toolSchema = z.strictObject({
  name,
  arguments: text,
  result: z.nullable(text),
  failed: z.boolean(),
  interval: intervalSchema,
  /** In the gripper at its end; null for nothing, undefined where it is not known. */
  held: z.optional(z.nullable(name)),
  /** Only of calls that looked. */
  detections: z.nullable(z.array(detectionSchema)),
});
export type StageTool = z.output<typeof toolSchema>;

const imageSchema = z.strictObject({
  sha,
  mediaType: name,
  /** What the message says beside it. */
  label: text,
  /** What was detected at the very time of the picture, by the camera that it is of. */
  detections: z.array(detectionSchema),
});
export type StageImage = z.output<typeof imageSchema>;

export const callSchema = z.strictObject({
  /** As records count; null for a line that cannot be read. */
  turn: z.nullable(count),
  /** Why there is nothing to see of it. */
  damaged: z.nullable(text),
  /** What else of it, or of what it starts from, cannot be read, and why. */
  unread: z.array(text),
  reasoning: z.nullable(text),
  content: z.nullable(text),
  tools: z.array(toolSchema),
  /** Pictures that came with this call's request. */
  images: z.array(imageSchema),
  /** From its first tool's start to its last one's end. */
  interval: intervalSchema,
  /** Seconds until the planner had answered. */
  latency: figure,
  promptTokens: figure,
  responseTokens: figure,
  /** Of the call; `complete` in most cases. */
  status: name,
  finishReason: z.nullable(name),
  advantage: figure,
  /** As in samples.jsonl: trained on or not, and why. */
  sample: z.nullable(name),
});
export type StageCall = z.output<typeof callSchema>;

const attemptSchema = z.strictObject({
  episode: name,
  attempt: count,
  tryNumber: count,
  reward: z.number(),
  valid: z.boolean(),
  turns: count,
  successTurn: z.nullable(count),
});
export type StageAttempt = z.output<typeof attemptSchema>;

export const episodeSchema = z.strictObject({
  id: name,
  /** Of the run. */
  run: name,
  section: name,
  task: name,
  init: z.nullable(count),
  attempt: z.nullable(count),
  outcome: z.nullable(
    z.strictObject({
      reward: z.number(),
      valid: z.boolean(),
      invalidReason: z.nullable(text),
      successTurn: z.nullable(count),
    }),
  ),
  /** Why there is no outcome (yet). */
  noOutcome: z.nullable(text),
  /** More calls may come. */
  open: z.boolean(),
  calls: z.array(callSchema),
  /** Episodes of the same task and initial state; empty where there is but one. */
  group: z.array(attemptSchema),
  /** There is a trajectory to ask for. */
  scene: z.boolean(),
  /** Why there is none where there should be one. */
  noScene: z.nullable(text),
});
export type StageEpisode = z.output<typeof episodeSchema>;

const geomSchema = z.strictObject({
  body: count,
  kind: z.enum(['plane', 'sphere', 'capsule', 'cylinder', 'box']),
  /** Half sizes; radius first. */
  size: z.array(z.number()),
  position: triple,
  quaternion: quadruple,
  colour: quadruple,
});
export type StageGeom = z.output<typeof geomSchema>;

/** Bodies, their shapes, and their poses over time. */
export const sceneSchema = z.strictObject({
  bodies: z.array(name),
  geoms: z.array(geomSchema),
  rate: z.number().check(z.gt(0)),
  frames: z.int().check(z.gte(1)),
  /** int16, little-endian, as protocol/poses.ts orders them; base64. */
  poses: z.string(),
  /** When something was in the gripper: from `start` until the next entry. */
  held: z.array(z.strictObject({ start: z.number(), body: z.nullable(name) })),
});
export type StageScene = z.output<typeof sceneSchema>;
