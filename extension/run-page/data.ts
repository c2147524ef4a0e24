/**
 * What the run page shows, as plain data: the host makes it, sends it whole when the page is ready and in parts later,
 * and the page draws it. The schemas are checked on both sides; zod's small build keeps the page's script short.
 */
import * as z from 'zod/mini';

const count = z.int().check(z.gte(0));
const share = z.nullable(z.number());
/** What cannot be told (an empty batch, an older record) is null; JSON has no NaN. */
const figure = z.nullable(z.number());
const text = z.string().check(z.maxLength(20_000));

/** A success rate over valid episodes with its 95% Wilson interval; null without a valid episode. */
export const rateSchema = z.strictObject({
  episodes: count,
  successes: count,
  rate: share,
  low: z.number(),
  high: z.number(),
});
export type PageRate = z.output<typeof rateSchema>;

export const headSchema = z.strictObject({
  /** As the daemon names it, `runs/...`. */
  run: text,
  /** Of its config. */
  name: text,
  directory: text,
  state: z.enum(['running', 'stopped', 'failed', 'interrupted', 'finished', 'damaged', 'newer']),
  stopping: z.enum(['none', 'episode', 'round', 'now']),
  startedAt: z.nullable(text),
  /** Time of the last journal entry. */
  changedAt: z.nullable(text),
  /** Why it failed, why nothing of it can be read, or what else could not be read. */
  problem: z.nullable(text),
  /** What of its journal cannot be read: what is shown of the run goes no further. */
  unread: z.nullable(text),
  /** Why nothing new comes at the moment. */
  connection: z.nullable(text),
  /** The newest ones, oldest first. */
  warnings: z.array(text),
  warningCount: count,
});

export const stageRowSchema = z.strictObject({
  stage: z.enum(['teacher', 'sft', 'rl', 'evaluate']),
  /** `unread`: the journal cannot be read as far as its end. */
  state: z.enum(['waiting', 'begun', 'done', 'unread']),
  startedAt: z.nullable(text),
  /** Of the life that finished it. */
  seconds: figure,
  /** Part that is done, from 0 to 1, where it is known. */
  share,
  /** Estimated. */
  secondsLeft: figure,
});

export const workSchema = z.nullable(
  z.strictObject({ label: text, unit: text, done: z.number(), total: z.number(), secondsLeft: figure }),
);

export const roundRowSchema = z.strictObject({
  round: count,
  /** Null for the row of the policy before the first round. */
  state: z.nullable(z.enum(['collecting', 'building', 'updating', 'finished'])),
  rollouts: z.nullable(rateSchema),
  invalid: count,
  /** Of valid episodes. */
  meanReward: figure,
  /** Of the policy that the round ended with. */
  validation: z.nullable(rateSchema),
  /** Calls by sample status. */
  samples: z.record(z.string(), count),
});
export type RoundRow = z.output<typeof roundRowSchema>;

export const stepRowSchema = z.strictObject({
  stage: z.enum(['sft', 'rl']),
  round: count,
  step: count,
  learningRate: figure,
  loss: figure,
  gradNorm: figure,
  clipLow: share,
  clipHigh: share,
  clipDual: share,
  importance: figure,
  capped: share,
  kl: figure,
  meanLength: figure,
  maxLength: figure,
});
export type StepRow = z.output<typeof stepRowSchema>;

const pairedSchema = z.strictObject({ pairs: count, wins: count, losses: count, p: z.number() });
export type PagePaired = z.output<typeof pairedSchema>;

export const evaluationsSchema = z.nullable(
  z.strictObject({
    /** In the order of their versions. */
    planners: z.array(
      z.strictObject({ label: text, overall: rateSchema, suites: z.record(z.string(), rateSchema), invalid: count }),
    ),
    /** b against a, on the same task, state and attempt. */
    comparisons: z.array(
      z.strictObject({ a: text, b: text, overall: pairedSchema, suites: z.record(z.string(), pairedSchema) }),
    ),
  }),
);

/** The parts of the page. `steps` is sent by what was added; the others are sent whole when they change. */
export const pageDataSchema = z.strictObject({
  head: headSchema,
  stages: z.array(stageRowSchema),
  work: workSchema,
  rounds: z.array(roundRowSchema),
  steps: z.array(stepRowSchema),
  evaluations: evaluationsSchema,
});
export type PageData = z.output<typeof pageDataSchema>;
