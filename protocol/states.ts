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
export function parseStates(written: unknown, wording = STATES_WORDING): number[] | { error: string; index?: number } {
  const list = Array.isArray(written);
  const parts: unknown[] = list ? written : typeof written === 'string' ? written.split(',') : [written];
  const ranges: [number, number][] = [];
  for (const [index, part] of parts.entries()) {
    const wrong = (error: string) => (list ? { error, index } : { error });
    const match = typeof part === 'string' || typeof part === 'number' ? RANGE.exec(String(part)) : null;
    if (!match) return wrong(`${JSON.stringify(part) ?? String(part)} is not ${wording}`);
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

/** Ascending numbers as a person writes them, `3, 50-59`; the sixth and later ranges are left out. */
export function stateRanges(states: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const state of states) {
    const last = ranges.at(-1);
    if (last && state === last[1] + 1) last[1] = state;
    else ranges.push([state, state]);
  }
  const texts = ranges.slice(0, 5).map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  return texts.join(', ') + (ranges.length > 5 ? `, ... (${states.length} in all)` : '');
}

function numberSet(wording: string) {
  return z
    .union([z.number(), z.string(), z.array(z.union([z.number(), z.string()]))])
    .meta({ wording })
    .transform((written, context) => {
      const numbers = parseStates(written, wording);
      if (Array.isArray(numbers)) return numbers;
      context.addIssue({
        code: 'custom',
        message: numbers.error,
        path: numbers.index === undefined ? [] : [numbers.index],
      });
      return z.NEVER;
    });
}

/** A state set in a config; parses to ascending, distinct state numbers. */
export const stateSet = numberSet(STATES_WORDING);

/** Task indices of a suite, written like states. */
export const taskSet = numberSet('a set of task indices such as 5, 0-4 or [0, 3, 7-9]');
