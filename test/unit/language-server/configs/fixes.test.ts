/** Every fix of every config of the corpus mends what it says, and makes nothing else wrong. */
import { describe, expect, it } from 'vitest';
import { CodeActionKind } from 'vscode-languageserver';
import { codeActions } from '../../../../language-server/handlers/code-actions.ts';
import { toDiagnostic } from '../../../../language-server/handlers/diagnostics.ts';
import { type ConfigFinding, openConfig } from '../../../../language-server/service/configs/index.ts';
import type { TextEdit } from '../../../../language-server/service/contract.ts';
import { corpusFiles, corpusText, findingsIn } from './corpus.ts';

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

describe('mending everything at once', () => {
  it('leaves two old names of one key to their writer', () => {
    const text = `${HEAD}rl:\n  lr: 1.0e-6\n  learning_rate: 2.0e-6\n  groupSize: 6\n`;
    expect(allMended(text, 'c.training.yaml')).toBe(text.replace('groupSize', 'attemptsPerGroup'));
  });
});
