/** What has to be sent so that a page that shows one state shows the next. */
import type { PageData, StepRow } from './data.ts';
import type { PageChange, PageNews } from './messages.ts';

/** @returns undefined when there is nothing to send. */
export function changeBetween(before: PageData, after: PageData, news: PageNews[]): PageChange | undefined {
  const parts: PageChange['parts'] = {};
  // One line a part: a mapped loop would lose which key has which type.
  if (differs(before.head, after.head)) parts.head = after.head;
  if (differs(before.stages, after.stages)) parts.stages = after.stages;
  if (differs(before.work, after.work)) parts.work = after.work;
  if (differs(before.rounds, after.rounds)) parts.rounds = after.rounds;
  if (differs(before.evaluations, after.evaluations)) parts.evaluations = after.evaluations;
  const from = firstDifference(before.steps, after.steps);
  const steps = from === undefined ? undefined : { from, rows: after.steps.slice(from) };
  if (Object.keys(parts).length === 0 && !steps && news.length === 0) return undefined;
  return { type: 'change', parts, ...(steps && { steps }), news };
}

/** The data of the page after a change. */
export function withChange(data: PageData, { parts, steps }: Pick<PageChange, 'parts' | 'steps'>): PageData {
  const rows = steps ? [...data.steps.slice(0, steps.from), ...steps.rows] : data.steps;
  return { ...data, ...parts, steps: rows };
}

/** Place from which the rows are others; undefined when they are the same. */
function firstDifference(before: readonly StepRow[], after: readonly StepRow[]): number | undefined {
  const shared = Math.min(before.length, after.length);
  for (let i = 0; i < shared; i++) {
    // Rows are made once and kept: most are the very same object.
    if (before[i] !== after[i] && differs(before[i], after[i])) return i;
  }
  return before.length === after.length ? undefined : shared;
}

function differs(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) !== JSON.stringify(b);
}
