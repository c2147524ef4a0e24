import { expect, it } from 'vitest';
import { TAIL_LIMIT, TextTail } from '../../../../trainer-daemon/rollouts/tail.ts';

it('keeps the last part and counts the rest', () => {
  const tail = new TextTail();
  let whole = '';
  for (let i = 0; i < 40_000; i++) {
    tail.push(`${i}\n`);
    whole += `${i}\n`;
  }
  expect(tail.toString()).toBe(whole.slice(-TAIL_LIMIT));
  expect(tail.omitted).toBe(whole.length - TAIL_LIMIT);
  tail.clear();
  tail.push('x');
  expect([tail.toString(), tail.omitted]).toEqual(['x', 0]);
});
