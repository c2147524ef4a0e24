/** Half-written and hostile configs: no crash, bounded time, nothing said that the whole file does not say. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type ConfigFinding,
  configCompletions,
  configDefinition,
  configFolding,
  configHover,
  configInlays,
  configSymbols,
  openConfig,
} from '../../../../language-server/service/configs/index.ts';
import { corpusFiles, corpusText, findingsIn, line, root } from './corpus.ts';

/** Dotted paths of everything written. */
function writtenPaths(text: string, name: string): Set<string> {
  const paths = new Set<string>();
  const walk = (value: unknown, prefix: string) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      paths.add(prefix + key);
      walk(inner, `${prefix}${key}.`);
    }
  };
  walk(openConfig(text, name).reading.written, '');
  return paths;
}

/** Said of a text because it ends too early. */
function comesOfTheCut({ code, message }: ConfigFinding): boolean {
  return (
    ['missing-key', 'yaml-syntax', 'json-syntax', 'config-not-a-mapping'].includes(code) ||
    (code === 'wrong-value' && /is empty|has no value/.test(message))
  );
}

const texts: [string, string][] = [
  ...corpusFiles.map((name): [string, string] => [name, corpusText(name)]),
  ...['demo', 'paper-scale'].map((name): [string, string] => [
    `${name}.training.yaml`,
    readFileSync(join(root, `examples/${name}.training.yaml`), 'utf8'),
  ]),
];

describe('configs cut at each line', () => {
  it.each(texts)('%s', (name, text) => {
    const whole = findingsIn(text, name).map((finding) => `${finding.code} ${finding.path}`);
    const allPaths = writtenPaths(text, name);
    const lines = text.split('\n');
    const contradicting: string[] = [];
    for (let count = 0; count < lines.length; count++) {
      const cut = lines.slice(0, count).join('\n');
      const paths = writtenPaths(cut, name);
      /** Whether a key is still to come. */
      const toCome = (key: string) =>
        [...allPaths].some((path) => (path === key || path.startsWith(`${key}.`)) && !paths.has(path));
      for (const finding of findingsIn(cut, name))
        if (
          !whole.includes(`${finding.code} ${finding.path}`) &&
          !comesOfTheCut(finding) &&
          !(finding.rests ?? []).some(toCome) &&
          !(finding.path !== undefined && toCome(finding.path))
        )
          contradicting.push(`cut before line ${count + 1}: ${line(finding)} ${finding.message}`);
    }
    expect(contradicting).toEqual([]);
  });
});

describe('JSON without a comma, a colon or a quote', () => {
  const sound = texts.filter(([name]) => name.endsWith('.json') && !/^(json-syntax-\d|more-problems)/.test(name));
  const demo = openConfig(texts.find(([name]) => name.startsWith('demo'))?.[1] ?? '').reading.written;
  it.each([...sound, ['demo.training.json', JSON.stringify(demo, null, 2)]])('%s', (name, text) => {
    const whole = findingsIn(text, name).map((finding) => `${finding.code} ${finding.path}`);
    const contradicting: string[] = [];
    for (const { index } of text.matchAll(/[,:"]/g)) {
      const cut = text.slice(0, index) + text.slice(index + 1);
      const found = findingsIn(cut, name);
      expect(found.map(({ code }) => code)).toContain('json-syntax');
      for (const finding of found)
        if (finding.code !== 'json-syntax' && !whole.includes(`${finding.code} ${finding.path}`))
          contradicting.push(`without ${text[index]} at ${index}: ${line(finding)} ${finding.message}`);
    }
    expect(contradicting).toEqual([]);
  });
});

const HEAD = 'version: 1\nname: x\nharness: { adapter: tabletop-skills, suites: [tabletop_goal_swap] }\n';
const bomb = Array.from(
  { length: 30 },
  (_, i) =>
    `a${i}: &a${i} [${Array(10)
      .fill(i === 0 ? 'x' : `*a${i - 1}`)
      .join(', ')}]`,
).join('\n');
const hostile: [string, string, string][] = [
  ['5 MB of keys', HEAD + 'k: 1\n'.repeat(1_000_000), 'config-too-large'],
  ['5 MB on one line', `${HEAD}seed: ${'1'.repeat(5_000_000)}\n`, 'config-too-large'],
  ['10,000 brackets', `${HEAD}rl: ${'['.repeat(10_000)}${']'.repeat(10_000)}\n`, 'nested-too-deep'],
  ['10,000 open braces', `${HEAD}rl: ${'{a: '.repeat(10_000)}`, 'nested-too-deep'],
  [
    '10,000 indents',
    HEAD + Array.from({ length: 1_000 }, (_, i) => `${' '.repeat(i)}a:\n`).join(''),
    'nested-too-deep',
  ],
  ['billion laughs', `${HEAD}${bomb}\n`, 'alias-expansion'],
  ['NUL bytes', `${HEAD}name2: "a\0b"\n`, 'control-character'],
  ['a tab', `${HEAD}rl:\n\trounds: 1\n`, 'yaml-syntax'],
];

describe('hostile configs', () => {
  it.each(hostile)(
    '%s',
    (_what, text, code) => {
      const started = process.cpuUsage();
      const found = findingsIn(text, 'c.training.yaml');
      expect(found.map((finding) => finding.code)).toContain(code);
      everyService(text, 'c.training.yaml');
      // Processor time: a machine that does other things at the same time is not our slowness.
      expect(process.cpuUsage(started).user / 1e6).toBeLessThan(8);
    },
    120_000,
  );

  it('CRLF, a byte-order mark and lone carriage returns leave places alone', () => {
    const text = `${HEAD}rl: { rouns: 1 }\n`;
    const places = findingsIn(text, 'c.training.yaml').map(line);
    expect(places).toEqual(['4:7-4:12 error unknown-key']);
    expect(findingsIn(text.replaceAll('\n', '\r\n'), 'c.training.yaml').map(line)).toEqual(places);
    expect(findingsIn(text.replaceAll('\n', '\r'), 'c.training.yaml').map(line)).toEqual(places);
    expect(findingsIn(`\uFEFF${text}`, 'c.training.yaml').map(line)).toEqual(places);
    // Where an editor leaves the mark in, it is a column of the first line.
    expect(findingsIn(`\uFEFF{ "versin": 1 }`, 'c.training.json').map(line)).toContain('1:4-1:12 error unknown-key');
  });

  it('columns count UTF-16 units', () => {
    const found = findingsIn(
      'version: 1\nname: x\nharness: { "🦾": 1, adapter: a, suites: [🦾, 3] }\n',
      'c.training.yaml',
    );
    expect(found.map(line)).toContain('3:46-3:47 error wrong-value');
    expect(found.map(line)).toContain('3:12-3:16 error unknown-key');
  });
});

function everyService(text: string, name: string): void {
  const config = openConfig(text, name);
  configSymbols(config);
  configFolding(config);
  configInlays(config);
  for (const offset of [0, text.length >> 1, text.length]) {
    const at = config.position(offset);
    configCompletions(config, at);
    configHover(config, at);
    configDefinition(config, at);
  }
}

describe('services on half-written text', () => {
  it.each(texts)('%s', (name, text) => {
    const step = Math.max(1, Math.floor(text.length / 12));
    for (let end = 0; end <= text.length; end += step) everyService(text.slice(0, end), name);
  });
});
