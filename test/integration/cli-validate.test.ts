/** The command line on real files: findings, exit codes, and nothing written beside them. */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../cli/program.ts';
import { bundlePath, packageRoot } from '../../trainer-daemon/bundles.ts';
import { initialisePlanner } from '../../trainer-daemon/planner/initialise.ts';
import { memoryTerminal } from '../unit/cli/memory-terminal.ts';
import { cli as cliProcess, type Ended } from './cli-process.ts';

let folder: string;
const ADAPTER = `import { defineAdapter } from 'agentic-robo-rl';
export default defineAdapter({
  name: 'mine',
  tasks: { tabletop_goal_swap: ['a', 'b', 'c'], tabletop_goal_task: ['d'] },
  states: 50,
  launch: () => ({ command: 'true' }),
  outcome: ({ episode: { task, init, attempt } }) => ({ task, init, attempt, reward: 0, valid: true }),
});
`;
const SOUND = 'version: 1\nname: demo\nharness: { adapter: ./mine.mjs, suites: [tabletop_goal_swap] }\n';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'arrl validate ü-'));
  writeFileSync(join(folder, 'mine.mjs'), ADAPTER);
  process.chdir(folder);
});
afterAll(() => {
  process.chdir(packageRoot());
  rmSync(folder, { recursive: true, force: true });
});

/** In this process, as a hundred starts of the program would tell nothing more; `built` is the program. */
async function cli(...words: string[]): Promise<Ended> {
  const terminal = memoryTerminal();
  const code = await runCommand(terminal, words);
  const text = (lines: string[]) => lines.map((line) => `${line}\n`).join('');
  return { code, out: text(terminal.output), err: text(terminal.errors) };
}
const built = (...words: string[]) => cliProcess(folder, words);

function write(name: string, content: string | Buffer): string {
  writeFileSync(join(folder, name), content);
  return name;
}

describe('validate ADAPTER', () => {
  it('finds what the editor finds, with places, and runs nothing', async () => {
    const text = ADAPTER.replace("command: 'true'", "command: 'sh -c play'").replace(
      'valid: true',
      'valid: output.exitCode === 0',
    );
    write('bad.adapter.mjs', `${text.replace('reward: 0', 'reward: Math.random()')}\nprocess.exit(3);\n`);
    const { code, out } = await cli('validate', '--json', 'bad.adapter.mjs');
    const [file] = JSON.parse(out).files;
    expect(code).toBe(file.ok ? 0 : 1);
    expect(file.findings.map((finding: { code: string }) => finding.code)).toContain('outcome-not-deterministic');
    expect(file.findings[0].line).toBeGreaterThan(1);
    expect((await cli('validate', 'mine.mjs')).out).toContain('1 file checked');
  });
});

