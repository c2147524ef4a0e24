import { describe, expect, it } from 'vitest';
import {
  adapterCheckFindings,
  adapterFindings,
  adapterHover,
  adapterInlays,
  adapterLenses,
} from '../../../../language-server/service/adapters/index.ts';
import type { AdapterCheckOutput, TextEdit } from '../../../../language-server/service/contract.ts';
import { toFileFinding } from '../../../../language-server/service/contract.ts';
import { checkResult, corpus, shipped } from './corpus.ts';

const files = new Map([...corpus(), ...shipped()].map((file) => [file.path, file.text]));
const textOf = (path: string): string => files.get(path) as string;
const budget = 60_000;

/** A text with edits applied, the last first. */
function edited(text: string, edits: readonly TextEdit[]): string {
  const lines = text.split('\n');
  const offset = ({ line, character }: TextEdit['range']['start']) =>
    lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0) + character;
  return [...edits]
    .sort((a, b) => offset(b.range.start) - offset(a.range.start))
    .reduce(
      (all, { range, newText }) => all.slice(0, offset(range.start)) + newText + all.slice(offset(range.end)),
      text,
    );
}

describe('fixes', () => {
  const fixable = corpus().flatMap(({ path, text }) =>
    adapterFindings(text, { fileName: path, budget })
      .filter((finding) => finding.fix)
      .map((finding) => ({ path, text, finding, title: `${path} ${finding.fix?.title}` })),
  );

  it('exist for misspelt fields, types, promises and commands', () => {
    const codes = new Set(fixable.map(({ finding }) => finding.code));
    for (const code of [
      'adapter-unknown-field',
      'adapter-missing-field',
      'adapter-wrong-type',
      'adapter-unawaited-promise',
      'launch-through-shell',
    ])
      expect([...codes]).toContain(code);
  });

  it.each(fixable)('$title mends the finding and breaks nothing', ({ path, text, finding }) => {
    const before = adapterFindings(text, { fileName: path, budget });
    const mended = edited(text, finding.fix?.edits ?? []);
    const after = adapterFindings(mended, { fileName: path, syntaxErrors: true, budget });
    const count = (all: typeof before, code: string) => all.filter((each) => each.code === code).length;
    expect(count(after, finding.code)).toBe(count(before, finding.code) - 1);
    expect(after.map((each) => each.code)).not.toContain('adapter-syntax');
  });

  it('splits a command line at its spaces and keeps its values', () => {
    const path = 'bad/launch-through-shell/one-text.adapter.ts';
    const [finding] = adapterFindings(textOf(path), { fileName: path, budget });
    expect(edited(textOf(path), finding.fix?.edits ?? [])).toContain(
      `command: 'python3', args: ['lay.py', '--init', String(episode.init), \`--out=\${episode.outputDir}\`, '--model', String(episode.model)],`,
    );
  });
});

describe('where the adapter is found', () => {
  const object = `{ name: 'x', launch: (e) => ({ command: 'go', args: [e.init] }), outcome: (output) => { throw new Error(String(output)); } }`;
  it.each([
    ['defineAdapter', `import { defineAdapter } from 'agentic-robo-rl'; export default defineAdapter(${object});`],
    ['a plain object', `export default ${object};`],
    ['a variable', `const adapter = defineAdapter(${object});\nexport default adapter;`],
    ['a variable of a variable', `const a = ${object};\nconst b = a;\nexport default defineAdapter(b);`],
    ['satisfies and as', `export default defineAdapter(${object} satisfies Adapter as Adapter);`],
    [
      'a function of the file',
      `function make() { const it = ${object}; return defineAdapter(it); }\nexport default make();`,
    ],
    [
      'an arrow that is given the name',
      `const make = (name: string) => defineAdapter({ ...${object}, name });\nexport default make('x');`,
    ],
    [
      'a wrapper from elsewhere',
      `import { traced } from './traced.ts';\nexport default traced(defineAdapter(${object}));`,
    ],
    ['Object.freeze', `export default Object.freeze(${object});`],
    ['an export list', `const adapter = ${object};\nexport { adapter as default };`],
    [
      'functions declared below',
      `export default { name: 'x', launch, outcome };\nfunction launch(e) { return { command: 'go', args: [e.init] }; }\nfunction outcome() { throw new Error('no'); }`,
    ],
    ['before the export is written', `const adapter = defineAdapter(${object}); export default`],
  ])('%s', (_what, text) => {
    const findings = adapterFindings(text);
    expect(findings.map((each) => each.code)).toEqual(['adapter-wrong-type']);
    const { start, end } = findings[0].range;
    expect(text.split('\n')[start.line].slice(start.character, end.character)).toBe('e.init');
  });

  it('an adapter that cannot be followed is left alone', () => {
    expect(adapterFindings("import { adapter } from './other.ts';\nexport default adapter;")).toEqual([]);
    expect(adapterFindings("export { default } from './other.ts';")).toEqual([]);
    expect(adapterFindings("import { A } from './other.ts';\nexport default new A();")).toEqual([]);
  });

  it('an adapter made of a class, and each of two', () => {
    const codes = (text: string) => adapterFindings(text).map(({ code }) => code);
    expect(codes('class A { launch() {} outcome() {} }\nexport default new A();')).toEqual([
      'adapter-no-outcome',
      'adapter-missing-field',
    ]);
    expect(codes('class A extends B { launch() {} }\nexport default new A();')).toEqual([]);
    expect(codes("export default 1 > 0 ? { launch() {} } : { name: 'b' };")).toEqual([
      'adapter-missing-field',
      'adapter-missing-field',
    ]);
  });

  it('a bare return that is being typed gives nothing; a finished one does', () => {
    const text = (line: string) =>
      `const x = 1;\nexport default { name: 'a', launch: () => ({ command: 'a' }), outcome(o) {\n${line}\n} };`;
    expect(adapterFindings(text('  return'))).toEqual([]);
    expect(adapterFindings(text('  return;')).map(({ code }) => code)).toContain('adapter-no-outcome');
  });
});

