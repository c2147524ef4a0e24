/**
 * The time that the stage plays in: the calls one after the other. A call takes as long as its tools took in the world; one
 * that took no time there, or whose time is not recorded, is shown for a moment, so that nothing is passed unseen.
 */
import type { StageCall, StagePosition } from './data.ts';

/** Seconds that a call is shown at least. */
export const MOMENT = 0.75;

export interface Segment {
  /** In playing time. */
  from: number;
  to: number;
  /** In simulated time: where the world stands when the call begins, and when it is over. */
  start: number;
  end: number;
}

export interface Moment {
  call: number;
  /** Simulated time. */
  world: number;
}

export class Timeline {
  readonly segments: readonly Segment[];
  private readonly calls: readonly Pick<StageCall, 'interval' | 'tools'>[];

  constructor(calls: readonly Pick<StageCall, 'interval' | 'tools'>[]) {
    this.calls = calls;
    let from = 0;
    let world = 0;
    this.segments = calls.map(({ interval }) => {
      const start = interval?.start ?? world;
      const end = Math.max(start, interval?.end ?? start);
      const segment = { from, to: from + Math.max(MOMENT, end - start), start, end };
      from = segment.to;
      world = end;
      return segment;
    });
  }

  /** Seconds of playing. */
  get length(): number {
    return this.segments.at(-1)?.to ?? 0;
  }

  /** What is shown at a playing time; beyond the ends, what is shown there. */
  at(time: number): Moment {
    const { segments } = this;
    if (segments.length === 0) return { call: 0, world: 0 };
    let low = 0;
    let high = segments.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (time < segments[middle].to) high = middle;
      else low = middle + 1;
    }
    return { call: low, world: this.worldAt(low, time) };
  }

  /**
   * Simulated time within a call. A call that is shown for longer than it took ends at once and rests.
   */
  worldAt(call: number, time: number): number {
    const { from, start, end } = this.segments[call];
    return Math.min(end, start + Math.max(0, time - from));
  }

  /** The playing time of a position: a call as it begins, a tool call as it has ended, the outcome at the very end. */
  timeOf({ call, part }: StagePosition): number {
    const segment = this.segments[call];
    if (!segment) return this.length;
    if (part === 'call') return segment.from;
    if (part === 'outcome') return segment.to;
    const { interval } = this.calls[call].tools[part] ?? { interval: null };
    if (!interval) return segment.from;
    return Math.min(segment.to, segment.from + Math.max(0, interval.end - segment.start));
  }

  /** The call before or after, or the same at the ends. */
  neighbour(call: number, by: -1 | 1): number {
    return Math.max(0, Math.min(this.segments.length - 1, call + by));
  }
}
