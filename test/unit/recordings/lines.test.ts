/** Lines and their keys, wherever the pieces of a file end. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ByteSource, HEAD_BYTES, headFields, headKeys, scanLines } from '../../../recordings/lines.ts';
import { hashKey } from '../../../recordings/place-table.ts';

/** Gives at most so many bytes at a time. */
const source = (bytes: Buffer, most: number): ByteSource => ({
  read: async (buffer, offset, length, position) => ({
    bytesRead: bytes.copy(buffer, offset, position, position + Math.min(length, most)),
  }),
});

const text = fc.string({ unit: fc.constantFrom('a', 'é', '机', '"', '\\', ' ', '\u0007', 'e0.c1') });
const line = fc.oneof(
  fc
    .tuple(text, text, fc.boolean())
    .map(([id, episode, version]) =>
      JSON.stringify({ ...(version && { version: 1 }), id, episode, rest: 'x'.repeat(40) }),
    ),
  fc.constantFrom('', '{}', '{"version":,"id":"a"}', '{"id":"a"}', '{"id":"a","other":1,"episode":"b"}', 'no JSON'),
  text.map((long) => JSON.stringify({ id: long.repeat(HEAD_BYTES), episode: 'e' })),
);

describe('scanning lines', () => {
  it('finds every line and its keys, as reading the texts does', async () => {
    const keysOf = headKeys('id', 'episode');
    const fieldsOf = headFields('id', 'episode');
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          line.map((one) => one.replaceAll('\n', ' ')),
          { maxLength: 12 },
        ),
        fc.integer({ min: 1, max: 300 }),
        fc.boolean(),
        async (lines, most, torn) => {
          const bytes = Buffer.from(lines.map((one) => `${one}\n`).join('') + (torn ? '{"id":"to' : ''));
          const found: string[] = [];
          const keys = { first: Number.NaN, second: Number.NaN };
          const { end, unfinished } = await scanLines(source(bytes, most), 0, (place) => {
            found.push(bytes.toString('utf8', place.offset, place.offset + place.length));
            const told = fieldsOf(place.head);
            expect(keysOf(place, keys)).toBe(told !== undefined);
            if (told) expect([keys.first, keys.second]).toEqual([hashKey(told[0]), hashKey(told[1] ?? '')]);
          });
          expect(found).toEqual(lines);
          expect([end, unfinished]).toEqual([bytes.length - (torn ? 9 : 0), torn ? 9 : 0]);
        },
      ),
    );
  });

  it('passes on what goes wrong with a line, and with a piece', async () => {
    const failing = scanLines(source(Buffer.from('a\nb\n'), 2), 0, () => {
      throw new Error('refused');
    });
    await expect(failing).rejects.toThrow('refused');
    const broken: ByteSource = { read: async () => Promise.reject(new Error('the disk fails')) };
    await expect(scanLines(broken, 0, () => {})).rejects.toThrow('the disk fails');
  });
});