describe('half-typed adapters', () => {
  it('nothing is missing where the object is still being written', () => {
    const text =
      "export default defineAdapter({\n  name: 'x',\n  outcome(output) {\n    return { task: output.episode.task, ";
    expect(adapterFindings(text)).toEqual([]);
    expect(adapterFindings(`${text} }; } });`).map((each) => each.code)).toEqual([
      'adapter-missing-field',
      'adapter-missing-field',
    ]);
  });

  const bad = "export default defineAdapter({ name: 'x', launch: (e) => ({ command: 'go', args: [e.init] }) });";
  it.each(['interface Result {\n  ok: bool', 'function unused() {\n  if (', 'type T = {'])(
    'a declaration apart that is half typed hides nothing: %s',
    (half) => {
      const codes = ['adapter-missing-field', 'adapter-wrong-type'];
      expect(adapterFindings(`${bad}\n${half}`).map((each) => each.code)).toEqual(codes);
    },
  );

  it('a comment that swallows a function up to the end of the next comment is half typed; a pattern of files is not', () => {
    const helper = '/** First. */\nfunction first(e) {\n  return e.init;\n}\n/** Then. */\n';
    const made = helper + bad.replace('e.init]', 'first(e)]');
    expect(adapterFindings(made)).toHaveLength(2);
    expect(adapterFindings(made.replace('function', '/*\nfunction'))).toEqual([]);
    expect(adapterFindings(`/*\n${made.replace('/** First. */\n', '')}`)).toEqual([]);
    expect(adapterFindings(made.replace('First.', 'First of out/*.json.'))).toHaveLength(2);
  });

  it.each(['reward(r', 'if (o.', '/*', 'const a ='])('what the adapter is made of is half typed: %s', (half) => {
    const made = bad.replace('e.init]', 'first(e)]').concat('\nfunction first(e) {\n  return e.init;\n}\n');
    expect(adapterFindings(made)).toHaveLength(2);
    expect(adapterFindings(made.replace('  return', `  ${half}\n  return`))).toEqual([]);
  });
});

describe('silencing', () => {
  const path = 'bad/valid-is-constant/always-false.adapter.ts';
  it('a comment on the line or above it silences its code alone', () => {
    const text = textOf(path);
    const silenced = text.replace(
      '// Left over',
      '// agentic-robo-rl-ignore valid-is-constant, reward-from-planner: Left over',
    );
    expect(adapterFindings(text, { budget })).toHaveLength(1);
    expect(adapterFindings(silenced, { budget })).toEqual([]);
    expect(adapterFindings(silenced.replace('valid-is-constant', 'adapter-syntax'), { budget })).toHaveLength(1);
  });
});

