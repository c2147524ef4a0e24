/** What the tree of runs is narrowed to. Knows nothing of VS Code. */
import type { EpisodeFilter } from '../../protocol/daemon.ts';

/** Every part that is given has to hold. */
export interface RunFilter {
  /** Whole or part of `suite/index`. */
  task?: string;
  outcome?: 'success' | 'failure' | 'invalid';
  /** Least |advantage| of a call. */
  leastAdvantage?: number;
  /** What the status of a call as a sample begins with, for example `zero-weight`. */
  reason?: string;
}

/** Kinds of statuses of samples; what follows the colon of some is found in the runs. */
export const SAMPLE_KINDS = ['selected', 'not-selected', 'ineligible', 'zero-weight'] as const;

export function isEmpty(filter: RunFilter): boolean {
  return Object.values(filter).every((part) => part === undefined);
}

/** Whether calls are asked for by what became of them as samples: then only rounds have any. */
export function asksForSamples({ leastAdvantage, reason }: RunFilter): boolean {
  return leastAdvantage !== undefined || reason !== undefined;
}

/** The part that is about episodes; undefined where there is none. */
export function episodePart({ task, outcome }: RunFilter): EpisodeFilter | undefined {
  return task === undefined && outcome === undefined ? undefined : { task, outcome };
}

/** The number that a text says; undefined where it says none. */
export function advantageIn(text: string): number | undefined {
  const number = /^\s*\d*[.,]?\d+\s*$/.test(text) ? Number(text.trim().replace(',', '.')) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}
