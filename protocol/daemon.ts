/** Messages between the editor and the trainer daemon: JSON-RPC 2.0 methods with their parameters and results. */
import { z } from 'zod';
import { journalLineSchema, stageSchema } from './journal.ts';

export const DAEMON_PROTOCOL = 1;

const run = z.strictObject({ run: z.string().min(1) });
const page = {
  offset: z.number().int().nonnegative().default(0),
  limit: z.number().int().min(1).max(1000).default(100),
};
const runSummary = z.strictObject({
  name: z.string(),
  path: z.string(),
  state: z.enum(['running', 'stopped', 'failed', 'finished', 'damaged']),
  stage: stageSchema.nullable(),
  seq: z.number().int().nonnegative(),
});

/** Parameters and result of every method. Record-valued results are checked by the record schemas. */
export const daemonMethods = {
  'daemon.hello': {
    params: z.strictObject({ protocol: z.number().int(), client: z.string() }),
    result: z.strictObject({
      protocol: z.number().int(),
      version: z.string(),
      workspace: z.string(),
      pid: z.number().int(),
      startedAt: z.iso.datetime(),
    }),
  },
  'runs.list': { params: z.strictObject({}), result: z.array(runSummary) },
  'runs.start': {
    params: z.strictObject({
      config: z.string(),
      stages: z.array(stageSchema).optional(),
      rounds: z.number().int().optional(),
    }),
    result: runSummary,
  },
  'runs.stop': {
    params: run.extend({ mode: z.enum(['episode', 'round', 'now']) }),
    result: z.strictObject({ accepted: z.boolean() }),
  },
  'runs.resume': { params: run, result: runSummary },
  'runs.subscribe': {
    params: run.extend({ fromSeq: z.number().int().nonnegative().default(0) }),
    result: z.strictObject({ seq: z.number().int() }),
  },
  'episodes.list': {
    params: run.extend({ section: z.string(), ...page }),
    result: z.strictObject({ total: z.number().int(), items: z.array(z.unknown()) }),
  },
  'episodes.get': { params: run.extend({ episode: z.string() }), result: z.unknown() },
  'calls.get': { params: run.extend({ call: z.string() }), result: z.unknown() },
  'samples.get': {
    params: run.extend({ round: z.number().int().positive(), ...page }),
    result: z.strictObject({ total: z.number().int(), items: z.array(z.unknown()) }),
  },
  'adapter.check': {
    params: z.strictObject({ adapter: z.string(), outputs: z.array(z.string()) }),
    result: z.unknown(),
  },
  'policies.list': { params: run, result: z.array(z.unknown()) },
  'policies.activate': {
    params: run.extend({ policyVersion: z.number().int().nonnegative() }),
    result: z.strictObject({ url: z.string() }),
  },
  'evaluations.list': { params: run, result: z.array(z.unknown()) },
  'evaluations.compare': { params: z.strictObject({ a: z.string(), b: z.string() }), result: z.unknown() },
} as const;
export type DaemonMethod = keyof typeof daemonMethods;

/** Notifications from the daemon; a run's sequence number is its journal's. */
export const daemonNotifications = {
  'run.journal': z.strictObject({ run: z.string(), line: journalLineSchema }),
  'run.progress': z.strictObject({
    run: z.string(),
    stage: stageSchema,
    unit: z.string(),
    label: z.string(),
    done: z.number(),
    total: z.number(),
  }),
} as const;

/** `<workspace>/.agentic-robo-rl/daemon.json` */
export const daemonRecordSchema = z.strictObject({
  pid: z.number().int().positive(),
  port: z.number().int().min(1).max(65535),
  token: z.string().min(32),
  startedAt: z.iso.datetime(),
  workspace: z.string(),
  protocol: z.number().int(),
});
export type DaemonRecord = z.output<typeof daemonRecordSchema>;
