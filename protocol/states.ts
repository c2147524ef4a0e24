/** Sets of initial states as people write them in a config: `11-44`, `[0, 3]` or `5`. */
import { z } from 'zod';

const RANGE = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/;
const LARGEST = 100_000;

/** Expands one written state set into ascending, distinct numbers, or tells what is wrong with it. */
export function parseStates(written: unknown): number[] | { error: string } {
  const parts = Array.isArray(written) ? written : typeof written === 'string' ? written.split(',') : [written];
  const states = new Set<number>();
  for (const part of parts) {
    const match = RANGE.exec(String(part));
    if (!match || typeof part === 'boolean' || part === null || (Array.isArray(written) && typeof part === 'object')) {
      return { error: `"${String(part)}" is not a state set: write 5, [0, 3] or 11-44` };
    }
    const first = Number(match[1]);
    const last = match[2] === undefined ? first : Number(match[2]);
    if (last < first) return { error: `the range ${String(part)} runs backwards` };
    if (last > LARGEST) return { error: `${last} is beyond the largest state number, ${LARGEST}` };
    for (let state = first; state <= last; state++) states.add(state);
  }
  return [...states].sort((a, b) => a - b);
}

/** A state set in a config; parses to ascending, distinct state numbers. */
export const stateSet = z
  .union([z.number(), z.string(), z.array(z.union([z.number(), z.string()]))])
  .transform((written, context) => {
    const states = parseStates(written);
    if (Array.isArray(states)) return states;
    context.addIssue({ code: 'custom', message: states.error });
    return z.NEVER;
  });
