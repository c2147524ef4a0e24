/** The built command line on real files: findings, exit codes, and nothing written beside them. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundlePath, packageRoot } from '../../trainer-daemon/bundles.ts';

let folder: string;
const SOUND = 'version: 1\nname: demo\nharness: { adapter: ./mine.mjs, suites: [tabletop_goal_swap] }\n';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'arrl validate ü-'));
  writeFileSync(join(folder, 'mine.mjs'), 'export default {}\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  code: number;
  out: string;
  err: string;
}
function cli(...words: string[]): Promise<Ended> {
  return new Promise((done) => {
    execFile(process.execPath, [bundlePath('cli'), ...words], { cwd: folder, maxBuffer: 1e8 }, (error, out, err) => {
      done({ code: error ? Number(error.code ?? -1) : 0, out, err });
    });
  });
}
function write(name: string, content: string | Buffer): string {
  writeFileSync(join(folder, name), content);
  return name;
}

describe('validate', () => {
  it('is silent about a sound config but for the count and a word about images', async () => {
    const { code, out } = await cli('validate', write('sound.yaml', SOUND));
    expect(code).toBe(0);
    expect(out).toContain('hint: the embedded planner reads text only');
    expect(out).toContain('1 file checked: no errors');
  });

  const bomb = `${SOUND}${Array.from({ length: 20 }, (_, i) => `a${i}: &a${i} [${Array(10).fill(i ? `*a${i - 1}` : 'x')}]\n`).join('')}`;
  const broken: [string, string | Buffer, string][] = [
    [
      'unknown.yaml',
      `${SOUND}rl: { rouns: 1 }\n`,
      'unknown.yaml:4:7: error: unknown key "rouns"; did you mean "rounds"? [unknown-key]',
    ],
    [
      'type.yaml',
      `${SOUND}seed: one\n`,
      'type.yaml:4:7: error: "seed" is "one"; it must be a whole number from 0 to 2147483647 [wrong-value]',
    ],
    ['crlf.yaml', `\uFEFF${SOUND}seed: -1\n`.replaceAll('\n', '\r\n'), 'crlf.yaml:4:7: error: "seed" is -1'],
    [
      'twice.yaml',
      `${SOUND}seed: 1\nseed: 2\n`,
      'twice.yaml:5:1: error: "seed" is given twice; the first is on line 4',
    ],
    ['tab.yaml', `${SOUND}rl:\n\trounds: 1\n`, 'tab.yaml:5:1: error: a tab indents this line'],
    [
      'overlap.json',
      JSON.stringify({
        version: 1,
        name: 'x',
        harness: { adapter: './mine.mjs', suites: ['a'] },
        splits: { training: '1-20' },
      }),
      'overlap.json:1:',
    ],
    ['comma.json', '{ "version": 1, }', 'comma.json:1:15: error: JSON has no comma after the last item [json-syntax]'],
    [
      'nul.yaml',
      Buffer.from([0x61, 0x3a, 0x20, 0x00, 0xff, 0xfe]),
      'nul.yaml:1:4: error: the character U+0000 cannot stand in a config; this looks like a binary file',
    ],
    ['big.yaml', 'a: 1\n'.repeat(1_000_001), 'big.yaml:1:1: error: the file has'],
    ['deep.yaml', '['.repeat(10_000), 'deep.yaml:1:65: error: values are nested more than 64 levels deep'],
    ['bomb.yaml', bomb, '[alias-expansion]'],
    [
      'adapter.yaml',
      SOUND.replace('./mine.mjs', './other.ts'),
      'adapter.yaml:3:21: error: there is no file ./other.ts',
    ],
    [
      'checkpoint.yaml',
      `${SOUND}planner: { checkpoint: ./nowhere }\n`,
      'checkpoint.yaml:4:24: error: there is no folder ./nowhere',
    ],
    [
      'preset.yaml',
      `${SOUND}preset: capx\n`,
      'preset.yaml:4:9: error: "preset" is "capx"; it must be one of rpent, cap-x; did you mean "cap-x"?',
    ],
  ];
  it.each(broken)(
    '%s: place and sentence, exit 1; train gives 2; nothing is written',
    async (name, content, sentence) => {
      write(name, content);
      const before = readdirSync(folder).sort();
      const checked = await cli('validate', name);
      expect(checked.out).toContain(sentence);
      expect(checked.code).toBe(name === 'big.yaml' ? 2 : 1);
      const trained = await cli('train', name);
      expect(trained.err).toContain(sentence);
      expect(trained.code).toBe(2);
      expect(readdirSync(folder).sort()).toEqual(before);
    },
  );

  it('finds nothing wrong with the examples', async () => {
    const examples = join(packageRoot(), 'examples');
    const files = readdirSync(examples).filter((name) => name.endsWith('.training.yaml'));
    expect(files.length).toBeGreaterThan(0);
    const { code, out } = await cli('validate', '--strict', '--json', ...files.map((name) => join(examples, name)));
    const findings = JSON.parse(out).files.flatMap((file: { findings: { severity: string }[] }) => file.findings);
    expect(findings.filter((finding: { severity: string }) => finding.severity !== 'hint')).toEqual([]);
    expect(code).toBe(0);
  });

  it('reads UTF-16 where a byte-order mark says so', async () => {
    write('utf16.yaml', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(SOUND, 'utf16le')]));
    expect((await cli('validate', 'utf16.yaml')).code).toBe(0);
  });

  it('gives 2 for files it cannot read, and still checks the others', async () => {
    mkdirSync(join(folder, 'folder.yaml'), { recursive: true });
    write('bad.yaml', 'version: 1\n');
    const { code, out } = await cli('validate', 'missing.yaml', 'folder.yaml', 'bad.yaml');
    expect(code).toBe(2);
    expect(out).toContain('missing.yaml:1:1: error: there is no such file');
    expect(out).toContain('folder.yaml:1:1: error: this is a folder');
    expect(out).toContain('bad.yaml:1:1: error: "name" is required');
    expect(out).toContain('3 files checked: 4 errors');
  });

  it('prints one JSON document with --json', async () => {
    write('bad.yaml', `${SOUND}seed: one\n`);
    const { code, out } = await cli('validate', '--json', 'sound.yaml', 'bad.yaml');
    expect(code).toBe(1);
    const document = JSON.parse(out);
    expect(document).toMatchObject({
      ok: false,
      files: [
        { file: 'sound.yaml', ok: true },
        { file: 'bad.yaml', ok: false },
      ],
    });
    expect(document.files[1].findings[0]).toMatchObject({
      line: 4,
      column: 7,
      endColumn: 10,
      path: 'seed',
      severity: 'error',
    });
  });
});

describe('schema and usage', () => {
  it('prints a JSON Schema of every name in the list', async () => {
    const list = JSON.parse((await cli('schema', '--json')).out) as { name: string; title: string }[];
    expect(list.length).toBeGreaterThan(15);
    const schemas = await Promise.all(list.slice(0, 4).map(({ name }) => cli('schema', name)));
    for (const { code, out } of schemas) {
      expect(code).toBe(0);
      expect(JSON.parse(out).$schema).toContain('2020-12');
    }
    expect(list.every(({ title }) => title.length > 3)).toBe(true);
  });

  it.each([
    [['schema', 'confg'], 'did you mean "config"?'],
    [['trian'], 'Did you mean train?'],
    [['validate'], "missing required argument 'file'"],
    [['validate', '--josn', 'x'], 'Did you mean --json?'],
  ])('%j is a usage error', async (words, sentence) => {
    const { code, err } = await cli(...words);
    expect(code).toBe(2);
    expect(err).toContain(sentence);
  });

  it('works from a folder of any name, through a link, and knows its version', async () => {
    const { code, out } = await cli('--version');
    expect([code, out.trim()]).toEqual([0, '0.1.0']);
    expect(resolve(bundlePath('cli'))).toContain('dist');
  });
});