describe('validate --format sarif', () => {
  it('prints a log and exits as it does otherwise', async () => {
    const name = write('sarif.yaml', `${SOUND}rl: { rouns: 1, clip: { dual: 1.2 } }\n`);
    const { code, out } = await cli('validate', '--format', 'sarif', name);
    const log = JSON.parse(out);
    expect([code, log.version, log.runs[0].tool.driver.name]).toEqual([1, '2.1.0', 'agentic-robo-rl']);
    expect(
      log.runs[0].results.map((result: { ruleId: string; level: string }) => [result.ruleId, result.level]),
    ).toEqual([
      ['unknown-key', 'error'],
      ['dual-clip-low', 'note'],
    ]);
    const adapter = write('sarif.adapter.mjs', ADAPTER.replace('reward: 0', 'reward: Math.random()'));
    const rules = JSON.parse((await cli('validate', '--format', 'sarif', name, adapter)).out).runs[0].tool.driver.rules;
    expect(rules.map((rule: { id: string }) => rule.id)).toContain('outcome-not-deterministic');
    for (const { id, shortDescription, helpUri, help } of rules) {
      const page = readFileSync(fileURLToPath(helpUri), 'utf8');
      expect([page.split('\n')[0], help.markdown]).toEqual([`# ${id}`, page]);
      expect(shortDescription.text).toMatch(/^[^#].*\.$/);
    }
    expect((await cli('validate', '--format', 'sarif', write('sound.yaml', SOUND))).code).toBe(0);
  });
});

describe('validate', () => {
  it('is silent about a sound config but for the count', async () => {
    const name = write('sound.yaml', SOUND);
    for (const run of [cli, built])
      expect(await run('validate', name)).toEqual({ code: 0, out: '1 file checked: no errors\n', err: '' });
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
  // Bytes that are no text, files that are no files, and what only the adapter or the checkpoint tells.
  const more: [string, string | Buffer, string][] = [
    ['empty.yaml', '', 'empty.yaml:1:1: error: the file is empty; a training config has at least version, name and'],
    ['empty.json', '', 'empty.json:1:1: error: '],
    ['comment.yaml', '# later\n', 'comment.yaml:1:1: error: the file is empty'],
    [
      'latin1.yaml',
      Buffer.from('version: 1\nname: caf\xe9\n', 'latin1'),
      'latin1.yaml:2:10: error: the character U+FFFD',
    ],
    [
      'picture.yaml',
      Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
      'picture.yaml:1:1: error: the character U+FFFD cannot stand in a config; this looks like a binary file',
    ],
    [
      'utf16be.yaml',
      Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(`${SOUND}seed: -1\n`, 'utf16le').swap16()]),
      'utf16be.yaml:4:7: error: "seed" is -1',
    ],
    ['utf16odd.yaml', Buffer.from([0xff, 0xfe, 0x61]), 'utf16odd.yaml:1:1: error: '],
    ['roboter – Übung ロボ.yaml', `${SOUND}seed: -1\n`, 'roboter – Übung ロボ.yaml:4:7: error: "seed" is -1'],
    [
      'nul-path.yaml',
      SOUND.replace('./mine.mjs', '"./mi\\0ne.mjs"'),
      'nul-path.yaml:3:21: error: there is no file ./mi',
    ],
    [
      'long-path.yaml',
      `${SOUND}planner: { checkpoint: ./${'x'.repeat(5000)} }\n`,
      'long-path.yaml:4:24: error: there is no folder ./xxx',
    ],
    [
      'suite.yaml',
      SOUND.replace('tabletop_goal_swap', 'tabletop_goal_swpa'),
      'suite.yaml:3:42: error: "harness.suites": the adapter "mine" has no suite "tabletop_goal_swpa"; did you mean "tabletop_goal_swap"? [unknown-suite]',
    ],
    [
      'task.yaml',
      SOUND.replace(' }', ', tasks: { tabletop_goal_swap: 2-3 } }'),
      'task.yaml:3:92: error: "harness.tasks": there is no task 3 in "tabletop_goal_swap": it has 3 tasks (0-2) [unknown-task]',
    ],
    [
      'states.yaml',
      `${SOUND}splits:\n  training: 11-44, 50-59\n`,
      'states.yaml:5:13: error: "splits.training": states 50-59 do not exist; the adapter "mine" has 50 initial states a task (0-49) [states-out-of-range]',
    ],
    [
      'final.yaml',
      `${SOUND}evaluation: { states: 50 }\n`,
      'final.yaml:4:23: error: "evaluation.states": state 50 does not exist; the adapter "mine" has 50 initial states',
    ],
    [
      'selection.yaml',
      `${SOUND}evaluation: { selectionStates: 45-50 }\n`,
      'selection.yaml:4:32: error: "evaluation.selectionStates": state 50 does not exist',
    ],
    [
      'vllm.yaml',
      `${SOUND}serving: { upstream: vllm, url: "http://127.0.0.1:1/v1", model: m }\n`,
      'vllm.yaml:4:22: error: this version cannot train a planner that vllm serves',
    ],
    [
      'engine.yaml',
      `${SOUND}trainer: { engine: tfjs }\n`,
      'engine.yaml:4:20: error: the engine tfjs is not in this version: use onnx',
    ],
    [
      'damaged.yaml',
      `${SOUND}planner: { checkpoint: ./damaged planner }\n`,
      'damaged.yaml:4:24: error: damaged planner/config.json',
    ],
  ];
  beforeAll(() => {
    const planner = join(folder, 'damaged planner');
    mkdirSync(planner);
    for (const name of ['config.json', 'tokenizer.json', 'model.safetensors']) writeFileSync(join(planner, name), '{');
  });

  it.each([...broken, ...more])(
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

  it('finds nothing wrong with the examples but what this version cannot run', async () => {
    const examples = join(packageRoot(), 'examples');
    const files = readdirSync(examples).filter((name) => name.endsWith('.training.yaml'));
    expect(files.length).toBeGreaterThan(0);
    const { code, out } = await cli('validate', '--strict', '--json', ...files.map((name) => join(examples, name)));
    // The paper's own run needs a checkpoint, a served planner and a cluster: those, and no more, are refused as yet.
    const findings = JSON.parse(out)
      .files.flatMap((file: { findings: { path: string; code: string; severity: string }[] }) => file.findings)
      .filter(({ severity }: { severity: string }) => severity !== 'hint');
    expect(findings.map(({ path, code }: { path: string; code: string }) => [path, code])).toEqual([
      ['planner.checkpoint', 'missing-checkpoint'],
      ['serving.upstream', 'not-in-this-version'],
      ['trainer.engine', 'not-in-this-version'],
    ]);
    expect(code).toBe(1);
  });

  it('reads UTF-16 where a byte-order mark says so', async () => {
    write('utf16.yaml', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(SOUND, 'utf16le')]));
    expect((await cli('validate', 'utf16.yaml')).code).toBe(0);
  });

  it('gives 2 for files it cannot read, and still checks the others', async () => {
    mkdirSync(join(folder, 'folder.yaml'), { recursive: true });
    write('bad.yaml', 'version: 1\n');
    const { code, out } = await built('validate', 'missing.yaml', 'folder.yaml', 'bad.yaml');
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

describe('paths that are no config files', () => {
  beforeAll(() => {
    mkdirSync(join(folder, 'configs'), { recursive: true });
    execFileSync('mkfifo', [join(folder, 'pipe.yaml')]);
    writeFileSync(join(folder, 'huge.yaml'), '');
    truncateSync(join(folder, 'huge.yaml'), 100_000_000);
    symlinkSync('loop.yaml', join(folder, 'loop.yaml'));
  });
  it.each([
    ['configs', 'configs:1:1: error: this is a folder; name a file in it'],
    ['pipe.yaml', 'pipe.yaml:1:1: error: this is not a regular file'],
    ['/dev/zero', '/dev/zero:1:1: error: this is not a regular file'],
    ['huge.yaml', 'huge.yaml:1:1: error: the file has 100,000,000 bytes; a training config is text of at most'],
    ['loop.yaml', 'loop.yaml:1:1: error: the file cannot be read: '],
    ['sound.yaml/x.yaml', 'sound.yaml/x.yaml:1:1: error: there is no such file'],
    ['nowhere.yaml', 'nowhere.yaml:1:1: error: there is no such file'],
  ])('%s', async (path, sentence) => {
    const checked = await cli('validate', path);
    expect([checked.code, checked.out]).toEqual([2, expect.stringContaining(sentence)]);
    const trained = await cli('train', path);
    expect([trained.code, trained.err]).toEqual([2, expect.stringContaining(sentence)]);
    if (path !== 'configs') {
      const evaluated = await cli('evaluate', path);
      expect([evaluated.code, evaluated.err]).toEqual([2, expect.stringContaining(sentence)]);
    }
  });
});

describe('an adapter', () => {
  it('that cannot be loaded is a finding at its name; --no-adapter runs none', async () => {
    write('broken.mjs', 'export default {}\n');
    write('adapter-broken.yaml', SOUND.replace('mine.mjs', 'broken.mjs'));
    const { code, out } = await cli('validate', 'adapter-broken.yaml');
    expect([code, out]).toEqual([1, expect.stringMatching(/^adapter-broken\.yaml:3:21: error: .*launch is missing/)]);
    expect((await cli('validate', '--no-adapter', 'adapter-broken.yaml')).code).toBe(0);
  });

  it.each([['--dry-run'], []])('is asked before a run begins: train %s', async (...words) => {
    write('states.yaml', `${SOUND}splits:\n  training: 11-44, 50-59\n`);
    const before = readdirSync(folder).sort();
    const { code, err } = await built('train', 'states.yaml', ...words);
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/^states\.yaml:5:13: error: .*\n.*1 error; nothing was started/),
    ]);
    expect(readdirSync(folder).sort()).toEqual(before);
  });

  it.each([['--dry-run'], []])('tells what is wrong as JSON too: train --json %s', async (...words) => {
    const states = write('states.yaml', `${SOUND}splits:\n  training: 11-44, 50-59\n`);
    const seed = write('seed.yaml', `${SOUND}seed: -1\n`);
    for (const [name, code, line] of [
      [states, 'states-out-of-range', 5],
      [seed, 'wrong-value', 4],
    ]) {
      const ended = await cli('train', String(name), '--json', ...words);
      expect(ended.code).toBe(2);
      expect(JSON.parse(ended.out)).toMatchObject({ kind: 'error', findings: [{ code, line, file: name }] });
    }
  });

  it('is asked by evaluate as well', async () => {
    write('states.yaml', `${SOUND}splits:\n  training: 11-44, 50-59\n`);
    const planner = join(folder, 'planner');
    const init = { layers: 1, hidden: 32, intermediate: 48, heads: 2, kvHeads: 1, vocabulary: 300, context: 64 };
    await initialisePlanner(planner, init, ['pick the red block'], 1);
    const { code, err } = await cli('evaluate', 'states.yaml', '--checkpoint', planner);
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('states.yaml:5:13: error: "splits.training": states 50-59'),
    ]);
  });

  it('of the shipped world has fifty states', async () => {
    write(
      'shipped.yaml',
      `${SOUND.replace('./mine.mjs', 'tabletop-skills')}evaluation: { states: [49, 50] }\nsplits: { validation: 45-48 }\n`,
    );
    const { code, out } = await cli('validate', 'shipped.yaml');
    expect([code, out]).toEqual([
      1,
      expect.stringContaining('state 50 does not exist; the adapter "tabletop-skills" has 50'),
    ]);
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
    const { code, err } = await built(...words);
    expect(code).toBe(2);
    expect(err).toContain(sentence);
  });

  it('works from a folder of any name, through a link, and knows its version', async () => {
    const { code, out } = await built('--version');
    expect([code, out.trim()]).toEqual([0, '0.1.0']);
    expect(resolve(bundlePath('cli'))).toContain('dist');
  });
});
