/** What daemon and editor send each other about runs, records, checks and served planners. */
import { z } from 'zod';
import { outcomeSchema, stateCountsSchema, taskListSchema } from './adapter.ts';
import { messageSchema, toolSchema } from './chat.ts';
import { stageSchema } from './journal.ts';
import { callSchema, episodeSchema, sampleSchema, scoreSchema } from './records.ts';
import { runStateSchema } from './run-state.ts';

const count = z.number().int().nonnegative();

/** One thing wrong in a file; see `Finding` in finding.ts. */
export const findingSchema = z.looseObject({
  code: z.string(),
  severity: z.enum(['error', 'warning', 'hint']),
  message: z.string(),
  file: z.string().optional(),
  line: z.number().int(),
  column: z.number().int(),
  endLine: z.number().int(),
  endColumn: z.number().int(),
  path: z.string().optional(),
});

/** See `ProgressTick` in journal.ts. */
export const progressTickSchema = z.strictObject({
  stage: stageSchema,
  unit: z.string(),
  label: z.string(),
  done: z.number(),
  total: z.number(),
});

/** A line of a file that cannot be used, and why. It stands in the place of its record. */
export const damagedSchema = z.strictObject({
  damaged: z.string(),
  /** 1-based; 0 when the file as a whole is meant. */
  line: count,
  torn: z.literal(true).optional(),
  newer: z.literal(true).optional(),
});

/** One line about a run, for lists. */
export const runSummarySchema = z.strictObject({
  /** Names the run in every message: its folder relative to the workspace, with forward slashes (`runs/demo-...`). */
  run: z.string(),
  /** Absolute path of the run directory. */
  directory: z.string(),
  /** Of its config. */
  name: z.string(),
  createdAt: z.iso.datetime().nullable(),
  /**
   * `running`: a process writes to it, this daemon or a command line (`writer`). `interrupted`: its process died without
   * a word; it can be resumed as stopped and failed ones can. `damaged`: run.json cannot be read
   * (`problem`). `newer`: it is of a format that this version does not know yet (`problem`).
   */
  state: z.enum(['running', 'stopped', 'failed', 'interrupted', 'finished', 'damaged', 'newer']),
  /** Who writes to it. Only a run of `daemon` can be stopped here. */
  writer: z.enum(['daemon', 'other']).nullable(),
  /** How it was asked to stop. */
  stopping: z.enum(['none', 'episode', 'round', 'now']),
  /** The stage begun last. */
  stage: stageSchema.nullable(),
  /** Last journal entry. */
  seq: count,
  /** The newest tick of a run of this daemon. */
  progress: progressTickSchema.nullable(),
  /** Why it failed, or why nothing of it can be read; without the path. */
  problem: z.string().nullable(),
  /**
   * What of its journal cannot be read; null while nothing of the kind is known, as journals of runs that are only listed
   * are looked through later.
   */
  unread: z.string().nullable(),
});
export type RunSummary = z.output<typeof runSummarySchema>;

/** Everything about a run but its records, which are asked for page by page. */
export const runSnapshotSchema = z.strictObject({
  summary: runSummarySchema,
  /** The journal up to `state.seq`; entries after it go in with `applyJournal`. */
  state: runStateSchema,
  /** Sections on disk, in the order of the run; more than the state's when an episode is being played for the first time. */
  sections: z.array(z.string()),
});
export type RunSnapshot = z.output<typeof runSnapshotSchema>;

/** One (task, initial state) of a section with its attempts. */
export const groupSchema = z.strictObject({
  task: z.string(),
  init: count,
  episodes: count,
  successes: count,
  invalid: count,
  /** Mean reward of its valid episodes. */
  meanReward: z.number().nullable(),
  /** Whether rewards differ, so that the group teaches something. Null outside rounds. */
  signal: z.boolean().nullable(),
  /** Attempts planned; null where there is no plan. */
  planned: count.nullable(),
  /** Further episodes of it whose records cannot be read; left out where there is none. */
  unread: count.optional(),
});
export type GroupSummary = z.output<typeof groupSchema>;

/** Which episodes are meant. Every part that is given has to hold. */
export const episodeFilterSchema = z.strictObject({
  /** Whole or part of `suite/index`. */
  task: z.string().optional(),
  init: count.optional(),
  /** `failure` is valid without success. */
  outcome: z.enum(['success', 'failure', 'invalid']).optional(),
});
export type EpisodeFilter = z.output<typeof episodeFilterSchema>;

