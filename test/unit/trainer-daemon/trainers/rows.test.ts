import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TrainingSequence } from '../../../../trainer-daemon/trainers/contract.ts';
import { rowLength } from '../../../../trainer-daemon/trainers/onnx/graph/geometry.ts';
import { packMicroBatches } from '../../../../trainer-daemon/trainers/onnx/micro-batches.ts';
import { mergeIntoRows, type Row, separateRows, withPrompts } from '../../../../trainer-daemon/trainers/onnx/rows.ts';

const sequence = (prompt: number[], response: number[]): TrainingSequence => ({
  promptTokenIds: prompt,
  responseTokenIds: response,
});

/** Few distinct tokens and short sequences make prefixes common. */
const sequences = fc.array(
  fc
    .tuple(
      fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 1, maxLength: 5 }),
      fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 1, maxLength: 3 }),
    )
    .map(([prompt, response]) => sequence(prompt, response)),
  { minLength: 1, maxLength: 12 },
);

/** Every response token of every item exactly once, in its own context, and no token of a row supervised twice. */
function expectFaithful(rows: Row[], items: TrainingSequence[]) {
  const seen = new Set<number>();
  for (const { tokens, spans } of rows) {
    const taken = new Set<number>();
    for (const { item, start, length } of spans) {
      expect(seen.has(item)).toBe(false);
      seen.add(item);
      const { promptTokenIds, responseTokenIds } = items[item];
      expect(start).toBe(promptTokenIds.length);
      expect(length).toBe(responseTokenIds.length);
      expect([...tokens.subarray(0, start + length)]).toEqual([
        ...Array.from(promptTokenIds),
        ...Array.from(responseTokenIds),
      ]);
      for (let t = start; t < start + length; t++) {
        expect(taken.has(t)).toBe(false);
        taken.add(t);
      }
    }
  }
  expect(seen.size).toBe(items.length);
}

describe('mergeIntoRows', () => {
  it('puts the turns of an episode in one row, whatever their order', () => {
    const turns = [sequence([1, 2], [3]), sequence([1, 2, 3, 4], [5, 6]), sequence([1, 2, 3, 4, 5, 6, 7], [8])];
    for (const order of [
      [0, 1, 2],
      [2, 0, 1],
    ]) {
      const rows = mergeIntoRows(order.map((i) => turns[i]));
      expect(rows).toHaveLength(1);
      expect(rows[0].spans.map((s) => s.start)).toEqual([2, 4, 7]);
    }
  });

  it('keeps branches apart: a turn joins one of the continuations', () => {
    const rows = mergeIntoRows([sequence([1], [2]), sequence([1, 2, 3], [4]), sequence([1, 2, 5], [6])]);
    expect(rows).toHaveLength(2);
    expect(rows.flatMap((r) => r.spans)).toHaveLength(3);
  });

  it('gives equal sequences, and responses that begin alike, rows of their own', () => {
    expect(mergeIntoRows([sequence([1], [2]), sequence([1], [2])])).toHaveLength(2);
    expect(mergeIntoRows([sequence([1], [2]), sequence([1], [2, 3])])).toHaveLength(2);
  });

  it('is faithful, and never needs more rows than sequences (random sequences)', () => {
    fc.assert(
      fc.property(sequences, (items) => {
        const rows = mergeIntoRows(items);
        expectFaithful(rows, items);
        expectFaithful(separateRows(items), items);
        expect(separateRows(items)).toHaveLength(items.length);
        expect(rows.length).toBeLessThanOrEqual(items.length);
      }),
      { seed: 5, numRuns: 300 },
    );
  });
});

describe('withPrompts', () => {
  it('adds what no response covers, each token of a row but the first once (random sequences)', () => {
    fc.assert(
      fc.property(sequences, (items) => {
        const merged = mergeIntoRows(items);
        const { rows, prompts } = withPrompts(merged, items.length);
        expect(rows.map(({ tokens }) => tokens)).toEqual(merged.map(({ tokens }) => tokens));
        expectFaithful(rows, [...items, ...prompts]);
        for (const { tokens, spans } of rows)
          expect(spans.reduce((sum, { length }) => sum + length, 0)).toBe(tokens.length - 1);
      }),
      { seed: 7, numRuns: 300 },
    );
  });
});

describe('packMicroBatches', () => {
  it('holds every target once, predicted from the token before it, within the limits (random sequences)', () => {
    fc.assert(
      fc.property(sequences, fc.integer({ min: 1, max: 64 }), fc.integer({ min: 1, max: 5 }), (items, tokens, most) => {
        const batches = packMicroBatches(mergeIntoRows(items), { tokens, targets: most });
        const seen = new Set<string>();
        for (const { rows, size, ids, used, targets } of batches) {
          expect(ids).toHaveLength(rows * size.length);
          expect(rows === 1 || ids.length <= tokens).toBe(true);
          expect(targets.id.length).toBeLessThanOrEqual(most);
          expect(new Set(targets.position).size).toBe(targets.position.length);
          targets.position.forEach((position, n) => {
            const item = items[targets.item[n]];
            const index = targets.index[n];
            seen.add(`${targets.item[n]}:${index}`);
            expect(targets.id[n]).toBe(item.responseTokenIds[index]);
            const row = Math.floor(position / size.length);
            const before = [...Array.from(item.promptTokenIds), ...Array.from(item.responseTokenIds)].slice(
              0,
              item.promptTokenIds.length + index,
            );
            expect([...ids.subarray(row * size.length, position + 1)]).toEqual(before);
            expect(before.length).toBeLessThanOrEqual(used[row]);
          });
        }
        expect(seen.size).toBe(items.reduce((n, item) => n + item.responseTokenIds.length, 0));
      }),
      { seed: 6, numRuns: 300 },
    );
  });

  it('does not pad a short row to a long one', () => {
    const long = sequence(
      Array.from({ length: 900 }, (_, i) => i % 7),
      [1],
    );
    const short = sequence([9, 8], [1]);
    const batches = packMicroBatches(mergeIntoRows([short, long]), { tokens: 4096, targets: 100 });
    expect(batches.map((b) => b.size.length)).toEqual([928, 8]);
  });
});

describe('rowLength', () => {
  it('is enough, little more, and divides into a power of two of chunks', () => {
    for (let tokens = 1; tokens < 5000; tokens += 37) {
      const { length, chunks } = rowLength(tokens);
      expect(length).toBeGreaterThanOrEqual(tokens);
      expect(length).toBeLessThan(tokens + 8 * chunks);
      expect(length % chunks).toBe(0);
      expect(Math.log2(chunks) % 1).toBe(0);
      expect(length / chunks).toBeLessThanOrEqual(256);
    }
  });
});
