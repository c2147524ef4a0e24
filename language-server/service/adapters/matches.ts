/** What a search in a text gives: the match with its groups, and what it is evidence of. */
import type ts from 'typescript6';
import { sourceInFile, sourceOfLabel, sourceOfWord } from './contract-values.ts';
import { groupsOf } from './patterns.ts';
import { FROM, KIND, of, type Property, type Value } from './values.ts';

/** A regular expression's match: its groups are texts of the subject; those of digits are numbers' texts. */
export function matched(subject: Value, pattern: string, node: ts.CallExpression): Value {
  const from = evidence(subject, pattern);
  const written = groupsOf(pattern);
  // Letters, digits and the like name no other folder.
  const texts = [...pattern.matchAll(/\((?!\?[:=!])(?!\?<[=!])(?:\?<\w+>)?([^()]*)\)/g)].map(([, inner]) => inner);
  const plain = texts.map((inner) => inner.replace(/\\[.-]/g, ''));
  const harmless = plain.length > 0 && !plain.some((inner) => /[./]|\\[SDW]|\[\^/.test(inner));
  const inside = harmless ? from | FROM.checkedPath : from;
  const numbers = written.length > 0 && written.every((each) => each.isNumber);
  const groups = written.map(({ isNumber, optional, label }, i): Value => {
    const own =
      subject.from & (FROM.record | FROM.listed)
        ? inside | sourceOfLabel(label) | (TOLD_BY_NAME.test(label) ? FROM.record : 0)
        : inside;
    const group = of(KIND.string, own, { pattern: isNumber ? 'number' : undefined });
    if (!optional) return group;
    const doubt = { what: 'undefined' as const, node, why: `group ${i + 1} of the pattern may be left out` };
    return { ...group, kinds: KIND.string | KIND.undefined, doubt };
  });
  const named = new Map<string, Property>();
  for (const [i, { name }] of written.entries())
    if (name !== undefined) named.set(name, { node, name: node, value: () => groups[i] });
  const properties = new Map<string, Property>();
  const ofNames = of(KIND.object, inside, { object: { node, properties: named, open: false } });
  if (named.size > 0) properties.set('groups', { node, name: node, value: () => ofNames });
  return of(KIND.array | KIND.null, from, {
    element: of(KIND.string, inside, { pattern: numbers ? 'number' : undefined }),
    groups: written.length > 0 ? [of(KIND.string, from), ...groups] : undefined,
    object: named.size > 0 ? { node, properties, open: true } : undefined,
  });
}

/** What the harness writes into the names of its files for the simulator. */
const TOLD_BY_NAME = /task_?completed/i;

/** Where the result of a search comes from: the text's own sources, and what the word it looks for is evidence of. */
export function evidence(subject: Value, word: string): number {
  const from = subject.from & ~FROM.listed;
  return subject.from & (FROM.record | FROM.listed)
    ? from | sourceOfWord(word) | sourceInFile(subject.file, word) | (TOLD_BY_NAME.test(word) ? FROM.record : 0)
    : from;
}
