/** Every named schema, for `agentic-robo-rl schema NAME`. */
import { z } from 'zod';
import { launchSchema, outcomeSchema, taskListSchema } from './adapter.ts';
import { configSchema } from './config.ts';
import { daemonRecordSchema } from './daemon.ts';
import { journalLineSchema } from './journal.ts';
import * as records from './records.ts';
import { trajectorySchema } from './trajectory.ts';

export const namedSchemas: Record<string, z.ZodType> = {
  config: configSchema,
  run: records.runInfoSchema,
  journal: journalLineSchema,
  message: records.bodySchema,
  call: records.callSchema,
  episode: records.episodeSchema,
  plan: records.planSchema,
  sample: records.sampleSchema,
  score: records.scoreSchema,
  target: records.targetSchema,
  step: records.stepSchema,
  policy: records.policySchema,
  'round-summary': records.roundSummarySchema,
  'evaluation-summary': records.evaluationSummarySchema,
  launch: launchSchema,
  outcome: outcomeSchema,
  tasks: taskListSchema,
  'daemon-record': daemonRecordSchema,
  trajectory: trajectorySchema,
};

/** What each of {@link namedSchemas} describes, in a few words. */
export const schemaTitles: Record<keyof typeof namedSchemas, string> = {
  config: 'a training config (*.training.yaml)',
  run: 'run.json: config as resolved, software versions, hashes',
  journal: 'a line of journal.jsonl: a stage transition or decision',
  message: 'a line of messages.jsonl: a message body by its hash',
  call: 'a line of calls.jsonl: one planner request and its response',
  episode: 'a line of episodes.jsonl: the five adapter fields and how it ended',
  plan: 'rounds/NNNN/plan.json: the groups of a round',
  sample: 'a line of samples.jsonl: whether a call is trained on, and its advantage',
  score: 'a line of scores.jsonl: log-probs, importance weights and clipping',
  target: 'a line of sft/targets.jsonl: a turn of a teacher episode',
  step: 'a line of steps.jsonl: one optimizer step',
  policy: 'policies/vNNNN/policy.json: where a version comes from',
  'round-summary': 'rounds/NNNN/summary.json',
  'evaluation-summary': 'evaluations/<id>/summary.json',
  launch: "what an adapter's launch() returns",
  outcome: "what an adapter's outcome() returns: the five fields",
  tasks: "an adapter's task list: suites and instructions",
  'daemon-record': '.agentic-robo-rl/daemon.json',
  trajectory: 'trajectory.json of an episode: body poses, shapes, and what each skill did',
};

/** JSON Schema (draft 2020-12) of a named schema, or undefined when there is none of that name. */
export function jsonSchema(name: string): Record<string, unknown> | undefined {
  const schema = Object.hasOwn(namedSchemas, name) ? namedSchemas[name] : undefined;
  return schema && (z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Record<string, unknown>);
}
