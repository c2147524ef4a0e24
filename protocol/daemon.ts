/**
 * The daemon's API (design section 3.4): JSON-RPC 2.0 over a WebSocket on 127.0.0.1, every message checked with zod on
 * both sides. One message a WebSocket text frame, no batches.
 *
 * How a client gets in: it reads the record of the workspace's daemon (daemon-record.ts) and opens
 * `ws://127.0.0.1:PORT/` with `Authorization: Bearer TOKEN` and without an Origin header. The first request is
 * `daemon.hello`. The daemon pings; a client that hears nothing for {@link SILENCE_SECONDS} connects anew.
 *
 * How a client follows a run: `runs.subscribe` with the last sequence number it has (0 for none), which is that of the
 * run's journal. It then gets every entry after it, in order and once, as `run.journal`. When it is too far behind, or
 * too slow, it gets a `run.snapshot` in place of the entries that it lacks, and goes on from there; the entries
 * themselves stay to be read with `runs.journal`. Progress ticks have no number and may be left out.
 */
import { z } from 'zod';
import * as shapes from './daemon-shapes.ts';
import { journalLineSchema, stageSchema } from './journal.ts';
import { episodeSchema, evaluationSummarySchema, policySchema, sampleSchema, stepSchema } from './records.ts';

export * from './daemon-record.ts';
export * from './daemon-shapes.ts';

/** Newest version of this protocol, and the oldest that this package still speaks. */
export const DAEMON_PROTOCOL = 1;
export const OLDEST_DAEMON_PROTOCOL = 1;

/** Largest message that the daemon takes, and that a client has to take. Bytes. */
export const LARGEST_REQUEST = 1024 * 1024;
export const LARGEST_ANSWER = 64 * 1024 * 1024;
/** Requests of one client that may be at work at a time. */
export const MOST_REQUESTS = 32;
/**
 * The daemon pings this often, and drops a client that has not answered the ping before. A new client has as long for its
 * `daemon.hello`. Seconds.
 */
export const HEARTBEAT_SECONDS = 15;
/** A client that has heard nothing for this long takes the connection for lost. Seconds. */
export const SILENCE_SECONDS = 40;

/** Codes of JSON-RPC errors. `data` has the shape of {@link errorDataSchema}. */
export const DAEMON_ERRORS = {
  /** No JSON. */
  parse: -32700,
  /** JSON, but no request or notification of JSON-RPC 2.0. */
  request: -32600,
  /** No method of this name. */
  method: -32601,
  /** Parameters of another shape; the message says which key. */
  params: -32602,
  /** A fault of the daemon; its log has more. */
  internal: -32603,
  /** `daemon.hello` comes first. */
  helloFirst: -32001,
  /** No protocol version that both speak: restart the daemon (`daemon.shutdown` is allowed). `data.protocol`, `data.version`. */
  incompatible: -32002,
  /** The daemon is about to end. */
  leaving: -32003,
  /** More than {@link MOST_REQUESTS} at a time. */
  tooMany: -32004,
  /** The answer would be larger than {@link LARGEST_ANSWER}: ask for less. */
  tooLarge: -32005,
  /** Cancelled by `rpc.cancel` or by the end of the connection. */
  cancelled: -32006,
  /** No such run, section, episode, call, policy or file. */
  notFound: -32010,
  /** A path that leads out of the workspace folder. */
  outside: -32011,
  /** A run of this daemon is at work already; `data.run` names it. One trains at a time. */
  busy: -32012,
  /** Another process writes to the run; stop it there. */
  otherWriter: -32013,
  /** The config has errors; `data.findings` says where. Nothing was started. */
  config: -32014,
  /** The work cannot be done; the message says why and what to do. `data.run` where a run had begun: it can be resumed. */
  failed: -32015,
  /** A record is damaged; the message says which and how. */
  damaged: -32016,
} as const;
export type DaemonErrorName = keyof typeof DAEMON_ERRORS;

export const errorDataSchema = z.looseObject({
  /** Name of the code in {@link DAEMON_ERRORS}. */
  kind: z.string(),
  findings: z.array(shapes.findingSchema).optional(),
  run: z.string().optional(),
  protocol: z.number().int().optional(),
  version: z.string().optional(),
});

const none = z.strictObject({});
const run = z.strictObject({
  /** As `RunSummary.run`; a bare name stands for `runs/NAME`. */
  run: z.string().min(1).max(4096),
});
/** A run's section: `teacher`, `sft`, `rounds/0001`, `evaluations/<id>`. */
const section = z.string().min(1).max(300);
const page = {
  offset: z.number().int().nonnegative().default(0),
  limit: z.number().int().min(1).max(1000).default(100),
};
/** Items `offset` to `offset + items.length` of `total`; fewer than asked for where they would be too large. */
const pageOf = <T extends z.ZodType>(item: T) =>
  z.strictObject({ total: z.number().int().nonnegative(), items: z.array(z.union([item, shapes.damagedSchema])) });
