/** The records of a run directory (design section 3.1): one schema each, shared by writers, readers and screens. */
import { z } from 'zod';
import { type Message, type Tool, toolCallSchema } from './chat.ts';
import { naturalList, numberList } from './number-lists.ts';

/** Version of the record formats; readers accept this one and mark newer records as such. */
export const RECORD_VERSION = 1;

const id = z.string().min(1).max(300);
const sha = z.string().regex(/^[0-9a-f]{64}$/);
const tokenIds = naturalList();

export const roleSchema = z.enum(['teacher', 'rollout', 'validation', 'evaluation']);
export type Role = z.output<typeof roleSchema>;

export const samplingRecordSchema = z.looseObject({
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  seed: z.number().nullish(),
  max_tokens: z.number().nullish(),
});
export type SamplingRecord = z.output<typeof samplingRecordSchema>;

export const callStatusSchema = z.enum(['complete', 'upstream-error', 'aborted', 'timeout', 'limit']);

/** One planner request and its response. Message bodies and tools are stored once, by hash, in messages.jsonl. */
export const callSchema = z.strictObject({
  version: z.literal(RECORD_VERSION),
  id,
  episode: id,
  /** 0-based index in the episode. */
  turn: z.number().int().nonnegative(),
  surface: z.enum(['chat', 'responses', 'messages', 'completions']),
  /** Version of the planner when the call was sent on; null for teachers that are not planners of this run. */
  policyVersion: z.number().int().nonnegative().nullable(),
  request: z.strictObject({
    /** Where the messages start: the first `shared` messages of call `base` (an earlier one of the episode). */
    start: z.strictObject({ base: id, shared: z.number().int().positive() }).optional(),
    /** Hashes of the messages that follow. */
    messages: z.array(sha),
    tools: sha.nullable(),
    /** Everything else the harness sent, as it was. */
    other: z.record(z.string(), z.unknown()),
  }),
  samplingAsked: samplingRecordSchema,
  samplingSent: samplingRecordSchema,
  /** Prompt token ids: the first `shared` ids of the prompt of call `base`, then `suffix`. Null when the server told none. */
  prompt: z
    .strictObject({
      base: id.nullable(),
      shared: z.number().int().nonnegative(),
      suffix: tokenIds,
      length: z.number().int().nonnegative(),
    })
    .nullable(),
  /** Sampled ids and their log-probs (log b), of equal length. Null when the server told none. */
  responseTokenIds: tokenIds.nullable(),
  logprobs: numberList().nullable(),
  response: z
    .strictObject({
      content: z.string().nullable(),
      reasoning: z.string().nullable(),
      toolCalls: z.array(toolCallSchema),
    })
    .nullable(),
  /**
   * Fields of the reply that were not known when it was recorded, by their paths (`choices[].message.odd`); a stream's put
   * together. Read by nobody but people.
   */
  responseOther: z
    .strictObject({
      fields: z.array(z.strictObject({ path: z.string(), value: z.unknown() })),
      /** There was more than is kept; `…[cut]` stands where a text or a deep value was cut. */
      cut: z.literal(true).optional(),
    })
    .optional(),
  finishReason: z.string().nullable(),
  usage: z
    .looseObject({ prompt_tokens: z.number(), completion_tokens: z.number(), total_tokens: z.number() })
    .nullable(),
  startedAt: z.iso.datetime(),
  /** Milliseconds. */
  durations: z.strictObject({ firstToken: z.number().nullable(), total: z.number() }),
  status: callStatusSchema,
  error: z.string().nullable(),
  retryOf: id.nullable(),
  /** Why a complete call may not be trained on: ids or log-probs are missing or contradict each other. */
  untrainable: z.string().optional(),
  /** Another call of the episode was in flight at the same time; turns are in order of arrival. */
  concurrent: z.boolean().optional(),
});
export type CallRecord = z.output<typeof callSchema>;

/** Body of one message, tool list or other large value in messages.jsonl; images inside are `{type: 'image_ref'}` parts. */
export const bodySchema = z.strictObject({ sha256: sha, body: z.unknown() });

export const imageRefSchema = z.strictObject({
  type: z.literal('image_ref'),
  sha256: sha,
  mediaType: z.string(),
  bytes: z.number().int(),
  /** What the part said besides the image, where it did: for example `{ image_url: { detail: 'high' } }`. */
  rest: z.record(z.string(), z.unknown()).optional(),
});
export type ImageRef = z.output<typeof imageRefSchema>;

export const episodeSchema = z.strictObject({
  version: z.literal(RECORD_VERSION),
  id,
  role: roleSchema,
  /** RL round, or the policy version under validation or evaluation; 0 for teachers. */
  round: z.number().int().nonnegative(),
  task: z.string(),
  init: z.number().int().nonnegative(),
  attempt: z.number().int().nonnegative(),
  reward: z.number(),
  valid: z.boolean(),
  invalidReason: z.string().nullable(),
  /** Turn whose actions reached the goal; calls of later turns come after success. Null when unknown or never. */
  successTurn: z.number().int().nonnegative().nullable(),
  policyVersion: z.number().int().nonnegative().nullable(),
  /** Complete calls. */
  turns: z.number().int().nonnegative(),
  seconds: z.number().nonnegative(),
  /** How it ended: by itself, by one of our limits, by a crash or hang, or cancelled. */
  end: z.enum(['exit', 'turn-limit', 'time-limit', 'token-limit', 'hang', 'crash', 'cancelled', 'adapter-error']),
  tryNumber: z.number().int().nonnegative(),
  /** Relative to the run directory. */
  outputDir: z.string().nullable(),
  /** File relative to `outputDir`. */
  trajectory: z.string().nullable(),
  startedAt: z.iso.datetime(),
});
export type EpisodeRecord = z.output<typeof episodeSchema>;

