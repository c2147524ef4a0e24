/** Which schema the records of a file follow, and the check of each record before it is written. */
import type { z } from 'zod';
import * as records from '../../protocol/records.ts';
import { StoreError } from './contract.ts';

const BY_FILE: Record<string, z.ZodType> = {
  'calls.jsonl': records.callSchema,
  'interrupted.jsonl': records.callSchema,
  'episodes.jsonl': records.episodeSchema,
  'samples.jsonl': records.sampleSchema,
  'scores.jsonl': records.scoreSchema,
  'steps.jsonl': records.stepSchema,
  'targets.jsonl': records.targetSchema,
  'plan.json': records.planSchema,
  'policy.json': records.policySchema,
};
const SUMMARY_BY_FOLDER: Record<string, z.ZodType> = {
  rounds: records.roundSummarySchema,
  evaluations: records.evaluationSummarySchema,
};

/** Schema of a section's file; undefined for files of other names, which may hold any JSON. */
export function recordSchema(section: string, file: string): z.ZodType | undefined {
  if (file === 'summary.json') return SUMMARY_BY_FOLDER[section.split('/')[0]];
  return Object.hasOwn(BY_FILE, file) ? BY_FILE[file] : undefined;
}

/**
 * The record as JSON text, checked.
 * @param place what to name in the error, for example `rounds/0001/steps.jsonl`.
 * @throws StoreError with the first field that breaks the schema.
 */
export function checkedText(place: string, schema: z.ZodType | undefined, record: unknown, indent?: number): string {
  const checked = schema?.safeParse(record);
  if (checked && !checked.success) {
    const { path, message } = checked.error.issues[0];
    const id = (record as { id?: unknown } | null)?.id;
    const which = typeof id === 'string' ? ` ${id}` : '';
    throw new StoreError(
      `${place}: the record${which} is not written, it breaks its schema at ${path.join('.') || 'its top'}: ${message}`,
    );
  }
  let text: string | undefined;
  try {
    text = JSON.stringify(record, null, indent);
  } catch (error) {
    throw new StoreError(`${place}: the record is not written, it is no JSON (${(error as Error).message})`, {
      cause: error,
    });
  }
  if (text === undefined) throw new StoreError(`${place}: the record is not written, it is no JSON value`);
  return text;
}
