/** What the page takes from a run's report (`runs.report`): rates, intervals and paired tests are the daemon's. */
import { z } from 'zod';
import type { PageData } from './data.ts';

const count = z.number().int().nonnegative();
const rate = z.object({
  episodes: count,
  successes: count,
  rate: z.number().nullable(),
  low: z.number(),
  high: z.number(),
});
const paired = z.object({ pairs: count, wins: count, losses: count, p: z.number() });

const reportSchema = z.object({
  rounds: z.array(
    z.object({
      round: count,
      seconds: z.object({ collect: z.number(), samples: z.number(), update: z.number() }),
    }),
  ),
  evaluations: z
    .object({
      planners: z.array(
        z.object({
          label: z.string(),
          overall: rate,
          suites: z.record(z.string(), rate),
          invalid: z.array(z.unknown()),
        }),
      ),
      comparisons: z.array(
        z.object({
          a: z.string(),
          b: z.string(),
          comparison: z.object({ overall: paired, suites: z.record(z.string(), paired) }),
        }),
      ),
    })
    .nullable(),
});

export interface RunReport {
  rounds: z.output<typeof reportSchema>['rounds'];
  evaluations: PageData['evaluations'];
}

/** @throws Error when it has not the shape of a report. */
export function readReport(document: unknown): RunReport {
  const { rounds, evaluations } = reportSchema.parse(document);
  if (!evaluations) return { rounds, evaluations: null };
  return {
    rounds,
    evaluations: {
      planners: evaluations.planners.map(({ invalid, ...planner }) => ({ ...planner, invalid: invalid.length })),
      comparisons: evaluations.comparisons.map(({ a, b, comparison }) => ({ a, b, ...comparison })),
    },
  };
}
