/**
 * Lists of numbers in records: prompts have tens of thousands of token ids, and a check of each through the general machinery
 * takes longer than reading the file. A list that is sound is seen to be so in one loop; any other goes the general way, which
 * says what is wrong.
 */
import { z } from 'zod';

function quick<T extends z.ZodArray<z.ZodNumber>>(schema: T, isSound: (value: number) => boolean): T {
  const internals = schema._zod;
  const general = internals.run;
  internals.run = (payload, context) => {
    const { value } = payload;
    return Array.isArray(value) && value.every(isSound)
      ? (payload as z.core.ParsePayload<z.output<T>>)
      : general(payload, context);
  };
  return schema;
}

/** Finite numbers. */
export const numberList = () => quick(z.array(z.number()), Number.isFinite);

/** Whole numbers from 0. */
export const naturalList = () =>
  quick(z.array(z.number().int().nonnegative()), (value) => Number.isSafeInteger(value) && value >= 0);
