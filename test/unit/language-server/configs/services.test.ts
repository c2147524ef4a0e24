/** Completion, hover, outline, folding, links, arithmetic and fixes of training configs. */
import { describe, expect, it } from 'vitest';
import type { Surroundings } from '../../../../language-server/service/config-references.ts';
import {
  type ConfigText,
  configCompletions,
  configDefinition,
  configFindings,
  configFolding,
  configHover,
  configInlays,
  configSymbols,
  openConfig,
} from '../../../../language-server/service/configs/index.ts';
import type { Position, TextEdit } from '../../../../language-server/service/contract.ts';

const HEAD = 'version: 1\nname: x\nharness: { adapter: tabletop-skills, suites: [kitchen] }\n';
const FOLDERS: Record<string, { name: string; kind: 'file' | 'folder' }[]> = {
  './': [
    { name: '.git', kind: 'folder' },
    { name: 'arm.adapter.ts', kind: 'file' },
    { name: 'node_modules', kind: 'folder' },
    { name: 'notes.ts', kind: 'file' },
    { name: 'planners', kind: 'folder' },
  ],
  './planners/': [
    { name: 'my #1', kind: 'folder' },
    { name: 'small', kind: 'folder' },
  ],
};
const around: Surroundings = {
  shippedAdapters: ['result-json', 'tabletop-skills'],
  kind: (path) => (path === './planners/small/config.json' ? 'file' : undefined),
  list: (folder) => FOLDERS[folder],
  listing: (adapter) =>
    adapter === 'tabletop-skills' ? { adapter, tasks: { kitchen: ['a', 'b'], garden: ['c'] }, states: 50 } : undefined,
};

/** The text without its mark `|`, and the mark's place. */
function marked(text: string, name = 'c.training.yaml'): { config: ConfigText; at: Position; text: string } {
  const offset = text.indexOf('|');
  const plain = text.slice(0, offset) + text.slice(offset + 1);
  const config = openConfig(plain, name);
  return { config, at: config.position(offset), text: plain };
}
function applied(text: string, config: ConfigText, edits: TextEdit[]): string {
  const sorted = edits
    .map((edit) => ({ start: config.offset(edit.range.start), end: config.offset(edit.range.end), text: edit.newText }))
    .sort((a, b) => b.start - a.start);
  return sorted.reduce((now, edit) => now.slice(0, edit.start) + edit.text + now.slice(edit.end), text);
}
function offered(text: string, name?: string): string[] {
  const { config, at } = marked(text, name);
  return configCompletions(config, at, around).map((one) => one.label);
}

