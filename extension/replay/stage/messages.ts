/** What host and stage say to each other by postMessage. Neither believes the other unchecked. */
import * as z from 'zod/mini';
import { episodeSchema, positionSchema, sceneSchema } from './data.ts';

const episodeId = z.string().check(z.minLength(1), z.maxLength(400));
const sha = z.string().check(z.regex(/^[0-9a-f]{64}$/));

export const restoreSchema = z.strictObject({
  directory: z.string().check(z.minLength(1), z.maxLength(4000)),
  section: z.string().check(z.minLength(1), z.maxLength(400)),
  episode: episodeId,
  position: positionSchema,
});
/** What the editor gives back to open the stage again after a reload of the window. */
export type StageRestore = z.output<typeof restoreSchema>;

/** To the page. */
export const toPageSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('snapshot'),
    episode: episodeSchema,
    position: positionSchema,
    /** The page's words in the reader's language, by their names in wording.ts. */
    words: z.record(z.string(), z.string()),
    restore: restoreSchema,
  }),
  /** The cursor has moved within the episode that is shown. */
  z.strictObject({ type: z.literal('position'), episode: episodeId, position: positionSchema, restore: restoreSchema }),
  /** The answer to `scene`; null with the reason where there is none. */
  z.strictObject({
    type: z.literal('scene'),
    episode: episodeId,
    scene: z.nullable(sceneSchema),
    problem: z.nullable(z.string()),
  }),
  /** The answer to `image`. */
  z.strictObject({
    type: z.literal('image'),
    sha,
    mediaType: z.string(),
    base64: z.nullable(z.string()),
    problem: z.nullable(z.string()),
  }),
  /** Something that was asked for could not be done. */
  z.strictObject({ type: z.literal('refused'), message: z.string() }),
]);
export type ToPage = z.output<typeof toPageSchema>;

/** To the host. */
export const toHostSchema = z.discriminatedUnion('type', [
  /** The page's script runs and wants all there is. */
  z.strictObject({ type: z.literal('ready') }),
  z.strictObject({ type: z.literal('goto'), episode: episodeId, position: positionSchema }),
  z.strictObject({ type: z.literal('scene'), episode: episodeId }),
  z.strictObject({ type: z.literal('image'), sha }),
  /** Stand in another attempt of the group. */
  z.strictObject({ type: z.literal('attempt'), episode: episodeId }),
  /** Something in the page went wrong; for the log. */
  z.strictObject({ type: z.literal('trouble'), message: z.string().check(z.maxLength(4000)) }),
]);
export type ToHost = z.output<typeof toHostSchema>;

/** What the editor gave back, or undefined when it is not ours. */
export function readRestore(value: unknown): StageRestore | undefined {
  const read = restoreSchema.safeParse(value);
  return read.success ? read.data : undefined;
}
