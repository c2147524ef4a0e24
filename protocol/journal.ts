/** The journal of a run (journal.jsonl): every stage transition and decision, from which a run resumes. */
import { z } from 'zod';
import { evaluationSummarySchema, policySchema, stepSchema } from './records.ts';

export const stageSchema = z.enum(['teacher', 'sft', 'rl', 'evaluate']);
export type Stage = z.output<typeof stageSchema>;

const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.strictObject({ type: z.literal(type), ...shape });
const round = z.number().int().nonnegative();

export const journalEventSchema = z.discriminatedUnion('type', [
  event('run-started', { run: z.string(), stages: z.array(stageSchema) }),
  event('run-resumed', { afterSeq: z.number().int() }),
  event('stage-started', { stage: stageSchema }),
  event('stage-finished', { stage: stageSchema, seconds: z.number() }),
  /** An episode's record is on disk. */
  event('episode-finished', {
    section: z.string(),
    episode: z.string(),
    task: z.string(),
    init: z.number().int(),
    attempt: z.number().int(),
    reward: z.number(),
    valid: z.boolean(),
    invalidReason: z.string().nullable(),
    turns: z.number().int(),
  }),
  event('targets-built', { targets: z.number().int(), dropped: z.record(z.string(), z.number().int()) }),
  event('round-planned', {
    round,
    policyVersion: z.number().int(),
    groups: z.number().int(),
    attempts: z.number().int(),
  }),
  event('round-collected', { round, episodes: z.number().int(), invalid: z.number().int() }),
  event('samples-built', { round, selected: z.number().int(), byStatus: z.record(z.string(), z.number().int()) }),
  event('step', { record: stepSchema }),
  event('checkpoint', {
    stage: z.enum(['sft', 'rl']),
    number: z.number().int(),
    step: z.number().int(),
    path: z.string(),
  }),
  event('evaluated', { summary: evaluationSummarySchema, path: z.string() }),
  event('checkpoint-chosen', {
    stage: z.enum(['sft', 'rl']),
    number: z.number().int(),
    policyVersion: z.number().int(),
    successes: z.number().int(),
    episodes: z.number().int(),
  }),
  event('policy-created', { policy: policySchema }),
  event('policy-served', { policyVersion: z.number().int() }),
  event('round-finished', { round, policyVersion: z.number().int() }),
  event('warning', { message: z.string() }),
  event('run-stopped', { reason: z.enum(['episode', 'round', 'now', 'signal']) }),
  event('run-failed', { message: z.string() }),
  event('run-finished', { seconds: z.number() }),
]);
export type JournalEvent = z.output<typeof journalEventSchema>;

export const journalLineSchema = z.strictObject({
  seq: z.number().int().positive(),
  at: z.iso.datetime(),
  event: journalEventSchema,
});
export type JournalLine = z.output<typeof journalLineSchema>;

/** Progress between journal entries; told to watchers, never stored. */
export interface ProgressTick {
  stage: Stage;
  /** What is counted, for example `episodes`, `steps`. */
  unit: string;
  label: string;
  done: number;
  total: number;
}

/** What a run's watcher receives. */
export type RunEvent =
  | {
      kind: 'journal';
      line: JournalLine;
      /** Of an earlier life of the run: told first when it is resumed. */
      past?: true;
    }
  | { kind: 'progress'; tick: ProgressTick };
