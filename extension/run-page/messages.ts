/** What host and run page say to each other by postMessage. Neither believes the other unchecked. */
import * as z from 'zod/mini';
import { pageDataSchema, stepRowSchema } from './data.ts';
import { PLOT_IDS } from './plots.ts';

const newsSchema = z.strictObject({
  kind: z.enum(['stage-done', 'round-done', 'evaluated', 'chosen', 'warning', 'stopped', 'failed', 'finished']),
  /** What the sentence of this kind has gaps for. */
  values: z.array(z.string()),
});
/** Something worth being said aloud to who does not see the page. */
export type PageNews = z.output<typeof newsSchema>;

const { steps: _, ...wholeParts } = pageDataSchema.shape;

export const changeSchema = z.strictObject({
  type: z.literal('change'),
  /** Parts that are other than before, whole. */
  parts: z.partial(z.strictObject(wholeParts)),
  /** Steps from place `from` on; those after are gone. */
  steps: z.optional(z.strictObject({ from: z.int().check(z.gte(0)), rows: z.array(stepRowSchema) })),
  news: z.array(newsSchema),
});
export type PageChange = z.output<typeof changeSchema>;

/** To the page. */
export const toPageSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('snapshot'),
    data: pageDataSchema,
    /** The page's words in the reader's language, by their names in wording.ts. */
    words: z.record(z.string(), z.string()),
    /** What the editor gives back to open the page again after a reload of the window. */
    restore: z.strictObject({ folder: z.string(), run: z.string() }),
  }),
  changeSchema,
]);
export type ToPage = z.output<typeof toPageSchema>;
export type PageRestore = Extract<ToPage, { type: 'snapshot' }>['restore'];

const LARGEST_IMAGE = 24 * 1024 * 1024;

/** To the host. */
export const toHostSchema = z.discriminatedUnion('type', [
  /** The page's script runs and wants all there is. */
  z.strictObject({ type: z.literal('ready') }),
  z.strictObject({ type: z.literal('export-csv'), table: z.enum([...PLOT_IDS, 'samples', 'evaluations']) }),
  z.strictObject({
    type: z.literal('export-png'),
    plot: z.enum(PLOT_IDS),
    base64: z.string().check(z.maxLength(LARGEST_IMAGE), z.regex(/^[A-Za-z0-9+/]+={0,2}$/)),
  }),
  /** Something in the page went wrong; for the log. */
  z.strictObject({ type: z.literal('trouble'), message: z.string().check(z.maxLength(4000)) }),
]);
export type ToHost = z.output<typeof toHostSchema>;
export type ExportTable = Extract<ToHost, { type: 'export-csv' }>['table'];

const restoreSchema = z.strictObject({
  folder: z.string(),
  /** A path in the folder that does not lead out of it. */
  run: z.string().check(
    z.minLength(1),
    z.refine((run) => !/^[/\\]|^[a-z]:/i.test(run) && !run.split(/[/\\]/).includes('..')),
  ),
});

/** What the editor gave back, or undefined when it is not ours. */
export function readRestore(value: unknown): PageRestore | undefined {
  const read = restoreSchema.safeParse(value);
  return read.success ? read.data : undefined;
}
