/** Where a journal ends: the number from which a run goes on. */
import { type ByteSource, LONGEST_LINE, readBytes, scanLines } from '../../recordings/lines.ts';
import { StoreError } from './contract.ts';

const SEQUENCE = /^\{"seq":(\d{1,15}),/;

/**
 * The last sequence number of a journal (torn lines already cut off); 0 for an empty one.
 * @throws StoreError when the numbers are not 1, 2, 3, ...: the run cannot be gone on with safely.
 */
export async function lastSequence(path: string, file: ByteSource): Promise<number> {
  const numbers: (number | undefined)[] = [];
  const unusual: { index: number; offset: number; length: number }[] = [];
  await scanLines(file, 0, ({ offset, length, head }) => {
    const match = SEQUENCE.exec(head.toString('latin1'));
    if (!match) unusual.push({ index: numbers.length, offset, length });
    numbers.push(match ? Number(match[1]) : undefined);
  });
  for (const { index, offset, length } of unusual) {
    if (length > LONGEST_LINE) continue;
    try {
      const line = JSON.parse((await readBytes(file, offset, length)).toString('utf8')) as { seq?: unknown } | null;
      if (typeof line?.seq === 'number') numbers[index] = line.seq;
    } catch {
      // told below
    }
  }
  const wrong = numbers.findIndex((number, index) => number !== index + 1);
  if (wrong >= 0) {
    const found = numbers[wrong] === undefined ? 'cannot be read' : `has number ${numbers[wrong]}`;
    throw new StoreError(
      `${path}: line ${wrong + 1} ${found} where entry ${wrong + 1} belongs; a run is gone on with from its journal, so restore the file from a copy`,
    );
  }
  return numbers.length;
}
