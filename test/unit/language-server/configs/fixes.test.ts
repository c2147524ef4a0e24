/** Every fix of every config of the corpus mends what it says, and makes nothing else wrong. */
import { describe, expect, it } from 'vitest';
import { CodeActionKind } from 'vscode-languageserver';
import { codeActions } from '../../../../language-server/handlers/code-actions.ts';
import { toDiagnostic } from '../../../../language-server/handlers/diagnostics.ts';
import { type ConfigFinding, openConfig } from '../../../../language-server/service/configs/index.ts';
import type { TextEdit } from '../../../../language-server/service/contract.ts';
import { corpusFiles, corpusText, findingsIn } from './corpus.ts';
import { FORMS, valuesOf } from './rewritten.ts';

const HEAD = 'version: 1\nname: x\nharness: { adapter: tabletop-skills, suites: [tabletop_goal_swap] }\n';

function applied(text: string, name: string, edits: readonly TextEdit[]): string {
  const config = openConfig(text, name);
  return edits
    .map(({ range, newText }) => ({ start: config.offset(range.start), end: config.offset(range.end), newText }))
    .sort((a, b) => b.start - a.start)
    .reduce((now, { start, end, newText }) => now.slice(0, start) + newText + now.slice(end), text);
}

/** What `source.fixAll` makes of a text. */
function allMended(text: string, name: string): string {
  const uri = `file:///${name}`;
  const start = { line: 0, character: 0 };
  const [action] = codeActions(
    {
      textDocument: { uri },
      range: { start, end: start },
      context: { diagnostics: [], only: [CodeActionKind.SourceFixAll] },
    },
    findingsIn(text, name),
    (finding) => toDiagnostic(finding, () => undefined),
  );
  return applied(text, name, action?.edit?.changes?.[uri] ?? []);
}

const mark = ({ code, path }: ConfigFinding) => `${code} ${path}`;
/** Errors that another one kept from being seen. */
const HIDDEN: Record<string, string[]> = {
  'missing-key': ['yaml-syntax', 'json-syntax'],
  'unknown-suite': ['unknown-adapter'],
  'not-in-this-version': ['wrong-value'],
  'unused-url': ['wrong-value'],
};

/** Errors of a text that another one does not have. */
function newErrors(text: string, name: string, before: string): string[] {
  const found = findingsIn(before, name);
  const known = found.map(mark);
  const hidden = (code: string) => found.some((finding) => HIDDEN[code]?.includes(finding.code));
  return findingsIn(text, name)
    .filter((finding) => finding.severity === 'error' && !known.includes(mark(finding)) && !hidden(finding.code))
    .map((finding) => `${mark(finding)} after the change: ${finding.message}`);
}

describe('fixes in the corpus', () => {
  it.each(corpusFiles)('%s', (name) => {
    const text = corpusText(name);
    for (const finding of findingsIn(text, name)) {
      if (!finding.fix) continue;
      const mended = applied(text, name, finding.fix.edits);
      expect(mended).not.toBe(text);
      expect(newErrors(mended, name, text), finding.fix.title).toEqual([]);
    }
    expect(newErrors(allMended(text, name), name, text)).toEqual([]);
  });
});

/** What a change lost and what it brought, as values. */
function exchanged(before: string, after: string): { lost: unknown[]; brought: unknown[] } {
  const lost = valuesOf(before);
  const brought = valuesOf(after).filter((value) => {
    const at = lost.indexOf(value);
    if (at >= 0) lost.splice(at, 1);
    return at < 0;
  });
  return { lost, brought };
}

const count = (text: string, part: RegExp) => text.match(part)?.length ?? 0;