const path = z.string().min(1).max(4096);
const stopMode = z.enum(['episode', 'round', 'now']);

/** Parameters and result of every method. Paths are absolute or relative to the workspace folder, and never lead out of it. */
export const daemonMethods = {
  /**
   * First request of a connection: agrees on the newest version that both speak. The client holds `pid`, `startedAt`
   * and `workspace` against the record it came from.
   */
  'daemon.hello': {
    params: z.strictObject({
      /** Newest and oldest protocol version that the client speaks. */
      protocol: z.number().int(),
      oldestProtocol: z.number().int().optional(),
      /** Name and version of the client, for the log. */
      client: z.string().max(200),
    }),
    result: z.strictObject({
      /** The version agreed on. */
      protocol: z.number().int(),
      version: z.string(),
      workspace: z.string(),
      pid: z.number().int(),
      startedAt: z.iso.datetime(),
    }),
  },
  /** The daemon itself. */
  'daemon.status': {
    params: none,
    result: z.strictObject({
      version: z.string(),
      pid: z.number().int(),
      startedAt: z.iso.datetime(),
      clients: z.number().int(),
      /** The run that trains or evaluates now. */
      active: z.string().nullable(),
      served: z.array(shapes.servedSchema),
      /** Bytes of memory in use. */
      memory: z.number(),
      log: z.string(),
    }),
  },
  /**
   * Ends the daemon, also for clients of another protocol version. `idle` is refused as `busy` while a run is at work;
   * `now` stops that run first, so that it can be resumed.
   */
  'daemon.shutdown': {
    params: z.strictObject({ mode: z.enum(['idle', 'now']) }),
    result: z.strictObject({ accepted: z.literal(true) }),
  },

  /** Findings about configs and adapters, with what they refer to: `agentic-robo-rl validate`. Adapters are run where `runAdapter`. */
  'config.validate': {
    params: z.strictObject({ files: z.array(path).min(1).max(100), runAdapter: z.boolean().default(true) }),
    result: shapes.validationSchema,
  },
  /** What works on this machine and what is missing: `agentic-robo-rl doctor`. Takes some seconds. */
  'doctor.run': { params: none, result: shapes.doctorSchema },
  /** The five fields that an adapter makes of recorded output folders: `agentic-robo-rl check-adapter`. */
  'adapter.check': {
    params: z.strictObject({
      /** A shipped name or a path. */
      adapter: path,
      outputs: z.array(path).max(200),
    }),
    result: shapes.adapterCheckSchema,
  },

  /** Runs in `<workspace>/runs`, and runs of this daemon elsewhere in the workspace; newest first. */
  'runs.list': { params: none, result: z.array(shapes.runSummarySchema) },
  /**
   * Starts a training run. The answer comes when the run directory exists and its journal begins; a config with errors
   * is refused before (`config`).
   */
  'runs.start': {
    params: z.strictObject({
      config: path,
      /** Where to write; default `runs/<name>-<UTC time>`. */
      directory: path.optional(),
      stages: z.array(stageSchema).min(1).optional(),
      rounds: z.number().int().min(0).max(100_000).optional(),
    }),
    result: shapes.runSummarySchema,
  },
  /** Goes on with a run that was stopped, failed or interrupted. Of a finished one nothing is changed. */
  'runs.resume': {
    params: run.extend({
      stages: z.array(stageSchema).min(1).optional(),
      rounds: z.number().int().min(0).max(100_000).optional(),
    }),
    result: shapes.runSummarySchema,
  },
  /**
   * Asks a run of this daemon to stop: after the running episodes, after the round, or now (running episodes are played
   * again on resume). A finer wish may follow a coarser one. The end is told by `run.ended`.
   */
  'runs.stop': { params: run.extend({ mode: stopMode }), result: shapes.runSummarySchema },
  /** All about a run but its records. */
  'runs.snapshot': { params: run, result: shapes.runSnapshotSchema },
  /**
   * Follows a run from the entry after `fromSeq` on. Asked for again, the new number counts. The answer comes before the
   * first notification; `seq` is the journal's last entry at that moment.
   */
  'runs.subscribe': {
    params: run.extend({ fromSeq: z.number().int().nonnegative().default(0) }),
    result: z.strictObject({ run: z.string(), seq: z.number().int().nonnegative() }),
  },
  'runs.unsubscribe': { params: run, result: z.strictObject({ accepted: z.boolean() }) },
  /** Journal entries after `fromSeq`, oldest first; a page shorter than `limit` is the last. */
  'runs.journal': {
    params: run.extend({ fromSeq: z.number().int().nonnegative().default(0), limit: page.limit }),
    result: z.strictObject({ seq: z.number().int().nonnegative(), lines: z.array(journalLineSchema) }),
  },
  /** Tables of a run as the command line prints them: `agentic-robo-rl report --json`. */
  'runs.report': { params: run, result: z.looseObject({ directory: z.string(), state: z.string() }) },

  /**
   * Groups (task and initial state) of a section, in the order of its plan, or of first appearance. Damaged lines that do not
   * tell their group come behind them, each for itself.
   */
  'groups.list': {
    params: run.extend({ section, ...page, filter: shapes.episodeFilterSchema.optional() }),
    result: pageOf(shapes.groupSchema),
  },
  /**
   * Episodes of a section in the order they ended, or the newest first. Damaged ones are part of a filtered list where it
   * is a group's (a whole task and a state, no outcome) and they tell that they are of it.
   */
  'episodes.list': {
    params: run.extend({
      section,
      ...page,
      newestFirst: z.boolean().default(false),
      filter: shapes.episodeFilterSchema.optional(),
    }),
    result: pageOf(episodeSchema),
  },
  'episodes.get': { params: run.extend({ episode: z.string() }), result: shapes.episodeDetailsSchema },
  /**
   * Plays one episode as a run of its own, in `runs/<name>-episode-<UTC time>`: with the scripted or served teacher of
   * the config, or with a planner (a checkpoint folder, such as `runs/demo/policies/v0002`). Follow it as any run.
   */
  'episodes.run': {
    params: z.strictObject({
      config: path,
      /** `suite/index`. */
      task: z.string().regex(/^.+\/\d+$/, 'must be suite/index, for example tabletop_spatial/3'),
      init: z.number().int().nonnegative(),
      player: z.union([z.literal('teacher'), z.strictObject({ checkpoint: path })]),
    }),
    result: shapes.runSummarySchema,
  },
  /** Calls of an episode by turn. While it is being played, those on disk so far. */
  'calls.list': {
    params: run.extend({ section, episode: z.string(), ...page }),
    result: pageOf(shapes.callSummarySchema),
  },
  /** A call whole, with its sample and its scores. `section` spares a search. */
  'calls.get': {
    params: run.extend({ call: z.string(), section: section.optional() }),
    result: shapes.callDetailsSchema,
  },
  /** An image of a call by the hash in its `image_ref`. */
  'blobs.get': {
    params: run.extend({ sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
    result: z.strictObject({ mediaType: z.string(), base64: z.string() }),
  },
  /** Samples of a round. `counts` are of all its samples by status, whatever the filter. */
  'samples.get': {
    params: run.extend({
      round: z.number().int().positive(),
      ...page,
      /** Only statuses that begin so, for example `zero-weight`. */
      status: z.string().optional(),
      episode: z.string().optional(),
      /** Only samples with at least this |advantage|. */
      leastAdvantage: z.number().nonnegative().optional(),
    }),
    result: pageOf(sampleSchema).extend({ counts: z.record(z.string(), z.number().int()) }),
  },
  /** Optimizer steps of `sft` or of a round, for curves. */
  'steps.list': { params: run.extend({ section, ...page }), result: pageOf(stepSchema) },

  /** Policies of a run by version. `present`: its weights are there and can be served. */
  'policies.list': {
    params: run,
    result: z.array(
      z.strictObject({ policy: policySchema, directory: z.string(), present: z.boolean(), active: z.boolean() }),
    ),
  },
  /** Serves a policy as the workspace's planner, in place of the one activated before. */
  'policies.activate': {
    params: run.extend({ policyVersion: z.number().int().nonnegative() }),
    result: shapes.servedSchema,
  },
  /** Serves a checkpoint, until `serving.stop` or the end of the daemon. Of one that is served already, the same is told. */
  'serving.start': {
    params: z.strictObject({ checkpoint: path, deterministic: z.boolean().default(false) }),
    result: shapes.servedSchema,
  },
  'serving.stop': { params: z.strictObject({ checkpoint: path }), result: z.strictObject({ accepted: z.boolean() }) },
  'serving.list': { params: none, result: z.array(shapes.servedSchema) },

  /** Finished evaluations of a run, validations included. */
  'evaluations.list': { params: run, result: z.array(z.union([evaluationSummarySchema, shapes.damagedSchema])) },
  /**
   * Evaluates on the held-out states: planners of a run (default: base, fine-tuned and chosen RL planner), or a
   * checkpoint under a config, as a run of its own in `runs/<name>-evaluation-<UTC time>`. Follow it as any run.
   */
  'evaluations.start': {
    params: z.union([
      run.extend({ policies: z.array(z.number().int().nonnegative()).min(1).optional() }),
      z.strictObject({ config: path, checkpoint: path.optional() }),
    ]),
    result: shapes.runSummarySchema,
  },
  /** Two runs, or two evaluations, on the episodes that both have played: `agentic-robo-rl compare`. */
  'evaluations.compare': {
    params: z.strictObject({
      a: run.shape.run,
      b: run.shape.run,
      /** Ids of evaluations; default: the last on held-out states. */
      evaluationA: z.string().optional(),
      evaluationB: z.string().optional(),
    }),
    result: shapes.comparisonSchema,
  },
} as const;
export type DaemonMethod = keyof typeof daemonMethods;
/** What a caller gives; parts with a default may be left out. */
export type DaemonParams<M extends DaemonMethod> = z.input<(typeof daemonMethods)[M]['params']>;
/** What the daemon works on. */
export type CheckedParams<M extends DaemonMethod> = z.output<(typeof daemonMethods)[M]['params']>;
export type DaemonResult<M extends DaemonMethod> = z.output<(typeof daemonMethods)[M]['result']>;

/** Notifications from the daemon. Those of a run go to its subscribers, the others to every client that has said hello. */
export const daemonNotifications = {
  /** The next journal entry of a subscribed run. */
  'run.journal': z.strictObject({ run: z.string(), line: journalLineSchema }),
  /** A tick of a subscribed run, at most a few a second. */
  'run.progress': z.strictObject({ run: z.string(), tick: shapes.progressTickSchema }),
  /** In place of the journal entries up to `snapshot.state.seq` that the client lacks; the next `run.journal` follows it. */
  'run.snapshot': z.strictObject({
    run: z.string(),
    reason: z.enum(['far-behind', 'slow']),
    snapshot: shapes.runSnapshotSchema,
  }),
  /** The journal of a subscribed run cannot be read on (`message`), and nothing more of it comes; subscribe again after a repair. */
  'run.damaged': z.strictObject({ run: z.string(), message: z.string() }),
  /** A run appeared, began, ended, or is asked to stop. */
  'runs.changed': z.strictObject({ summary: shapes.runSummarySchema }),
  /** The directory of a run is gone. */
  'runs.removed': z.strictObject({ run: z.string() }),
  /**
   * A run of this daemon has ended: told to its subscribers after its last journal entry. Who subscribes later, or follows
   * a run of another process, sees the end in the journal (`RunState.phase`).
   */
  'run.ended': z.strictObject({
    run: z.string(),
    outcome: z.enum(['finished', 'stopped', 'failed']),
    /** Why it failed. */
    message: z.string().nullable(),
    /** The final table as text of 80 columns, where it was evaluated. */
    table: z.string().nullable(),
    warnings: z.array(z.string()),
  }),
  'serving.changed': z.strictObject({ served: z.array(shapes.servedSchema) }),
  /** The connection is about to be closed, because the daemon ends. */
  'daemon.leaving': z.strictObject({ reason: z.enum(['shutdown', 'signal', 'idle']) }),
} as const;
export type DaemonNotification = keyof typeof daemonNotifications;
export type NotificationParams<N extends DaemonNotification> = z.output<(typeof daemonNotifications)[N]>;

/** Notifications to the daemon. */
export const clientNotifications = {
  /** Gives up a request; it is answered with the error `cancelled`, or with its result when that was ready. Runs go on. */
  'rpc.cancel': z.strictObject({ id: z.union([z.number().int(), z.string().max(100)]) }),
} as const;

const id = z.union([z.number().int(), z.string().max(100)]);

/** What a client sends: a request, or a notification where there is no `id`. */
export const rpcRequestSchema = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: id.optional(),
  method: z.string().max(100),
  params: z.record(z.string(), z.unknown()).optional(),
});

/** What the daemon sends: a result, an error (with `id: null` when the request's was unreadable), or a notification. */
export const rpcAnswerSchema = z.union([
  z.strictObject({ jsonrpc: z.literal('2.0'), id, result: z.unknown() }),
  z.strictObject({
    jsonrpc: z.literal('2.0'),
    id: id.nullable(),
    error: z.strictObject({ code: z.number().int(), message: z.string(), data: errorDataSchema.optional() }),
  }),
  z.strictObject({ jsonrpc: z.literal('2.0'), method: z.string(), params: z.record(z.string(), z.unknown()) }),
]);
export type RpcAnswer = z.output<typeof rpcAnswerSchema>;
