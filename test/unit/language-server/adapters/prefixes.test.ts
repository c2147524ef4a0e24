/**
 * Half-typed adapters: every adapter cut at every tenth character. A finding on a cut text is right when the whole text
 * has a finding of the same code at the same place, or when it is about the unfinished tail: its range reaches into the
 * last token of the cut text. (Here a sample of the cuts by seed; `npm run test:full` takes all of them.)
 */
import { describe, expect, it } from 'vitest';
import { adapterFindings, adapterHover, adapterLenses } from '../../../../language-server/service/adapters/index.ts';
import type { Finding } from '../../../../language-server/service/contract.ts';
import { Random } from '../../../../protocol/random.ts';
import { FULL } from '../../../full.ts';
import { corpus, shipped, written } from './corpus.ts';

const SAMPLE = 12;
const budget = 60_000;

const place = ({ code, range: { start } }: Finding) => `${code} ${start.line}:${start.character}`;

function contradictions(prefix: string, whole: Set<string>, fileName: string, mayRefuse: boolean): string[] {
  const trimmed = prefix.trimEnd();
  const lastToken = trimmed.length - (/[\w$]+$/.exec(trimmed)?.[0].length ?? 1);
  const lines = prefix.split('\n');
  const offset = ({ line, character }: Finding['range']['end']) =>
    lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0) + character;
  return adapterFindings(prefix, { fileName, budget })
    .filter((finding) => {
      // This one says that something went wrong within, too.
      if (finding.code === 'adapter-not-checked') return !mayRefuse;
      return !whole.has(place(finding)) && offset(finding.range.end) <= lastToken;
    })
    .map((finding) => `cut at ${prefix.length}: ${written(prefix, finding)}`);
}

describe('adapters cut while they are typed', () => {
  it.each([...corpus(), ...shipped()])('$path', ({ path, text }) => {
    const whole = new Set(adapterFindings(text, { fileName: path, budget }).map(place));
    let cuts = Array.from({ length: Math.ceil(text.length / 10) }, (_, i) => i * 10);
    if (!FULL) {
      const random = new Random('adapter-prefixes', path);
      cuts = Array.from({ length: SAMPLE }, () => cuts[random.int(cuts.length)]);
    }
    const wrong = cuts.flatMap((cut) =>
      contradictions(text.slice(0, cut), whole, path, path.includes('adapter-not-checked')),
    );
    expect(wrong).toEqual([]);
    for (const cut of cuts.slice(0, 4)) {
      const prefix = text.slice(0, cut);
      const line = prefix.split('\n').length - 1;
      adapterHover(prefix, { line, character: 4 }, { fileName: path });
      adapterLenses(prefix, { fileName: path });
    }
  });
});
