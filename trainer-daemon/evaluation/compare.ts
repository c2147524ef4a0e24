/** Paired comparison of two planners on the same tasks, initial states and attempts. */
import { parseTaskId } from '../../protocol/ids.ts';
import { succeeded } from '../../protocol/outcome.ts';
import type { EpisodeRecord } from '../../protocol/records.ts';
import { signTest } from '../../protocol/statistics.ts';
import { finalTries, invalidEpisodes, type NamedEpisode, type Rate, rateOf } from './outcomes.ts';

export interface Paired {
  /** Pairs in which both episodes are valid. */
  pairs: number;
  a: Rate;
  b: Rate;
  /** Pairs that b solves and a does not. */
  wins: number;
  /** Pairs that a solves and b does not. */
  losses: number;
  /** Exact two-sided sign test (McNemar) on wins and losses. */
  p: number;
}

export interface Comparison {
  overall: Paired;
  suites: Record<string, Paired>;
  /** Infrastructure failures of either side; their pairs are left out, never counted as failures. */
  invalid: { a: NamedEpisode[]; b: NamedEpisode[] };
  /** (task, init, attempt) that only the other side has. */
  missing: { a: string[]; b: string[] };
}

/**
 * Pairs the episodes of planner a (the earlier, say) with those of planner b on the same (task, init, attempt), where
 * both are valid. Of several tries of one episode the last valid one counts.
 */
export function pairEpisodes(a: readonly EpisodeRecord[], b: readonly EpisodeRecord[]): Comparison {
  const finalA = finalTries(a);
  const finalB = finalTries(b);
  const all = new PairCounter();
  const suites = new Map<string, PairCounter>();
  for (const [name, one] of finalA) {
    const other = finalB.get(name);
    if (!other?.valid || !one.valid) continue;
    const { suite } = parseTaskId(one.task);
    const ofSuite = suites.get(suite) ?? new PairCounter();
    suites.set(suite, ofSuite);
    for (const counter of [all, ofSuite]) counter.add(succeeded(one), succeeded(other));
  }
  return {
    overall: all.result(),
    suites: Object.fromEntries([...suites].map(([suite, counter]) => [suite, counter.result()])),
    invalid: { a: invalidEpisodes(finalA.values()), b: invalidEpisodes(finalB.values()) },
    missing: {
      a: [...finalB.keys()].filter((name) => !finalA.has(name)),
      b: [...finalA.keys()].filter((name) => !finalB.has(name)),
    },
  };
}

class PairCounter {
  private pairs = 0;
  private both = 0;
  private onlyA = 0;
  private onlyB = 0;

  add(a: boolean, b: boolean): void {
    this.pairs++;
    if (a && b) this.both++;
    else if (a) this.onlyA++;
    else if (b) this.onlyB++;
  }

  result(): Paired {
    return {
      pairs: this.pairs,
      a: rateOf(this.both + this.onlyA, this.pairs),
      b: rateOf(this.both + this.onlyB, this.pairs),
      wins: this.onlyB,
      losses: this.onlyA,
      p: signTest(this.onlyB, this.onlyA),
    };
  }
}
