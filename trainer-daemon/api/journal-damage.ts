/** What is wrong with a line of a run's journal. */
import type { JournalLine } from '../../protocol/journal.ts';
import { type Damaged, isDamaged } from '../../recordings/index.ts';

/**
 * @param number the line's place in the journal, from 1; entries are numbered alike.
 * @returns a sentence; null for a sound line, and for an unfinished last one, which is being written or was torn.
 */
export function journalDamage(line: JournalLine | Damaged, number: number): string | null {
  if (isDamaged(line)) return line.torn ? null : `journal.jsonl, line ${line.line}: ${line.damaged}`;
  if (line.seq === number) return null;
  return `journal.jsonl, line ${number}: has the number ${line.seq}; entries are missing or repeated`;
}