describe('completion', () => {
  it.each([
    ['a key at the top', `${HEAD}|`, 'rl'],
    ['a key half typed', `${HEAD}see|`, 'seed'],
    ['a key in an empty section', `${HEAD}rl:\n  |`, 'rounds'],
    ['a key half typed in a section', `${HEAD}rl:\n  rounds: 3\n  att|\nseed: 1\n`, 'attemptsPerGroup'],
    ['a key in a deeper section', `${HEAD}rl:\n  clip:\n    |\n  rounds: 3\n`, 'dual'],
    ['a key in braces', `${HEAD}rl: { rounds: 3, | }\n`, 'clip'],
    ['a key in open braces', `${HEAD}rl: { rounds: 3, cl|`, 'clip'],
    ['a word', `${HEAD}trainer:\n  engine: |\n`, 'onnx'],
    ['a word half typed', `${HEAD}rl: { taskPool: so| }\n`, 'solved-1-to-4-of-5'],
    ['true or false', `${HEAD}serving: { deterministic: | }\n`, 'true'],
    ['a default', `${HEAD}rl:\n  learningRate: |\n`, '0.000001'],
    ['an adapter', 'version: 1\nname: x\nharness:\n  adapter: |\n', 'tabletop-skills'],
    ['a suite', 'version: 1\nname: x\nharness:\n  adapter: tabletop-skills\n  suites: [|]\n', 'garden'],
    ['a suite on a line', 'version: 1\nname: x\nharness:\n  adapter: tabletop-skills\n  suites:\n    - |\n', 'garden'],
    ['after an error elsewhere', `${HEAD}sft:\n  batch 3\nrl:\n  |\n`, 'rounds'],
  ])('%s', (_what, text, label) => {
    expect(offered(text)).toContain(label);
  });

  it.each([
    ['suites as keys of tasks', 'suites: [kitchen, garden]\n  tasks:\n    |\n', ['kitchen', 'garden']],
    ['those that are left', 'suites: [kitchen, garden]\n  tasks:\n    kitchen: 0\n    gar|\n', ['garden']],
    ['in braces', 'suites: [kitchen, garden]\n  tasks: { garden: 0, k| }\n', ['kitchen']],
    ['suites the adapter does not list', 'suites: [cellar]\n  tasks: { | }\n', ['cellar']],
    ['the tasks of a suite', 'suites: [kitchen]\n  tasks: { kitchen: | }\n', ['0-1']],
    ['the only task of a suite', 'suites: [garden]\n  tasks:\n    garden: |\n', ['0']],
  ])('%s', (_what, harness, labels) => {
    expect(offered(`version: 1\nname: x\nharness:\n  adapter: tabletop-skills\n  ${harness}`)).toEqual(labels);
  });

  it('leads along folders to checkpoints and adapters', () => {
    expect(offered(`${HEAD}planner:\n  checkpoint: |\n`)).toEqual(['./planners']);
    expect(offered(`${HEAD}planner: { checkpoint: "./planners/sm|" }\n`)).toEqual([
      './planners/my #1',
      './planners/small',
    ]);
    expect(offered(`${HEAD}planner: { checkpoint: ./nowhere/| }\n`)).toEqual([]);
    expect(offered('{ "harness": { "adapter": "./|" } }', 'c.training.json')).toEqual([
      './arm.adapter.ts',
      './planners',
    ]);
    const { config, at, text } = marked(`${HEAD}planner: { checkpoint: ./planners/| }\n`);
    const [odd, small] = configCompletions(config, at, around);
    expect(small.detail).toBe('checkpoint');
    expect(odd.detail).toBeUndefined();
    expect(applied(text, config, [small.edit])).toBe(`${HEAD}planner: { checkpoint: ./planners/small }\n`);
    expect(applied(text, config, [odd.edit])).toBe(`${HEAD}planner: { checkpoint: "./planners/my #1" }\n`);
  });

  it('offers nothing in a file that is too large to be read', () => {
    const many = Array.from({ length: 21_000 }, (_, i) => i).join(', ');
    expect(offered(`${HEAD}splits: { training: [${many}] }\nrl: { | }\n`)).toEqual([]);
  });

  it('leaves out keys that are there, and offers nothing in a comment', () => {
    expect(offered(`${HEAD}rl: { rounds: 3, | }\n`)).not.toContain('rounds');
    expect(offered(`${HEAD}# rl |\n`)).toEqual([]);
  });

  it('writes JSON in JSON', () => {
    const { config, at, text } = marked('{ "version": 1, "rl": { "rou|" } }', 'c.training.json');
    const offer = configCompletions(config, at).find((one) => one.label === 'rounds');
    expect(applied(text, config, [offer?.edit as TextEdit])).toBe('{ "version": 1, "rl": { "rounds":  } }');
    expect(offered('{ "trainer": { "engine": "|" } }', 'c.training.json')).toContain('tfjs');
  });

  it('tells the default, where it comes from and what the key means', () => {
    const { config, at, text } = marked(`${HEAD}rl:\n  clip:\n    hi|\n`);
    const offer = configCompletions(config, at).find((one) => one.label === 'high');
    expect(offer?.detail).toBe('default 0.28 (paper, appendix A)');
    expect(offer?.documentation).toContain('epsilon-plus of eq. 7');
    expect(applied(text, config, [offer?.edit as TextEdit])).toBe(`${HEAD}rl:\n  clip:\n    high: \n`);
  });

  it("a preset's value is the default", () => {
    const { config, at } = marked(`preset: cap-x\n${HEAD}rl:\n  rou|\n`);
    expect(configCompletions(config, at).find((one) => one.label === 'rounds')?.detail).toContain('15 (preset cap-x');
  });
});

