/** Results of `check-adapter --json` that a client hands over, kept for the adapter's document. */
import { z } from 'zod';
import type { AdapterCheckResult } from '../service/contract.ts';

/** Name of the request: parameters {@link checkResultsSchema}, result `{ accepted: true }`. */
export const CHECK_RESULTS_METHOD = 'agenticRoboRL/adapterCheckResults';

const outcome = z.object({
  task: z.string(),
  init: z.number(),
  attempt: z.number(),
  reward: z.number(),
  valid: z.boolean(),
  successTurn: z.number().optional(),
  invalidReason: z.string().optional(),
  trajectory: z.string().optional(),
});

/** `results` is the document `check-adapter --json` prints; null forgets earlier ones. */
export const checkResultsSchema = z.object({
  uri: z.string(),
  results: z
    .object({
      ok: z.boolean(),
      adapter: z.object({
        name: z.string(),
        file: z.string(),
        sha256: z.string(),
        hasScriptedTeacher: z.boolean(),
        tasks: z.record(z.string(), z.array(z.string())),
      }),
      outputs: z
        .array(
          z.object({
            directory: z.string(),
            known: z.boolean(),
            outcome: outcome.nullable(),
            problem: z.string().nullable(),
            remark: z.string().nullable(),
          }),
        )
        .max(10_000),
    })
    .nullable(),
});

/** By document. */
export class CheckResults {
  readonly #results = new Map<string, AdapterCheckResult>();

  /** @throws ZodError when the parameters are not of the form. */
  accept(parameters: unknown): string {
    const { uri, results } = checkResultsSchema.parse(parameters);
    if (results) this.#results.set(uri, results);
    else this.#results.delete(uri);
    return uri;
  }

  of(uri: string): AdapterCheckResult | undefined {
    return this.#results.get(uri);
  }

  forget(uri: string): void {
    this.#results.delete(uri);
  }
}