export const sampleStatusSchema = z.string().regex(/^(selected|not-selected|ineligible:[a-z-]+|zero-weight:[a-z-]+)$/);

export const sampleSchema = z.strictObject({
  call: id,
  episode: id,
  /** A of eq. 4; null when the group has none. */
  advantage: z.number().nullable(),
  /** 1 / K of the episode; null when not selected. */
  u: z.number().nullable(),
  promptLength: z.number().int().nonnegative().nullable(),
  responseLength: z.number().int().nonnegative().nullable(),
  status: sampleStatusSchema,
});
export type SampleRecord = z.output<typeof sampleSchema>;

const perToken = numberList();
export const scoreSchema = z.strictObject({
  call: id,
  pass: z.number().int().nonnegative(),
  /** Optimizer step of the run (1-based) in which the sample was used. */
  step: z.number().int().positive(),
  logq: perToken,
  logp: perToken,
  /** Importance weight w of eq. 6. */
  w: perToken,
  /** 0 none, 1 clipped low, 2 clipped high, 3 dual-clipped. */
  clipped: z.array(z.number().int().min(0).max(3)),
});
export type ScoreRecord = z.output<typeof scoreSchema>;

export const targetSchema = z.strictObject({
  call: id,
  episode: id,
  status: z.string().regex(/^(target|history-only|dropped:[a-z-]+)$/),
  /** Where the supervised ids come from. */
  source: z.enum(['recorded-ids', 're-encoded']).nullable(),
  promptLength: z.number().int().nullable(),
  responseLength: z.number().int().nullable(),
});
export type TargetRecord = z.output<typeof targetSchema>;

export const stepSchema = z.looseObject({
  step: z.number().int().positive(),
  stage: z.enum(['sft', 'rl']),
  round: z.number().int().nonnegative(),
  learningRate: z.number(),
  loss: z.number(),
  gradNorm: z.number(),
  items: z.number().int(),
  tokens: z.number().int(),
  seconds: z.number(),
  clipFractions: z.strictObject({ low: z.number(), high: z.number(), dual: z.number() }).optional(),
  importance: z.strictObject({ mean: z.number(), cappedShare: z.number() }).optional(),
  approximateKl: z.number().optional(),
  responseLength: z.strictObject({ mean: z.number(), max: z.number() }).optional(),
});
export type StepRecord = z.output<typeof stepSchema>;

export const policySchema = z.strictObject({
  version: z.number().int().nonnegative(),
  parent: z.number().int().nonnegative().nullable(),
  stage: z.enum(['base', 'sft', 'rl']),
  round: z.number().int().nonnegative(),
  /** Optimizer steps behind it, of its stage. */
  step: z.number().int().nonnegative(),
  validation: z.strictObject({ episodes: z.number().int(), successes: z.number().int(), rate: z.number() }).nullable(),
});
export type PolicyRecord = z.output<typeof policySchema>;

/** One (task, init) of a round's plan. */
export const groupSchema = z.strictObject({ task: z.string(), init: z.number().int().nonnegative() });
export const planSchema = z.strictObject({
  round: z.number().int().positive(),
  policyVersion: z.number().int().nonnegative(),
  attempts: z.number().int().min(2),
  groups: z.array(groupSchema),
});
export type RoundPlan = z.output<typeof planSchema>;

const tally = z.strictObject({ episodes: z.number().int(), successes: z.number().int(), invalid: z.number().int() });

export const roundSummarySchema = z.looseObject({
  round: z.number().int().positive(),
  policyVersion: z.number().int(),
  episodes: z.number().int(),
  invalid: z.number().int(),
  successes: z.number().int(),
  meanReward: z.number(),
  groupsWithSignal: z.number().int(),
  calls: z.number().int(),
  samplesByStatus: z.record(z.string(), z.number().int()),
  selected: z.number().int(),
  optimizerSteps: z.number().int(),
  seconds: z.strictObject({ collect: z.number(), samples: z.number(), update: z.number() }),
});
export type RoundSummary = z.output<typeof roundSummarySchema>;

export const evaluationSummarySchema = z.strictObject({
  id: z.string(),
  policyVersion: z.number().int(),
  kind: z.enum(['validation', 'evaluation']),
  total: tally,
  suites: z.record(z.string(), tally),
  seconds: z.number(),
});
export type EvaluationSummary = z.output<typeof evaluationSummarySchema>;

export const runInfoSchema = z.looseObject({
  version: z.literal(RECORD_VERSION),
  id: z.string().regex(/^[0-9a-f]{8}$/),
  name: z.string(),
  createdAt: z.iso.datetime(),
  config: z.record(z.string(), z.unknown()),
  /** Folder that relative paths of the config start from. */
  configFolder: z.string(),
  software: z.record(z.string(), z.string()),
  adapterSha256: z.string().nullable(),
  workspaceCommit: z.string().nullable(),
});
export type RunInfo = z.output<typeof runInfoSchema>;

/** A call with its message bodies, tools and token ids in place. Images are image_ref parts once stored. */
export interface ResolvedCall extends Omit<CallRecord, 'version' | 'request' | 'prompt'> {
  request: { messages: Message[]; tools: Tool[] | null; other: Record<string, unknown> };
  promptTokenIds: number[] | null;
}

/** A call as read from a run directory: whole, or a line that could not be read. */
export type SampleCall = ResolvedCall | { damaged: string; id: string | null; turn: number | null };