describe('hover', () => {
  it('on a key and on its value', () => {
    for (const text of [`${HEAD}rl: { importance|Cap: 2 }\n`, `${HEAD}rl: { importanceCap: 2| }\n`]) {
      const { config, at } = marked(text);
      const hover = configHover(config, at);
      expect(hover?.contents).toContain('C of eq. 6');
      expect(hover?.contents).toContain('Default: 2 (paper, appendix A)');
    }
  });

  it('covers exactly the key, also after a character of two units', () => {
    const { config, at } = marked('# 🦾\nname: "🦾" # 🦾\nharness: { sui|tes: [s] }\n');
    expect(configHover(config, at)?.range).toEqual({
      start: { line: 2, character: 11 },
      end: { line: 2, character: 17 },
    });
  });

  it('is silent beside keys', () => {
    for (const text of [`${HEAD}# |\n`, `|${HEAD}`.replace('version', '# v\nversion'), `${HEAD}unknown|: 1\n`]) {
      const { config, at } = marked(text);
      expect(configHover(config, at)).toBeUndefined();
    }
  });
});

describe('outline, folding and links', () => {
  const text =
    '# one\n# two\nversion: 1\nplanner:\n  checkpoint: ./p\nrl:\n  clip: { low: 0.2,\n    high: 0.3 }\n  rounds: 2\nharness: { adapter: ./mine.ts, suites: &s [a, b] }\n';
  it('has sections, lists and values', () => {
    const symbols = configSymbols(openConfig(text));
    expect(symbols.map(({ name, kind, detail }) => [name, kind, detail])).toEqual([
      ['version', 'value', '1'],
      ['planner', 'section', ''],
      ['rl', 'section', ''],
      ['harness', 'section', ''],
    ]);
    expect(symbols[2].children[0].children.map((child) => child.name)).toEqual(['low', 'high']);
    expect(symbols[2].range).toEqual({ start: { line: 5, character: 0 }, end: { line: 8, character: 11 } });
  });

  it('folds what has several lines', () => {
    expect(configFolding(openConfig(text))).toEqual([
      { startLine: 0, endLine: 1, kind: 'comment' },
      { startLine: 3, endLine: 4 },
      { startLine: 5, endLine: 8 },
      { startLine: 6, endLine: 7 },
    ]);
  });

  it('leads to adapter, checkpoint and anchor', () => {
    const at = (mark: string) => {
      const { config, at } = marked(text.replace(mark, `${mark[0]}|${mark.slice(1)}`));
      return configDefinition(config, at);
    };
    expect(at('./mine.ts')).toMatchObject({ path: './mine.ts' });
    expect(at('./p')).toMatchObject({ path: './p/config.json' });
    expect(at('version')).toBeUndefined();
    const { config, at: place } = marked(`${HEAD}sft: { batch: &b 8 }\nrl: { batch: *|b }\n`);
    expect(configDefinition(config, place)).toMatchObject({ range: { start: { line: 3, character: 17 } } });
  });
});

describe('arithmetic', () => {
  it('stands beside its numbers', () => {
    const config = openConfig(
      `${HEAD}rl:\n  rounds: 3\n  groupsPerRound: 4\n  attemptsPerGroup: 6\n  batch: 100\nteacher: { episodesPerTask: 7 }\n`,
    );
    const hints = configInlays(config, around).map(
      ({ position, label }) => `${position.line}:${position.character} ${label}`,
    );
    expect(hints).toEqual([
      '3:3 at most 1,572,864 response tokens a round',
      '4:11 about 1.6 MB a round',
      '5:19 at most 384 samples a round',
      '6:21 24 episodes a round',
      '7:12 at most 4 steps a round, 12 steps in all',
      '8:29 14 teacher episodes',
    ]);
  });

  it('goes on beside an error, and is silent where nothing can be counted', () => {
    expect(configInlays(openConfig(`${HEAD}rl: { rounds: two, batch: 64 }\n`), around).length).toBeGreaterThan(2);
    expect(configInlays(openConfig('rl: { rounds: 2 }\n'), around)).toEqual([]);
  });
});

