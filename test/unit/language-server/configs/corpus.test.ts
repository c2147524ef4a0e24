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

/** Codes whose pages have no bad example, and those whose example needs what is not on the page. */
const NO_EXAMPLE = [...NO_TEXT, 'adapter-error', 'more-problems'];
const BESIDE = [...BY_RUNNING, 'checkpoint', 'control-character'];

/** An example of a page with the keys that every config has. */
function whole(code: string, example: string): string {
  const wanted = ['missing-key', 'config-not-a-mapping', 'config-version'].includes(code)
    ? []
    : ['version: 1', 'name: x', 'harness: { adapter: tabletop-skills, suites: [tabletop_goal_swap] }'];
  const absent = wanted.filter((line) => !new RegExp(`^${line.split(':')[0]}:`, 'm').test(example));
  return [...absent.map((line) => `${line}\n`), example].join('');
}

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

  it('has pages whose examples are what they say', () => {
    const wrong: string[] = [];
    for (const code of Object.keys(CONFIG_FINDINGS)) {
      const page = readFileSync(join(root, `docs/findings/${code}.md`), 'utf8');
      for (const heading of ['Bad', 'Good']) {
        const [, kind, example] = new RegExp(`## ${heading}\\s+\`\`\`(yaml|json)\\n([^]*?)\`\`\``).exec(page) ?? [];
        if (example === undefined) {
          if (heading === 'Bad' && !NO_EXAMPLE.includes(code)) wrong.push(`${code}: no bad example`);
          continue;
        }
        const codes = findingsIn(kind === 'yaml' ? whole(code, example) : example, `page.training.${kind}`).map(
          (finding) => finding.code,
        );
        if (heading === 'Bad' && !BESIDE.includes(code) && !codes.includes(code))
          wrong.push(`${code}: not in ${codes}`);
        if (heading === 'Good' && codes.includes(code)) wrong.push(`${code}: in its good example`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('finds nothing wrong in the examples that this version runs', () => {
    const folder = join(root, 'examples');
    const examples = readdirSync(folder).filter((name) => name.endsWith('.training.yaml'));
    expect(examples).toContain('demo.training.yaml');
    const file = join(folder, 'demo.training.yaml');
    expect(findingsIn(readFileSync(file, 'utf8'), file, dirname(file))).toEqual([]);
  });
});
