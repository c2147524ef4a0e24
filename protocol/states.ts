/** Sets of initial states as people write them in a config: `11-44`, `[0, 3]` or `5`. */
import { z } from 'zod';

const RANGE = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/;
const LARGEST = 100_000;

/** What a state set may look like, for messages and documentation. */
export const STATES_WORDING = 'a set of states such as 5, 11-44 or [0, 3, 11-44]';

/**
 * Expands one written state set into ascending, distinct numbers, or tells what is wrong with it (and with which item
 * of a list).
 */
export function parseStates(written: unknown): number[] | { error: string; index?: number } {
  const list = Array.isArray(written);
  const parts: unknown[] = list ? written : typeof written === 'string' ? written.split(',') : [written];
  const ranges: [number, number][] = [];
  for (const [index, part] of parts.entries()) {
    const wrong = (error: string) => (list ? { error, index } : { error });
    const match = typeof part === 'string' || typeof part === 'number' ? RANGE.exec(String(part)) : null;
    if (!match) return wrong(`${JSON.stringify(part) ?? String(part)} is not ${STATES_WORDING}`);
    const first = Number(match[1]);
    const last = match[2] === undefined ? first : Number(match[2]);
    if (last < first) return wrong(`the range ${String(part).trim()} runs backwards; write ${last}-${first}`);
    if (last > LARGEST) return wrong(`${last} is beyond the largest state number, ${LARGEST}`);
    ranges.push([first, last]);
  }
  // Overlapping ranges are joined before they are counted out, so that a long list of long ranges costs nothing.
  ranges.sort((a, b) => a[0] - b[0]);
  const states: number[] = [];
  let next = 0;
  for (const [first, last] of ranges) {
    for (let state = Math.max(first, next); state <= last; state++) states.push(state);
    next = Math.max(next, last + 1);
  }
  return states;
}

/** A state set in a config; parses to ascending, distinct state numbers. */
export const stateSet = z
  .union([z.number(), z.string(), z.array(z.union([z.number(), z.string()]))])
  .meta({ wording: STATES_WORDING })
  .transform((written, context) => {
    const states = parseStates(written);
    if (Array.isArray(states)) return states;
    context.addIssue({
      code: 'custom',
      message: states.error,
      path: states.index === undefined ? [] : [states.index],
    });
    return z.NEVER;
  });