describe('fixes', () => {
  it.each([
    ['unknown-key', `${HEAD}rl: { rouns: 1 }\n`, `${HEAD}rl: { rounds: 1 }\n`],
    ['old-key', `${HEAD}rl: { learning_rate: 1 }\n`, `${HEAD}rl: { learningRate: 1 }\n`],
    ['missing-key', HEAD.replace('version: 1\n', ''), HEAD],
    ['wrong-value', `${HEAD}rl: { rounds: "9" }\n`, `${HEAD}rl: { rounds: 9 }\n`],
    ['wrong-value', `${HEAD}splits: { training: 44-11 }\n`, `${HEAD}splits: { training: 11-44 }\n`],
    ['config-version', HEAD.replace('1', '2'), HEAD],
    ['yaml-syntax', `${HEAD}seed:1\n`, `${HEAD}seed: 1\n`],
    ['yaml-syntax', `${HEAD}rl:\n\trounds: 3\n`, `${HEAD}rl:\n  rounds: 3\n`],
    ['rollout-sampling', `${HEAD}rl: { sampling: { topP: 0.9 } }\n`, `${HEAD}rl: { sampling: { topP: 1 } }\n`],
    ['unused-url', `${HEAD}serving:\n  url: "http://127.0.0.1"\n  model: m\n`, `${HEAD}serving:\n  model: m\n`],
    ['unused-url', `${HEAD}trainer: { device: cpu, url: "http://127.0.0.1" }\n`, `${HEAD}trainer: { device: cpu }\n`],
    [
      'not-in-this-version',
      `${HEAD}serving: { url: "http://127.0.0.1", upstream: vllm, model: m }\n`,
      `${HEAD}serving: { upstream: embedded }\n`,
    ],
    [
      'not-in-this-version',
      `${HEAD}serving: { upstream: vllm, url: "http://127.0.0.1", model: m }\n`,
      `${HEAD}serving: { upstream: embedded }\n`,
    ],
    [
      'not-in-this-version',
      `${HEAD}serving:\n  upstream: vllm\n  url: "http://127.0.0.1"\n  model: m\n  deterministic: true\n`,
      `${HEAD}serving:\n  upstream: embedded\n  deterministic: true\n`,
    ],
    [
      'not-in-this-version',
      `${HEAD}trainer: { url: "http://127.0.0.1", engine: tinker, device: auto }\n`,
      `${HEAD}trainer: { engine: onnx, device: auto }\n`,
    ],
    ['repeated-suite', HEAD.replace('kitchen', 'kitchen, kitchen'), HEAD],
    ['unknown-suite', HEAD.replace('kitchen', 'kitchn'), HEAD],
    ['unknown-adapter', HEAD.replace('skills', 'skils'), HEAD],
    [
      'url-without-tls',
      `${HEAD}teacher: { upstream: vllm, model: m, url: "http://h/v1" }\n`,
      `${HEAD}teacher: { upstream: vllm, model: m, url: https://h/v1 }\n`,
    ],
  ])('%s', (code, text, mended) => {
    const config = openConfig(text);
    const found = configFindings(config, around).filter((finding) => finding.code === code);
    const finding = found.find((one) => one.fix);
    expect(applied(text, config, finding?.fix?.edits ?? [])).toBe(mended);
    expect(configFindings(openConfig(mended), around).filter((one) => one.code === code)).toEqual([]);
  });

  it('in JSON', () => {
    const text =
      '{ "version": 1, "name": "x", "harness": { "adapter": "tabletop-skils", "suites": ["kitchen"] }, "sed": 1, }';
    let now = text;
    for (let round = 0; round < 5; round++) {
      const config = openConfig(now, 'c.json');
      const fix = configFindings(config, around).find((finding) => finding.fix)?.fix;
      if (!fix) break;
      now = applied(now, config, fix.edits);
    }
    expect(now).toBe(
      '{ "version": 1, "name": "x", "harness": { "adapter": "tabletop-skills", "suites": ["kitchen"] }, "seed": 1 }',
    );
  });

  it('none where an alias gives the value', () => {
    const text = `${HEAD}sft: &a { learning_rate: 1 }\nrl: *a\n`;
    const fixes = configFindings(openConfig(text), around).filter((finding) => finding.code === 'old-key');
    expect(fixes.map((finding) => finding.fix !== undefined)).toEqual([true, false]);
  });
});