/** What is wrong with a text after a fix of a finding in it. */
function faults(text: string, name: string, finding: ConfigFinding): string[] {
  if (!finding.fix) return [];
  const { title, edits } = finding.fix;
  const mended = applied(text, name, edits);
  const told = newErrors(mended, name, text);
  const same = (of: string) => findingsIn(of, name).filter((other) => mark(other) === mark(finding)).length;
  if (same(mended) >= same(text)) told.push('the finding is still there');
  const { lost, brought } = exchanged(text, mended);
  // What is removed goes, and with what another value makes meaningless its keys go.
  const takes = /^(?:Remove|Serve the planner here|Use the engine)/.test(title);
  if (brought.length > 1) told.push(`brings ${JSON.stringify(brought)}`);
  if (!takes && finding.code !== 'yaml-syntax' && lost.length > 1) told.push(`loses ${JSON.stringify(lost)}`);
  if (!takes && count(mended, / said | of an item| # why/g) < count(text, / said | of an item| # why/g))
    told.push('loses a comment');
  if (text.includes('\r\n') && count(mended, /(?<!\r)\n/g) > count(text, /(?<!\r)\n/g)) told.push('mixes line ends');
  return told.map((fault) => `${title}: ${fault}\n${mended}`);
}

describe('fixes in other forms of the same config', () => {
  const mendable = corpusFiles.filter(
    (name) => name.endsWith('.yaml') && findingsIn(corpusText(name), name).some((finding) => finding.fix),
  );

  it.each(FORMS)('$name', ({ rewrite }) => {
    let tried = 0;
    for (const name of mendable) {
      const text = rewrite(corpusText(name));
      if (text === undefined) continue;
      const findings = findingsIn(text, name);
      for (const finding of findings) expect(faults(text, name, finding), name).toEqual([]);
      tried += findings.filter((finding) => finding.fix).length;
      expect(newErrors(allMended(text, name), name, text), name).toEqual([]);
    }
    expect(tried).toBeGreaterThan(20);
  });

  it.each([
    ['a word', 'trainer:\n  device: >-\n    gpu\n  engine: onnx\n', 'trainer:\n  device: cpu\n  engine: onnx\n'],
    [
      'with a comment',
      'trainer:\n  device: >- # which\n    gpu\n\n  engine: onnx\n',
      'trainer:\n  device: cpu # which\n\n  engine: onnx\n',
    ],
    [
      'a URL at the end of the file',
      'teacher:\n  upstream: vllm\n  model: q\n  url: |\n    http://gpu.example.org:8000/v1',
      'teacher:\n  upstream: vllm\n  model: q\n  url: https://gpu.example.org:8000/v1',
    ],
    [
      'the scheme of a URL in capitals',
      'teacher: { upstream: vllm, url: "HTTP://gpu.example.org/v1", model: q }\n',
      'teacher: { upstream: vllm, url: https://gpu.example.org/v1, model: q }\n',
    ],
    ['a missing space in braces', 'rl: {rounds:2}\n', 'rl: {rounds: 2}\n'],
    ['a missing space before a comma', 'rl: {batch:2, rounds: 1}\n', 'rl: {batch: 2, rounds: 1}\n'],
    ['a missing space on a line of its own', 'rl:\n  rounds:2\n', 'rl:\n  rounds: 2\n'],
    [
      'missing spaces on lines of their own',
      'rl:\n  rounds:2\n  batch:3\nseed: 1\n',
      'rl:\n  rounds: 2\n  batch: 3\nseed: 1\n',
    ],
    ['minutes', 'rl: { maxTokens: 4k }\n', 'rl: { maxTokens: 4096 }\n'],
    ['a tag of text', 'trainer: { device: !!str gpu }\n', 'trainer: { device: !!str cpu }\n'],
  ])('%s', (_what, before, after) => {
    const name = 'c.training.yaml';
    const fixes = findingsIn(HEAD + before, name).flatMap(({ fix }) => fix ?? []);
    expect(fixes.map((fix) => applied(HEAD + before, name, fix.edits))).toEqual([HEAD + after]);
  });

  it('mends safely what stands in block style', () => {
    const text = `${HEAD}serving:\n  deterministic: |-\n    yes\n  upstream: embedded\n`;
    expect(allMended(text, 'c.training.yaml')).toBe(`${HEAD}serving:\n  deterministic: true\n  upstream: embedded\n`);
  });

  it('ends the line it adds as the others end', () => {
    const text = HEAD.replace('version: 1\n', '').replaceAll('\n', '\r\n');
    expect(allMended(text, 'c.training.yaml')).toBe(`version: 1\r\n${text}`);
  });

  it('leaves alone a key in quotes, a number under a tag, and what a space would not mend', () => {
    for (const text of [
      'rl: {"rounds:2"}\n',
      'rl: { rounds: !!str 2 }\n',
      // Where a pair could not stand, or not all of it is pairs.
      'rl: rounds:2\n',
      'rl:\n  ? rounds:2\n',
      'rl:\n  rounds:2\n  and more\n',
      'rl:\n  rounds:2\n    batch:3\n',
    ])
      expect(findingsIn(HEAD + text, 'c.training.yaml').map(({ fix }) => fix)).toEqual([undefined]);
  });
});

describe('mending everything at once', () => {
  it('leaves two old names of one key to their writer', () => {
    const text = `${HEAD}rl:\n  lr: 1.0e-6\n  learning_rate: 2.0e-6\n  groupSize: 6\n`;
    expect(allMended(text, 'c.training.yaml')).toBe(text.replace('groupSize', 'attemptsPerGroup'));
  });
});
