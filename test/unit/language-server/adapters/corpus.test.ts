import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  ADAPTER_CODES,
  adapterCheckFindings,
  adapterFindings,
} from '../../../../language-server/service/adapters/index.ts';
import { findingPage } from '../../../../language-server/service/contract.ts';
import { corpus, repository, shipped, written } from './corpus.ts';

const files = corpus();
// Time limits are tested by themselves; a busy machine must not change what is found.
const budget = 60_000;

describe('the corpus of adapters', () => {
  it.each(files.filter((file) => file.bad))(
    '$path has its findings, all and only',
    ({ path, text, expected, check }) => {
      const found = adapterFindings(text, { fileName: path, syntaxErrors: true, budget });
      if (check) found.push(...adapterCheckFindings(text, check, { fileName: path, budget }));
      expect(found.map((finding) => written(text, finding))).toEqual(expected);
      for (const { code, severity } of found) expect(severity).toBe(ADAPTER_CODES[code as keyof typeof ADAPTER_CODES]);
    },
  );

  it.each(files.filter((file) => !file.bad))('$path has none', ({ path, text, check }) => {
    const found = adapterFindings(text, { fileName: path, syntaxErrors: true, budget });
    if (check) found.push(...adapterCheckFindings(text, check, { fileName: path, budget }));
    expect(found).toEqual([]);
  });

  it.each(shipped())('$path, which is shipped, has none', ({ path, text }) => {
    expect(adapterFindings(text, { fileName: path, syntaxErrors: true, budget })).toEqual([]);
  });

  it('has two bad files and a good twin for every code, each expected where it should be', () => {
    expect(files.length).toBeGreaterThanOrEqual(60);
    for (const code of Object.keys(ADAPTER_CODES)) {
      const bad = files.filter((file) => file.bad && file.code === code);
      expect(bad.length, code).toBeGreaterThanOrEqual(2);
      for (const file of bad)
        expect(
          file.expected.some((line) => line.startsWith(`${code} `)),
          file.path,
        ).toBe(true);
      expect(files.filter((file) => !file.bad && file.code === code).length, code).toBeGreaterThanOrEqual(1);
    }
  });
});

describe('pages of the findings', () => {
  it.each(Object.keys(ADAPTER_CODES))('%s has a page that says what, why and how', (code) => {
    const page = join(repository, findingPage(code));
    expect(existsSync(page), page).toBe(true);
    const text = readFileSync(page, 'utf8');
    expect(text.startsWith(`# ${code}\n`)).toBe(true);
    for (const part of ['## Why', '## Bad', '## Good']) expect(text).toContain(part);
  });

  it('a page about adapters has its code', () => {
    const about = readdirSync(join(repository, 'docs/findings')).filter((name) =>
      readFileSync(join(repository, 'docs/findings', name), 'utf8').includes('\nAbout adapters.'),
    );
    expect(about.sort()).toEqual(
      Object.keys(ADAPTER_CODES)
        .map((code) => `${code}.md`)
        .sort(),
    );
  });
});
