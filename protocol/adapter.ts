/**
 * The adapter contract (design section 3.2): how a harness is started for one episode and how what it left behind
 * becomes the five fields. An adapter is conversion code: no learnable parts, no change to the harness.
 */
import { z } from 'zod';

/** What one episode is asked to be. */
export interface EpisodeRequest {
  /** `suite/index`. */
  task: string;
  suite: string;
  taskIndex: number;
  /** Initial state. */
  init: number;
  /** Repeat within the group (same task and initial state). */
  attempt: number;
  role: 'teacher' | 'rollout' | 'validation' | 'evaluation';
  /** 32-bit seed of the episode, derived from its id. */
  seed: number;
  limits: { turns: number; seconds: number; responseTokens: number; idleSeconds: number };
  /** OpenAI-compatible base URL of the recording proxy, ends in `/v1`. */
  baseUrl: string;
  /** This episode's key; dead once the episode is closed. */
  apiKey: string;
  /** Model name to send. */
  model: string;
  /** Absolute path of an empty folder for this episode's output. */
  outputDir: string;
}

export interface LaunchContext {
  /** The Node program to run JavaScript harnesses with. */
  node: string;
  /** Folder of the adapter's own file. */
  adapterDir: string;
  /** Folder that holds the training config. */
  workspace: string;
}

export interface ProcessSpec {
  command: string;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
}

/** One process an episode, or a worker process that plays one episode after another (one JSON line each way). */
export type Launch = ProcessSpec | { worker: ProcessSpec; episode: Record<string, unknown> };

/** A recorded call as an adapter sees it. */
export interface OutcomeCall {
  turn: number;
  status: string;
  finishReason: string | null;
  content: string | null;
  toolCalls: { name: string; arguments: string }[];
}

/** What an episode left behind. Paths are relative to its output folder and never leave it. */
export interface EpisodeOutput {
  /** The episode as it was asked for. */
  episode: Pick<EpisodeRequest, 'task' | 'suite' | 'taskIndex' | 'init' | 'attempt' | 'role' | 'seed'>;
  exitCode: number | null;
  signal: string | null;
  /** One of our own limits on turns, seconds or tokens ended the episode. */
  timedOut: boolean;
  stdoutTail: string;
  stderrTail: string;
  /** For a reused worker: the line it answered, parsed. */
  answer?: unknown;
  /** Text of a file, or undefined when it does not exist. */
  readText(path: string): string | undefined;
  /** Parsed JSON of a file, or undefined when it does not exist. @throws Error when it is not JSON. */
  readJson(path: string): unknown;
  /** Relative paths of the files under a folder. */
  list(path?: string): string[];
  calls: OutcomeCall[];
}

/** The five fields, and what may be told besides. */
export interface Outcome {
  task: string;
  init: number;
  attempt: number;
  /** Terminal reward; 1 for success and 0 for failure in the paper. */
  reward: number;
  /** False for infrastructure failures only; a planner's mistake is valid with reward 0. */
  valid: boolean;
  /** Turn whose actions reached the goal. */
  successTurn?: number;
  invalidReason?: string;
  /** File (relative to the output folder) with body poses for replay. */
  trajectory?: string;
}

/** Suites and, for each, the instruction of every task in order. */
export type TaskList = Record<string, string[]>;

/**
 * Number of seeded initial states of every task, or one number for each suite. With n of them a task's states are
 * 0 to n - 1.
 */
export type StateCounts = number | Record<string, number>;

export interface Adapter {
  name: string;
  tasks?: TaskList | (() => TaskList | Promise<TaskList>);
  /** With it, a config that names a state beyond the last one is refused; without, states are not checked. */
  states?: StateCounts | (() => StateCounts | Promise<StateCounts>);
  launch(episode: EpisodeRequest, context: LaunchContext): Launch | Promise<Launch>;
  outcome(output: EpisodeOutput): Outcome | Promise<Outcome>;
  /** What the harness gets when the planner's server fails: the error as it is, or one that stops its retrying. */
  onUpstreamFailure?: 'pass' | 'fail-fast';
  /** How a scripted demonstrator is started, where the harness ships one. */
  scriptedTeacher?(context: LaunchContext): ProcessSpec;
}

/** Marks an object as an adapter and lets the editor check it. */
export function defineAdapter(adapter: Adapter): Adapter {
  return adapter;
}

export const processSpecSchema = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  cwd: z.string().optional(),
});
export const launchSchema = z.union([
  processSpecSchema,
  z.strictObject({ worker: processSpecSchema, episode: z.record(z.string(), z.unknown()) }),
]);

export const outcomeSchema = z.strictObject({
  task: z.string({ error: 'must be a text: the task the episode was asked to do' }),
  init: z.number().int().nonnegative(),
  attempt: z.number().int().nonnegative(),
  reward: z.number({ error: 'must be a finite number' }).finite(),
  valid: z.boolean(),
  successTurn: z.number().int().nonnegative().optional(),
  invalidReason: z.string().optional(),
  trajectory: z.string().optional(),
});

/** The line a scripted teacher prints on stdout once it serves: an OpenAI-compatible base URL on this machine. */
export const teacherReadySchema = z.looseObject({ url: z.url(), model: z.string().min(1) });

export const taskListSchema = z.record(z.string().min(1), z.array(z.string()));

const STATE_COUNTS = 'must be a whole number, 1 or more, or one for each suite: { suite: number }';
const stateCountSchema = z.number({ error: STATE_COUNTS }).int(STATE_COUNTS).positive(STATE_COUNTS);
/** Absent where the adapter says nothing of states. */
export const stateCountsSchema = z
  .union([stateCountSchema, z.record(z.string().min(1), stateCountSchema)], { error: STATE_COUNTS })
  .optional();
