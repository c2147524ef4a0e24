/** Every named schema, for `agentic-robo-rl schema NAME`. */
import { z } from 'zod';
import { launchSchema, outcomeSchema, taskListSchema } from './adapter.ts';
import { configSchema } from './config.ts';
import { daemonRecordSchema } from './daemon.ts';
import { journalLineSchema } from './journal.ts';
import * as records from './records.ts';

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
};

/** JSON Schema (draft 2020-12) of a named schema, or undefined when there is none of that name. */
export function jsonSchema(name: string): Record<string, unknown> | undefined {
  const schema = Object.hasOwn(namedSchemas, name) ? namedSchemas[name] : undefined;
  return schema && (z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Record<string, unknown>);
}
