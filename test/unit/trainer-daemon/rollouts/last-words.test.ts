import { expect, it } from 'vitest';
import { lastWords } from '../../../../trainer-daemon/rollouts/last-words.ts';

it.each<[string, string | undefined]>([
  ['', undefined],
  [' \n\n', undefined],
  ['one\ntwo\n', 'two'],
  ['ValueError: no robot\n  at a\n  at b\n', 'ValueError: no robot'],
  ['x'.repeat(65_536), 'xxx…'],
  [`robot ${'='.repeat(40)} ready`, 'robot ===… ready'],
  ['tick '.repeat(500), 'tick tick tick …tick'],
  ['step 10000 of 100000', 'step 10000 of 100000'],
])('%j ends in %j', (text, words) => {
  expect(lastWords(text)).toBe(words);
});

it('a long line without filler is cut to its end', () => {
  const text = Array.from({ length: 500 }, (_, i) => i).join(' ');
  expect(lastWords(text)).toBe(text.slice(-300));
});
