/** The positions of an episode: which line of calls.jsonl each is, and where something is missing or damaged. */
import type { CallRecord } from '../../protocol/records.ts';
import { type Damaged, isDamaged } from '../documents.ts';
import { originOf } from '../record-index.ts';

/** One position of an episode: a line of calls.jsonl, or a call that is not there. */
export type Place =
  | { kind: 'line'; line: number; id: string; turn: number }
  | { kind: 'damaged'; reason: Damaged; turn: number | null }
  | { kind: 'missing'; turn: number };

/**
 * Orders the calls of an episode by turn (further attempts of one turn in file order). A damaged line keeps its place
 * in the file and stands for the turn that lacks there, where one does; other turns that lack are positions, too.
 * @param records those of the episode, in file order. @param turns how many the episode has by its record, where it has one.
 */
export function placesOf(records: readonly (CallRecord | Damaged)[], turns: number | null): Place[] {
  const lines: { place: Place; key: number }[] = [];
  let before = -1;
  for (const record of records) {
    if (isDamaged(record)) {
      lines.push({ place: { kind: 'damaged', reason: record, turn: null }, key: before + 0.5 });
      continue;
    }
    before = record.turn;
    const line = originOf(record)?.position ?? 0;
    lines.push({ place: { kind: 'line', line, id: record.id, turn: record.turn }, key: record.turn });
  }
  lines.sort((a, b) => a.key - b.key);

  const places: Place[] = [];
  let due = 0;
  let damaged: Extract<Place, { kind: 'damaged' }>[] = [];
  const fillTo = (turn: number) => {
    for (const place of damaged) if (due < turn) place.turn = due++;
    places.push(...damaged);
    damaged = [];
    // A hand-edited turn of a billion is no billion positions.
    const most = Math.min(turn, due + MOST_MISSING);
    while (due < most) places.push({ kind: 'missing', turn: due++ });
  };
  for (const { place } of lines) {
    if (place.kind === 'damaged') {
      damaged.push(place);
      continue;
    }
    fillTo(place.turn);
    due = Math.max(due, place.turn + 1);
    places.push(place);
  }
  fillTo(turns ?? 0);
  return places;
}

const MOST_MISSING = 1000;
