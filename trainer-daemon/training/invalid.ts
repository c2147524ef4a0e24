/** Episodes that infrastructure took: when there are so many that a person must hear of it, and what took them. */
import { grouped, plural } from '../../protocol/counting.ts';
import type { JournalLine } from '../../protocol/journal.ts';
import { eventsOf } from './history.ts';

/** A larger share of invalid episodes is told loudly. */
export const LOUD_SHARE = 0.2;

export interface Validity {
  valid: boolean;
  invalidReason: string | null;
}

/** The commonest reason of invalidity and how often it came; reasons that differ in numbers alone count as one. */
export function commonestReason(episodes: readonly Validity[]): { reason: string; count: number } | undefined {
  const kinds = new Map<string, { reason: string; count: number }>();
  for (const { valid, invalidReason } of episodes) {
    if (valid) continue;
    const reason = invalidReason ?? 'no reason given';
    const kind = reason.replace(/\d+/g, '#');
    const known = kinds.get(kind);
    if (known) known.count++;
    else kinds.set(kind, { reason, count: 1 });
  }
  return [...kinds.values()].sort((a, b) => b.count - a.count)[0];
}

/** A sentence about a section most of whose episodes, or more than {@link LOUD_SHARE} of them, are invalid. */
export function invalidWarning(section: string, episodes: readonly Validity[]): string | undefined {
  const invalid = episodes.filter((episode) => !episode.valid).length;
  const common = commonestReason(episodes);
  if (common === undefined || invalid <= LOUD_SHARE * episodes.length) return undefined;
  const share = ((100 * invalid) / episodes.length).toFixed(0);
  return `${section}: ${grouped(invalid)} of ${plural(episodes.length, 'episode')} (${share}%) are invalid and were left out; commonest reason (${grouped(common.count)} x): ${common.reason}`;
}

/** The sentence of {@link invalidWarning} for every section of a run, from its journal. Of several tries the last valid one counts. */
export function invalidWarnings(lines: readonly JournalLine[]): string[] {
  const sections = new Map<string, Map<string, Validity>>();
  for (const { section, task, init, attempt, valid, invalidReason } of eventsOf(lines, 'episode-finished')) {
    const episodes = sections.get(section) ?? new Map<string, Validity>();
    sections.set(section, episodes);
    const place = `${task} ${init} ${attempt}`;
    if (valid || !episodes.get(place)?.valid) episodes.set(place, { valid, invalidReason });
  }
  return [...sections].flatMap(([section, episodes]) => invalidWarning(section, [...episodes.values()]) ?? []);
}
