/** Every config of the corpus has exactly the findings that are written down for it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { examine } from '../../../../cli/examined-file.ts';
import { CONFIG_FINDINGS } from '../../../../language-server/service/configs/index.ts';
import { corpusFiles, corpusFolder, corpusText, expected, findingsIn, line, root } from './corpus.ts';

/** Of what is no small text: a file of a megabyte, a folder, a file that is not there or may not be read. */
const NO_TEXT = ['config-too-large', 'file-is-folder', 'file-missing', 'file-unreadable'];

/** Told by an adapter that is run, which the command line does and an editor does not. */
const BY_RUNNING = ['adapter-error', 'no-tasks'];
const saidByRunning = (told: string) => BY_RUNNING.some((code) => told.endsWith(` ${code}`));

describe('the corpus of configs', () => {
  it('is complete', () => {
    expect(corpusFiles.length).toBeGreaterThanOrEqual(60);
    expect(Object.keys(expected).sort()).toEqual(corpusFiles);
  });

  it.each(corpusFiles)('%s', (name) => {
    expect(findingsIn(corpusText(name), name).map(line)).toEqual(expected[name].filter((told) => !saidByRunning(told)));
  });

  it.each(corpusFiles)('%s on the command line', async (name) => {
    const run = BY_RUNNING.some((code) => name.startsWith(`${code}-`));
    const { findings } = await examine(join(corpusFolder, name), run);
    expect(
      findings.map((one) => `${one.line}:${one.column}-${one.endLine}:${one.endColumn} ${one.severity} ${one.code}`),
    ).toEqual(expected[name]);
  });

  it('has two bad files and a good twin of every code', () => {
    const told = (name: string, code: string) => expected[name]?.some((one) => one.endsWith(` ${code}`)) ?? false;
    const poor = Object.keys(CONFIG_FINDINGS).filter((code) => {
      if (NO_TEXT.includes(code)) return false;
      const good = corpusFiles.filter((name) => name.startsWith(`${code}-good.`));
      return (
        corpusFiles.filter((name) => told(name, code)).length < 2 ||
        good.some((name) => told(name, code)) ||
        good.length !== 1
      );
    });
    expect(poor).toEqual([]);
  });

  it('has a page for every code', () => {
    const missing = Object.keys(CONFIG_FINDINGS).filter((code) => !existsSync(join(root, `docs/findings/${code}.md`)));
    expect(missing).toEqual([]);
  });

  it('finds nothing wrong in the examples that this version runs', () => {
    const folder = join(root, 'examples');
    const examples = readdirSync(folder).filter((name) => name.endsWith('.training.yaml'));
    expect(examples).toContain('demo.training.yaml');
    const file = join(folder, 'demo.training.yaml');
    expect(findingsIn(readFileSync(file, 'utf8'), file, dirname(file))).toEqual([]);
  });
});
