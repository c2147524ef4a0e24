import { describe, expect, it } from 'vitest';
import { referenceFindings, type Surroundings } from '../../../language-server/service/config-references.ts';
import { readConfigText } from '../../../protocol/config-text.ts';
import { formatFinding } from '../../../protocol/finding.ts';

/** A folder with these files; names that end in / are folders. */
function around(...paths: string[]): Surroundings {
  return {
    shippedAdapters: ['result-json', 'tabletop-skills'],
    kind: (path) => (paths.includes(`${path}/`) ? 'folder' : paths.includes(path) ? 'file' : undefined),
  };
}
function told(adapter: string, rest: string, ...paths: string[]): string[] {
  const reading = readConfigText(
    `version: 1\nname: x\nharness:\n  adapter: ${adapter}\n  suites: [s]\n${rest}`,
    'c.yaml',
  );
  return referenceFindings(reading, around(...paths), 'c.yaml')
    .filter((finding) => finding.severity !== 'hint')
    .map(formatFinding);
}

describe('the adapter a config names', () => {
  it.each([
    ['tabletop-skills', [], undefined],
    ['./mine.ts', ['./mine.ts'], undefined],
    [
      'tabletop-skils',
      [],
      'c.yaml:4:12: error: no adapter "tabletop-skils" is shipped; did you mean "tabletop-skills"?',
    ],
    ['something-else', [], 'shipped are result-json, tabletop-skills; your own is a path such as ./adapters/mine.ts'],
    ['mine', ['mine.ts'], 'for a file beside the config write ./mine'],
    ['./mine.ts', [], 'there is no file ./mine.ts'],
    ['./adapters/', ['./adapters//'], './adapters/ is a folder; an adapter is one file'],
    ['./mine.py', ['./mine.py'], './mine.py is not a TypeScript or JavaScript module'],
  ])('%s', (adapter, paths, sentence) => {
    const findings = told(adapter, '', ...paths);
    if (sentence === undefined) expect(findings).toEqual([]);
    else expect(findings).toEqual([expect.stringContaining(sentence)]);
  });
});

describe('the checkpoint a config names', () => {
  const planner = 'planner: { checkpoint: ./p }\n';
  const whole = ['./p/', './p/config.json', './p/tokenizer.json', './p/model.safetensors'];
  it.each([
    ['whole', whole, undefined],
    ['absent', [], 'c.yaml:6:24: error: there is no folder ./p'],
    ['a file', ['./p'], './p is a file; a checkpoint is a Hugging Face folder'],
    ['without weights', whole.slice(0, 3), './p lacks model.safetensors'],
    ['without anything', ['./p/'], './p lacks config.json and tokenizer.json and model.safetensors'],
  ])('%s', (_what, paths, sentence) => {
    const findings = told('tabletop-skills', planner, ...paths);
    if (sentence === undefined) expect(findings).toEqual([]);
    else expect(findings).toEqual([expect.stringContaining(sentence)]);
  });
});

describe('what is no finding', () => {
  it('a config with errors has no references to look at', () => {
    expect(referenceFindings(readConfigText('version: 1\n'), around())).toEqual([]);
  });
});
