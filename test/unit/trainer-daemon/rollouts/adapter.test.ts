import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EpisodeRequest } from '../../../../protocol/adapter.ts';
import { loadAdapter } from '../../../../trainer-daemon/rollouts/adapter.ts';
import { AdapterError } from '../../../../trainer-daemon/rollouts/adapter-error.ts';
import type { OutcomeInput } from '../../../../trainer-daemon/rollouts/adapter-messages.ts';
import type { LoadedAdapter } from '../../../../trainer-daemon/rollouts/contract.ts';

let outside: string;
let folder: string;
const open: LoadedAdapter[] = [];

beforeAll(() => {
  outside = mkdtempSync(join(tmpdir(), 'adapter-'));
  folder = join(outside, 'workspace');
  mkdirSync(join(folder, 'node_modules/lodash'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{}');
  writeFileSync(join(folder, 'node_modules/lodash/index.js'), 'export default 1');
  writeFileSync(join(outside, 'secret.ts'), 'export const secret = 1;');
  symlinkSync(join(outside, 'secret.ts'), join(folder, 'link.ts'));
});
afterAll(async () => {
  await Promise.all(open.map((adapter) => adapter.close()));
  rmSync(outside, { recursive: true, force: true });
});

let count = 0;
async function load(text: string, extension = 'ts', timeoutSeconds = 120): Promise<LoadedAdapter> {
  const name = `a${count++}.${extension}`;
  writeFileSync(join(folder, name), text);
  const adapter = await loadAdapter(`./${name}`, folder, { timeoutSeconds });
  open.push(adapter);
  return adapter;
}

const whole = (fields: string, top = '') =>
  `import { defineAdapter } from 'agentic-robo-rl';\n${top}\nexport default defineAdapter({ name: 'x', launch: () => ({ command: 'true' }), outcome: (o) => ({ ...o.episode, reward: 1, valid: true }), ${fields} } as any);`;
const request = { task: 's/0', suite: 's', taskIndex: 0, init: 1, attempt: 2 } as EpisodeRequest;
const remains = (outputDir: string): OutcomeInput => ({
  episode: { task: 's/0', suite: 's', taskIndex: 0, init: 1, attempt: 2, role: 'rollout', seed: 1 },
  exitCode: 0,
  signal: null,
  timedOut: false,
  stdoutTail: '',
  stderrTail: '',
  calls: [],
  outputDir,
});

describe('loading an adapter', () => {
  it.each<[string, string, RegExp]>([
    ['no default export', 'export const x = 1;', /no default export: write "export default defineAdapter/],
    ['a function', 'export default () => 1;', /not an object/],
    ['no fields', 'export default {};', /name must be a text; launch is missing; outcome is missing/],
    ['a wrong kind', "export default { name: 'x', launch: 1, outcome() {} };", /launch must be a function/],
    ['an unknown field', whole('lunch: 1,'), /"lunch" is not a field of an adapter/],
    ['a wrong manner', whole("onUpstreamFailure: 'retry',"), /onUpstreamFailure must be "pass" or "fail-fast"/],
    ['a syntax error', 'export default {\n  name: "x",\n  launch( };\n', /a\d+\.ts:3:\d+: /],
    ['a throw at the top', 'const x: any = null;\n\nx.y;\nexport default {};', /null.*a\d+\.ts:3:\d+/],
    ['a package', whole('', "import lodash from 'lodash'; lodash();"), /imports "lodash": an adapter may import/],
    ['a missing file', whole('', "import './gone';"), /imports "\.\/gone", which does not exist/],
    ['a file outside', whole('', "import '../secret';"), /imports "\.\.\/secret", which lies outside/],
    ['a link that leads outside', whole('', "import './link';"), /imports "\.\/link", which lies outside/],
    ['an exit', 'process.exit(5);', /ended its process \(exit code 5\)/],
    ['an endless loop', 'for (;;);', /gave no result within 2 s/],
  ])('says what is wrong: %s', async (_, text, says) => {
    // Only the one that never ends need reach its limit; a busy machine must not cut the others short.
    const loading = load(text, 'ts', text.startsWith('for') ? 2 : 120);
    await expect(loading).rejects.toThrow(says);
    await expect(loading).rejects.toThrow(AdapterError);
    await expect(loading).rejects.toThrow(/^adapter .*a\d+\.ts/);
  });

  it.each<[string, string, RegExp]>([
    ['a syntax error', 'export default {\n  name: "x",\n  launch( };\n', /a\d+\.mjs:3:\d+: /],
    ['a name declared twice', 'export const y = 1;\n\nlet x = 1;\nlet x = 2;\n', /'x' has already.*\(a\d+\.mjs:4\)/],
    [
      'a top-level await',
      'export const x = 1;\nconst y = await x;\n',
      /a\d+\.mjs:2:11: .*may not wait at its top level/,
    ],
    ['a top-level for await', 'export {};\nfor await (const x of []);\n', /a\d+\.mjs:2:1: .*may not wait at its top/],
  ])('names the line in plain JavaScript: %s', async (_, text, says) => {
    await expect(load(text, 'mjs')).rejects.toThrow(says);
  });

  it('an await within functions is none at the top level', async () => {
    const adapter = await load(
      'const later = async () => { await 1; };\nlater();\nexport default { name: "js", launch: async () => ({ command: await "x" }), outcome() {} };',
      'mjs',
    );
    expect(await adapter.launch(request)).toEqual({ command: 'x' });
  });

  it('stops one that takes too much memory', async () => {
    const loading = load('const a: unknown[] = []; for (;;) a.push(new Array(1e7).fill(a.length + 0.5));', 'ts');
    await expect(loading).rejects.toThrow('it used more than 512 MB');
  });

  it.each([
    ['nobody', /no adapter of this name is shipped/],
    ['./nobody.ts', /no such file \(harness.adapter, relative to/],
  ])('says that there is no %s', async (reference, says) => {
    await expect(loadAdapter(reference, folder)).rejects.toThrow(says);
  });

  it('takes plain JavaScript, import.meta and what the workspace holds', async () => {
    writeFileSync(join(folder, 'more.mjs'), 'export const command = "from-more"; export default 3;');
    const adapter = await load(
      "import three, { command } from './more.mjs'; import { join } from 'node:path';\n" +
        'export default { name: "js", launch: () => ({ command, args: [join(import.meta.dirname, "x"), String(three)] }), outcome() {} };',
      'mjs',
    );
    expect(await adapter.launch(request)).toEqual({ command: 'from-more', args: [join(folder, 'x'), '3'] });
    expect(adapter).toMatchObject({ name: 'js', onUpstreamFailure: 'pass', hasScriptedTeacher: false });
    expect(adapter.sha256).toMatch(/^[0-9a-f]{64}$/);
    await expect(adapter.scriptedTeacher()).rejects.toThrow('ships no scripted teacher');
    expect(await adapter.tasks()).toEqual({});
  });

  it.each<[string, unknown]>([
    ['', undefined],
    ['states: 50,', 50],
    ['states: { s: 50, t: 10 },', { s: 50, t: 10 }],
    ['states: async () => 7,', 7],
    ['states: () => undefined,', undefined],
  ])('tells the number of initial states: %s', async (fields, states) => {
    expect(await (await load(whole(fields))).states()).toEqual(states);
  });

  it.each<[string, RegExp]>([
    ['states: 0,', /states: the result: must be a whole number, 1 or more, or one for each suite/],
    ['states: () => ({ s: 1.5 }),', /states: the result: must be a whole number/],
    ['states: () => "50",', /states: the result: must be a whole number/],
  ])('refuses %s', async (fields, says) => {
    await expect((await load(whole(fields))).states()).rejects.toThrow(says);
  });

  it('refuses a number of states of the wrong kind while loading', async () => {
    await expect(load(whole('states: "50",'))).rejects.toThrow('states must be a number, an object ({suite: number})');
  });

  it('keeps what the adapter prints to itself', async () => {
    const adapter = await load(whole('', 'console.log("{\\"not\\": \\"for you\\"}");'));
    expect(await adapter.launch(request)).toEqual({ command: 'true' });
  });
});

describe('calling an adapter', () => {
  it.each<[string, string, RegExp]>([
    ['nothing', '() => undefined', /launch\(\): returned nothing/],
    ['a text', "() => 'python'", /launch\(\): /],
    ['no command', '() => ({ args: [] })', /launch\(\): command: /],
    ['an argument that is no text', "() => ({ command: 'x', args: [1] })", /launch\(\): args\.0: /],
    ['an unknown key', "() => ({ command: 'x', arguments: [] })", /arguments/],
    ['a worker without episode', "() => ({ worker: { command: 'x' } })", /launch\(\): episode: /],
    ['a promise that fails', "async () => { throw new Error('no robot'); }", /launch\(\): no robot \(a\d+\.ts:3/],
    ['a throw of no error', "() => { throw 'oh'; }", /launch\(\): threw "oh"/],
    ['a circle', '() => { const a: any = {}; a.a = a; return a; }', /circular/i],
  ])('checks what launch gives: %s', async (_, launch, says) => {
    const adapter = await load(
      `import { defineAdapter } from 'agentic-robo-rl';\nexport default defineAdapter({ name: 'x', outcome() {}, \nlaunch: ${launch} } as any);`,
    );
    await expect(adapter.launch(request)).rejects.toThrow(says);
  });

  it.each<[string, string, RegExp]>([
    ['a reward of NaN', 'reward: NaN', /outcome\(\): reward: must be a finite number/],
    ['no reward', 'reward: undefined', /reward: must be a finite number/],
    ['valid as text', 'valid: "yes"', /valid: /],
    ['a task of another kind', 'task: 3', /task: must be a text/],
    ['half an attempt', 'attempt: 0.5', /attempt: /],
  ])('checks the five fields: %s', async (_, field, says) => {
    const adapter = await load(
      `export default { name: 'x', launch() {}, outcome: (o: any) => ({ task: 's/0', init: 1, attempt: 2, reward: 1, valid: true, ${field} }) };`,
    );
    await expect(adapter.outcome(remains(folder))).rejects.toThrow(says);
  });

  it('reads the output folder and nothing else', async () => {
    const output = join(folder, 'output');
    mkdirSync(join(output, 'sub'), { recursive: true });
    writeFileSync(join(output, 'sub/a.json'), '\uFEFF{"a": 1}');
    writeFileSync(join(output, 'b.txt'), 'b');
    symlinkSync(join(outside, 'secret.ts'), join(output, 'link'));
    const adapter = await load(
      `export default { name: 'x', launch() {}, outcome(o: any) {
        const tries = ['../package.json', '/etc/hostname', 'link'].map((p) => { try { o.readText(p); return 'read'; } catch (e: any) { return e.message; } });
        const seen = [o.list(), o.list('sub'), o.list('gone'), o.readText('b.txt'), o.readJson('sub/a.json'), o.readText('gone'), tries];
        return { task: 's/0', init: 1, attempt: 2, reward: 0, valid: false, invalidReason: JSON.stringify(seen) };
      } };`,
    );
    const { invalidReason } = await adapter.outcome(remains(output));
    expect(JSON.parse(invalidReason as string)).toEqual([
      ['b.txt', 'sub/a.json'],
      ['sub/a.json'],
      [],
      'b',
      { a: 1 },
      null,
      [
        '"../package.json" lies outside the episode\'s output folder',
        '"/etc/hostname" lies outside the episode\'s output folder',
        '"link" leads outside the episode\'s output folder',
      ],
    ]);
  });

  it('goes on after a call that hung or ended the process; the others wait their turn', async () => {
    const adapter = await load(
      `let n = 0; export default { name: 'x', outcome() {}, launch: (e: any) => { n++; if (e.init === 1) for (;;); if (e.init === 2) process.exit(); return { command: String(n) }; } };`,
      'ts',
      6,
    );
    const results = await Promise.allSettled([0, 1, 2, 3].map((init) => adapter.launch({ ...request, init })));
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect((results[3] as PromiseFulfilledResult<unknown>).value).toEqual({ command: '1' });
    await adapter.close();
    await expect(adapter.launch(request)).rejects.toThrow('was closed');
  });
});
