/** Texts that nobody typed: each is answered in bounded time, by a finding that says what is the matter, and nothing throws. */
import { describe, expect, it } from 'vitest';
import { adapterFindings, adapterHover, adapterLenses } from '../../../../language-server/service/adapters/index.ts';
import type { Finding } from '../../../../language-server/service/contract.ts';

/** A good adapter with an expression in its outcome. */
const around = (expression: string) =>
  `export default { name: 'x', launch: (e) => ({ command: 'go', args: [String(e.init)] }), outcome(output) {
  const { task, init, attempt } = output.episode; const v = ${expression};
  return { task, init, attempt, reward: v ? 1 : 0, valid: output.exitCode === 0 }; } };`;
const many = (part: string, times = 10_000) => part.repeat(times);
const chain = (times: number) => Array.from({ length: times }, (_, i) => `const c${i} = c${i + 1};`).join('\n');

/** The analysis has two seconds by default; parsing comes on top. Processor time, so that a busy machine changes nothing. */
const LONGEST = 8000;
const spent = () => process.cpuUsage().user / 1000;

function timed(text: string): Finding[] {
  const start = spent();
  const found = adapterFindings(text);
  expect(spent() - start).toBeLessThan(LONGEST);
  expect(() => adapterHover(text, { line: 0, character: 18 })).not.toThrow();
  expect(() => adapterLenses(text)).not.toThrow();
  return found;
}

describe('texts too large or too deep', () => {
  it.each([
    ['five megabytes in a comment', `${around('1')}//${many('x', 5_000_000)}`, 'the file has 5.0 million characters'],
    ['five megabytes of code', many('const a = 1;\n', 400_000), 'the file has 5.2 million characters'],
    ['brackets', around(many('[')), 'too many brackets are open here'],
    ['parentheses', around(`${many('(')}1${many(')')}`), 'too many brackets are open here'],
    ['braces', many('{'), 'too many brackets are open here'],
    ['templates', around(many('`${')), 'too many brackets are open here'],
    ['calls that may be async functions', around(many('async(a=', 40)), 'too many brackets are open here'],
    ['comparisons that may be type arguments', around(many('f<(a=', 40)), 'too many brackets are open here'],
    ['prefix operators', around(`${many('!')}1`), 'nested too deeply'],
    ['typeof', around(`${many('typeof ')}1`), 'nested too deeply'],
    ['conditionals', around(`${many('a?1:')}1`), 'nested too deeply'],
    ['arrow functions', around(`${many('x=>')}1`), 'nested too deeply'],
    ['else if', around(`1; ${many('if (a) {} else ')}{}`), 'nested too deeply'],
    ['sums', around(`${many('1+')}1`), 'nested too deeply'],
    ['member accesses', around(`a${many('.b')}`), 'nested too deeply'],
    ['calls', around(`a${many('()')}`), 'nested too deeply'],
    ['types', `type A = ${many('keyof ')}X; ${around('1')}`, 'nested too deeply'],
    [
      'functions that call each other twice',
      `function f(x) { return x ? f(f(x)) : g(f, x); } function g(h, x) { return h(g(f, h(x))) + f(g(g, x)); } ${around('f(output)')}`,
      'took too long',
    ],
  ])('%s', (_what, text, sentence) => {
    const found = timed(text);
    expect(found.map((each) => each.code)).toContain('adapter-not-checked');
    expect(found.map((each) => each.message).join()).toContain(sentence);
  });

  it.each([
    ['a long chain of constants', `${chain(3000)}\n${around('c0')}`],
    ['many statements', `${many('foo(a, b);\n', 20_000)}${around('1')}`],
    ['a broken end of comments', `${around('1')}${many('/*', 20_000)}`],
    ['many returns', around(`1; ${many('if (output.x) return { task, init };\n', 2000)}`)],
    ['a regular expression that backtracks, which is never run', around(`/(a+)+$/.test('${many('a', 5000)}!')`)],
    ['type aliases in a ring', `type A = B; type B = A | A[]; ${around("output.readJson('x') as A")}`],
    ['a constant that is itself', `const a = b; const b = a; ${around('a')}`],
    ['nothing', ''],
    ['white space', ' \n\t\r\n '],
  ])('%s', (_what, text) => {
    timed(text);
  });

  it('keeps to the budget it is given', () => {
    const text = `function f(x) { return x ? f(f(x)) : g(f, x); } function g(h, x) { return h(g(f, h(x))) + f(g(g, x)); } ${around('f(output)')}`;
    const start = spent();
    const [finding] = adapterFindings(text, { budget: 50 });
    expect(spent() - start).toBeLessThan(LONGEST / 4);
    expect(finding).toMatchObject({ code: 'adapter-not-checked', severity: 'warning' });
    expect(finding.message).toContain('took too long');
  });
});

describe('characters', () => {
  const bad = `export default {\n  name: 'x', /* 🤖🤖 */ launch: (e) => ({ command: 'go', args: ['🦾', e.init] }),\n  outcome: ({ episode: { task, init, attempt }, exitCode }) => ({ task, init, attempt, reward: 0, valid: exitCode === 0 }),\n};\n`;

  it('columns count UTF-16 units, so that a robot takes two', () => {
    const [finding] = adapterFindings(bad);
    expect(finding).toMatchObject({ code: 'adapter-wrong-type' });
    const line = bad.split('\n')[1];
    expect(finding.range.start).toEqual({ line: 1, character: line.indexOf('e.init') });
    expect(line.slice(finding.range.start.character, finding.range.end.character)).toBe('e.init');
  });

  it.each([
    ['CRLF', (text: string) => text.replaceAll('\n', '\r\n')],
    ['CR alone', (text: string) => text.replaceAll('\n', '\r')],
    ['a byte-order mark', (text: string) => `\uFEFF${text}`],
    [
      'line separators in a comment, which end no line in an editor',
      (text: string) => text.replace('🤖🤖', '🤖\u2028\u2029'),
    ],
  ])('%s moves nothing', (_what, change) => {
    expect(adapterFindings(change(bad))[0].range.start).toEqual(adapterFindings(bad)[0].range.start);
  });

  it('a NUL is told with its place, and half a surrogate pair is no trouble', () => {
    expect(adapterFindings(`// a\nconst b = '\0';`)).toEqual([
      expect.objectContaining({
        code: 'adapter-not-checked',
        range: { start: { line: 1, character: 11 }, end: { line: 1, character: 12 } },
      }),
    ]);
    expect(adapterFindings(around("'\uD83D'"))).toEqual([]);
  });
});
