/**
 * Hit counts of breakpoints. A recording is gone through in both directions and more than once, so a hit is not an arrival
 * but a place: the first, second, ... place of an episode where the breakpoint is met, whichever way one comes.
 */
import type { Position, ReplayEpisode } from '../../../recordings/replay/index.ts';

/** Whether a hit of this number (from 1) stops. */
export type HitRule = (number: number) => boolean;

const RULE = /^\s*(>=|<=|={1,3}|>|<|%)?\s*(\d{1,9})\s*$/;

/** `3` or `== 3`, `>= 3`, `> 3`, `< 3`, `<= 3`, and `% 3` for each third one. @returns undefined for anything else. */
export function hitRule(text: string): HitRule | undefined {
  const [, operator = '==', digits] = RULE.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const count = Number(digits);
  switch (operator) {
    case '>':
      return (number) => number > count;
    case '>=':
      return (number) => number >= count;
    case '<':
      return (number) => number < count;
    case '<=':
      return (number) => number <= count;
    case '%':
      return count === 0 ? undefined : (number) => number % count === 0;
    default:
      return (number) => number === count;
  }
}

/** Places of an episode where a breakpoint is met, as far as its calls were looked at. */
interface Met {
  /** Calls that were looked at. */
  calls: number;
  places: { call: number; part: Position['part'] }[];
}

export class HitCounts {
  private known = new WeakMap<object, Map<number, Met>>();

  /** To be called when records have changed. */
  clear(): void {
    this.known = new WeakMap();
  }

  /**
   * The number of a place among those of its episode where a breakpoint is met.
   * @param position one where it is met. @param isMet tells it of each place before.
   */
  async numberOf(
    breakpoint: object,
    episode: ReplayEpisode,
    position: Position,
    isMet: (at: Position) => Promise<boolean>,
  ): Promise<number> {
    const { thread } = position;
    const threads = this.known.get(breakpoint) ?? new Map<number, Met>();
    this.known.set(breakpoint, threads);
    const met = threads.get(thread) ?? { calls: 0, places: [] };
    threads.set(thread, met);
    for (; met.calls <= position.call && met.calls < episode.length; met.calls++) {
      const call = met.calls;
      const parts = (await episode.call(call)).toolCalls.length;
      for (let part = -1; part < parts; part++) {
        const at: Position = { thread, call, part: part < 0 ? 'call' : part };
        if (await isMet(at)) met.places.push({ call, part: at.part });
      }
    }
    if (position.part === 'outcome') return met.places.length + 1;
    return met.places.findIndex(({ call, part }) => call === position.call && part === position.part) + 1;
  }
}