describe('hover', () => {
  const path = 'examples/adapters/line-robot.adapter.ts';
  const lines = textOf(path).split('\n');
  const at = (line: RegExp, word: string) => {
    const index = lines.findLastIndex((each) => line.test(each));
    return { line: index, character: lines[index].indexOf(word) + 1 };
  };
  it.each([
    [/^ {6}reward:/, 'reward', ["not the planner's `finish`", 'taskcompleted_1', 'result.json']],
    [/^ {6}valid:/, 'valid', ['failures of the infrastructure only', 'CaP-X']],
    [/^ {2}launch/, 'launch', ['starts nothing']],
    [/^ {6}command/, 'command', ['No shell']],
    [/^ {2}states/, 'states', ['initial states']],
  ])('%s tells what it means', (line, word, parts) => {
    const hover = adapterHover(textOf(path), at(line, word));
    for (const part of parts) expect(hover?.contents).toContain(part);
    expect(hover?.range.start.line).toBe(at(line, word).line);
  });

  it('says nothing elsewhere', () => {
    expect(adapterHover(textOf(path), { line: 0, character: 5 })).toBeUndefined();
    expect(adapterHover(textOf(path), { line: 10_000, character: 5 })).toBeUndefined();
  });
});

describe('code lenses', () => {
  it('stand above the adapter and name the commands', () => {
    const lenses = adapterLenses("import x from 'y';\n\nexport default defineAdapter({ name: 'a' });\n");
    expect(lenses.map((lens) => [lens.title, lens.command])).toEqual([
      ['Check on recorded outputs', 'agenticRoboRL.checkAdapter'],
      ['Run one episode', 'agenticRoboRL.runEpisode'],
      ['Train', 'agenticRoboRL.train'],
    ]);
    for (const lens of lenses) expect(lens.range.start).toEqual({ line: 2, character: 15 });
    expect(adapterLenses('const a = 1;')).toEqual([]);
  });
});

describe('results of a check on recorded outputs', () => {
  const path = 'examples/adapters/line-robot.adapter.ts';
  const text = textOf(path);
  const output = (name: string, reward: number | null, problem: string | null = null): AdapterCheckOutput => ({
    directory: `/runs/x/${name}`,
    known: true,
    outcome: reward === null ? null : { task: 'line_robot/0', init: 3, attempt: 0, reward, valid: true },
    problem,
    remark: null,
  });
  const check = checkResult(text, [
    output('trial_01', 1),
    output('trial_02', 1),
    output('trial_05', 1),
    output('trial_07', null, 'adapter /w/a.ts, outcome(): reward: must be a finite number'),
  ]);

  it('are shown at each of the five fields', () => {
    const inlays = adapterInlays(text, check);
    expect(inlays.map((inlay) => inlay.label.trim())).toEqual([
      'task = "line_robot/0" (3 of 4 outputs), undefined in trial_07',
      'init = 3 (3 of 4 outputs), undefined in trial_07',
      'attempt = 0 (3 of 4 outputs), undefined in trial_07',
      'reward = 1 (3 of 4 outputs), undefined in trial_07',
      'valid = true (3 of 4 outputs), undefined in trial_07',
    ]);
    const reward = text.split('\n').findIndex((line) => line.startsWith('      reward: result.solved'));
    expect(inlays[3].position).toEqual({ line: reward, character: '      reward: result.solved ? 1 : 0'.length });
    expect(inlays[3].tooltip).toContain('trial_07: undefined');
  });

  it('are an error at the field that breaks', () => {
    const [finding, ...others] = adapterCheckFindings(text, check);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ code: 'adapter-output-failed', severity: 'error' });
    expect(finding.message).toBe('trial_07: adapter /w/a.ts, outcome(): reward: must be a finite number');
  });

  it('go stale visibly when the text changes, but not by a byte-order mark', () => {
    const changed = `${text}\n`;
    for (const inlay of adapterInlays(changed, check)) expect(inlay.label).toContain('(before the last change)');
    expect(adapterCheckFindings(changed, check)).toEqual([]);
    const withMark = checkResult(`\uFEFF${text}`, check.outputs);
    for (const inlay of adapterInlays(text, withMark)) expect(inlay.label).not.toContain('before');
  });

  it('without a check there is nothing to show', () => {
    expect(adapterInlays(text)).toEqual([]);
    expect(adapterCheckFindings(text, checkResult(text, []))).toEqual([]);
  });
});

describe('for the command line', () => {
  it('places count from 1', () => {
    const [finding] = adapterFindings(textOf('bad/valid-is-constant/constant.adapter.mjs'), { budget });
    expect(toFileFinding(finding, 'a.mjs')).toMatchObject({
      file: 'a.mjs',
      line: 5,
      column: 117,
      endLine: 5,
      endColumn: 122,
    });
  });
});
