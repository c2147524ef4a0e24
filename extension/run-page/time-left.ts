/** How long work will still take, judged by how long it took so far. */
import type { JournalLine, ProgressTick } from '../../protocol/journal.ts';
import type { RoundSummary } from '../../protocol/records.ts';
import type { PageData } from './data.ts';

/** Below this a rate says little. Seconds. */
const LEAST_SECONDS = 2;
/** Rounds that the estimate is taken from: the newest, as responses grow longer or shorter. */
const RECENT = 3;

/** The work that ticks tell of: one label after the other. */
export class WorkClock {
  private first: { tick: ProgressTick; at: number } | undefined;
  private last: { tick: ProgressTick; at: number } | undefined;

  /** @param now milliseconds since 1970. */
  tick(tick: ProgressTick, now: number): void {
    const before = this.last?.tick;
    const goesOn = before && before.label === tick.label && before.stage === tick.stage && before.done <= tick.done;
    if (!goesOn) this.first = { tick, at: now };
    this.last = { tick, at: now };
  }

  /** There is no work any more. */
  stop(): void {
    this.first = undefined;
    this.last = undefined;
  }

  /** The work at hand; `secondsLeft` is null until a rate can be told. */
  row(now: number): PageData['work'] {
    if (!this.first || !this.last) return null;
    const { label, unit, done, total } = this.last.tick;
    const took = (this.last.at - this.first.at) / 1000;
    const gained = done - this.first.tick.done;
    let secondsLeft: number | null = null;
    if (gained > 0 && took >= LEAST_SECONDS) {
      const since = Math.max(0, now - this.last.at) / 1000;
      secondsLeft = Math.max(0, (took / gained) * (total - done) - since);
    }
    return { label, unit, done, total, secondsLeft };
  }
}

/** How long rounds take: from the journal, and for those that it was not heard of from their summaries. */
export class RoundClock {
  private readonly seconds = new Map<number, number>();
  private begun: { round: number; at: number } | undefined;

  entry({ at, event }: JournalLine): void {
    // Time between two lives of a run is no work.
    if (event.type === 'run-resumed') this.begun = undefined;
    if (event.type === 'round-planned') this.begun = { round: event.round, at: Date.parse(at) };
    if (event.type !== 'round-finished') return;
    if (this.begun?.round === event.round)
      this.seconds.set(event.round, Math.max(0, (Date.parse(at) - this.begun.at) / 1000));
    this.begun = undefined;
  }

  recorded(summaries: readonly Pick<RoundSummary, 'round' | 'seconds'>[]): void {
    for (const { round, seconds } of summaries)
      if (!this.seconds.has(round)) this.seconds.set(round, seconds.collect + seconds.samples + seconds.update);
  }

  /**
   * Seconds that `rounds` unfinished rounds will take, the one at work among them; null before a first one has ended.
   * @param now milliseconds since 1970.
   */
  secondsLeft(rounds: number, now: number): number | null {
    const recent = [...this.seconds].sort(([a], [b]) => a - b).slice(-RECENT);
    if (recent.length === 0) return null;
    const mean = recent.reduce((sum, [, seconds]) => sum + seconds, 0) / recent.length;
    const spent = this.begun ? Math.min(mean, Math.max(0, now - this.begun.at) / 1000) : 0;
    return Math.max(0, rounds * mean - spent);
  }
}
