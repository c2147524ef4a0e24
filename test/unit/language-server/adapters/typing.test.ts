/**
 * A line that is being typed in the middle of a good adapter: nothing is said about the rest of it. Fragments stand before every line, at that line's depth or at none. (Here one fragment a line, by seed; `npm run test:full` takes all of them.)
 */
import { describe, expect, it } from 'vitest';
import { adapterFindings } from '../../../../language-server/service/adapters/index.ts';
import { Random } from '../../../../protocol/random.ts';
import { FULL } from '../../../full.ts';
import { corpus, shipped, written } from './corpus.ts';

const budget = 60_000;

const FRAGMENTS = [
  'o.',
  'o?.',
  'if (',
  'if (o.',
  'for (const',
  'for (const x of o.',
  'switch (o.',
  'while (',
  'const a = ',
  'const { a',
  'return {',
  'return { task, init, attempt, rew',
  'return { task, ',
  'reward: ',
  'foo(',
  'xs.map((x) => ',
  '=> {',
  '[',
  '{',
  '}',
  ')',
  "'",
  '`${',
  '/*',
  'try {',
  'async ',
  'throw new ',
  'return',
];

const good = [...corpus().filter((file) => !file.bad), ...shipped()];

describe('a line half typed in the middle of a good adapter', () => {
  it.each(good)('$path', ({ path, text }) => {
    const random = new Random('adapter-typing', path);
    const lines = text.split('\n');
    const wrong = lines.flatMap((line, i) => {
      const indent = /^\s*/.exec(line)?.[0] ?? '';
      const fragments = FULL ? FRAGMENTS : [FRAGMENTS[random.int(FRAGMENTS.length)]];
      return fragments.flatMap((fragment) => {
        const at = random.int(4) === 0 ? '' : indent;
        const typed = [...lines.slice(0, i), at + fragment, ...lines.slice(i)].join('\n');
        return adapterFindings(typed, { fileName: path, budget }).map(
          (finding) => `${fragment} before line ${i + 1}: ${written(typed, finding)}: ${finding.message}`,
        );
      });
    });
    expect(wrong).toEqual([]);
  });
});
