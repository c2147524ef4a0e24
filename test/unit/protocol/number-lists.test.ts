import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { naturalList, numberList } from '../../../protocol/number-lists.ts';

const lists = [
  [naturalList(), z.array(z.number().int().nonnegative())],
  [numberList(), z.array(z.number())],
] as const;
const item = fc.oneof(
  fc.nat(),
  fc.double(),
  fc.constantFrom<unknown>(-1, 0.5, '3', null, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60, -0, [], undefined),
);

describe('lists of numbers', () => {
  it('are taken and refused as the general check does it, with the same words', () => {
    fc.assert(
      fc.property(fc.oneof(fc.array(item, { maxLength: 5 }), fc.constantFrom('x', null, {}, 3)), (value) => {
        for (const [ours, general] of lists) {
          const [own, other] = [ours.safeParse(value), general.safeParse(value)];
          expect(own.success).toBe(other.success);
          if (own.success) expect(own.data).toEqual(other.data);
          else expect(own.error.issues).toEqual(other.error?.issues);
          const wrapped = z.strictObject({ a: ours.nullable() }).safeParse({ a: value });
          expect(wrapped.success).toBe(other.success || value === null);
        }
      }),
    );
  });

  it('have the general JSON Schema', () => {
    for (const [ours, general] of lists) expect(z.toJSONSchema(ours)).toEqual(z.toJSONSchema(general));
  });

  it('are not copied where they are sound: the general check would', () => {
    const list = [3, 1, 2];
    const general = z.strictObject({ a: z.array(z.number()) });
    expect(general.parse({ a: list }).a).not.toBe(list);
    for (const ours of [naturalList(), numberList()])
      expect(z.strictObject({ a: ours }).parse({ a: list }).a).toBe(list);
  });
});