/** A call without its texts, for lists. */
export const callSummarySchema = z.strictObject({
  id: z.string(),
  episode: z.string(),
  turn: count,
  status: callSchema.shape.status,
  finishReason: z.string().nullable(),
  policyVersion: count.nullable(),
  promptTokens: count.nullable(),
  responseTokens: count.nullable(),
  /** Milliseconds. */
  duration: z.number(),
  startedAt: z.iso.datetime(),
  /** Names of the tools it called. */
  tools: z.array(z.string()),
  /** Of its round; null outside rounds and before samples are built. */
  sample: sampleSchema.nullable(),
});
export type CallSummary = z.output<typeof callSummarySchema>;

/** A call with messages, tools and prompt ids in place; images are `image_ref` parts (`blobs.get`). */
export const resolvedCallSchema = callSchema.omit({ version: true, request: true, prompt: true }).extend({
  request: z.strictObject({
    messages: z.array(messageSchema),
    tools: z.array(toolSchema).nullable(),
    other: z.record(z.string(), z.unknown()),
  }),
  promptTokenIds: z.array(count).nullable(),
});

export const callDetailsSchema = z.strictObject({
  section: z.string(),
  call: resolvedCallSchema,
  sample: sampleSchema.nullable(),
  /** One a pass of the update that used it: log q, log p, w and clip flags of every response token. */
  scores: z.array(scoreSchema),
});

export const episodeDetailsSchema = z.strictObject({
  section: z.string(),
  episode: episodeSchema,
  /** Absolute path of what the harness left, where it is still there. */
  outputDirectory: z.string().nullable(),
});

/** What became of an adapter on recorded outputs, as `check-adapter --json` prints it. */
export const adapterCheckSchema = z.strictObject({
  ok: z.boolean(),
  adapter: z.strictObject({
    name: z.string(),
    file: z.string(),
    sha256: z.string(),
    hasScriptedTeacher: z.boolean(),
    tasks: taskListSchema,
    states: stateCountsSchema.unwrap().nullable(),
  }),
  outputs: z.array(
    z.strictObject({
      directory: z.string(),
      /** Whether the folder says what was asked; without it task, init and attempt cannot be compared. */
      known: z.boolean(),
      /** The five fields. */
      outcome: outcomeSchema.nullable(),
      problem: z.string().nullable(),
      warnings: z.array(z.string()),
      remark: z.string().nullable(),
    }),
  ),
});
export type AdapterCheck = z.output<typeof adapterCheckSchema>;

const rate = z.looseObject({
  episodes: count,
  successes: count,
  rate: z.number().nullable(),
  low: z.number(),
  high: z.number(),
});
const paired = z.looseObject({ pairs: count, a: rate, b: rate, wins: count, losses: count, p: z.number() });
const named = z.looseObject({ task: z.string(), init: count, attempt: count, reason: z.string() });
const side = z.strictObject({ directory: z.string(), evaluation: z.string(), policyVersion: count });

/** Two planners on the same (task, init, attempt), as `compare --json` prints it. */
export const comparisonSchema = z.strictObject({
  a: side,
  b: side,
  comparison: z.looseObject({
    overall: paired,
    suites: z.record(z.string(), paired),
    invalid: z.strictObject({ a: z.array(named), b: z.array(named) }),
    missing: z.strictObject({ a: z.array(z.string()), b: z.array(z.string()) }),
  }),
});

/** What the daemon found on this machine, as `doctor --json` prints it. */
export const doctorSchema = z.strictObject({
  ok: z.boolean(),
  checks: z.array(
    z.strictObject({
      name: z.string(),
      state: z.enum(['ok', 'warning', 'missing', 'error']),
      detail: z.string(),
      advice: z.string().optional(),
    }),
  ),
});

/** Findings by file, as `validate --json` prints them. */
export const validationSchema = z.strictObject({
  ok: z.boolean(),
  files: z.array(z.strictObject({ file: z.string(), ok: z.boolean(), findings: z.array(findingSchema) })),
});

/** A planner behind an OpenAI-compatible endpoint on this machine. */
export const servedSchema = z.strictObject({
  /** Checkpoint folder, absolute. It names the served planner. */
  checkpoint: z.string(),
  /** Base URL, ends in `/v1`. */
  url: z.string(),
  /** Model name to ask for. */
  model: z.string(),
  /** Key to send as a bearer token. */
  apiKey: z.string(),
  /** Where it is a policy of a run: which. */
  run: z.string().nullable(),
  policyVersion: count.nullable(),
  /** Whether `policies.activate` made it the workspace's planner. */
  active: z.boolean(),
  parameters: count,
  /** Longest sequence in tokens. */
  context: count,
  warnings: z.array(z.string()),
});
export type Served = z.output<typeof servedSchema>;
