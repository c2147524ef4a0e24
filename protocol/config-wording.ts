/** Words for what a config's schema rejects: what was written, and what is expected instead. */
import type { z } from 'zod';
import { allowedWords, schemaAt, shapeOf, wording } from './config-keys.ts';
import type { Path } from './config-tree.ts';
import { nearest } from './nearest.ts';

/** Marks an issue that has no sentence of its own in the schema; {@link explain} then writes one. */
export const NO_SENTENCE = '';

export type Issue = z.core.$ZodIssue;

/** `harness.suites[1]` */
export function pathText(path: Path): string {
  return path.map((step, i) => (typeof step === 'number' ? `[${step}]` : (i > 0 ? '.' : '') + step)).join('');
}

/**
 * Issues of a union, replaced by those of the alternative that was meant: one that got inside the value, or one with a
 * sentence of its own.
 */
export function flattenUnions(issues: readonly Issue[]): Issue[] {
  return issues.flatMap((issue): Issue[] => {
    if (issue.code !== 'invalid_union') return [issue];
    const under = (inner: readonly Issue[]) =>
      flattenUnions(inner.map((one) => ({ ...one, path: [...issue.path, ...one.path] }) as Issue));
    const inside = issue.errors.find((inner) => inner.length > 0 && inner.every((one) => one.path.length > 0));
    if (inside) return under(inside);
    const told = issue.errors.find((inner) => inner.some((one) => one.code === 'custom'));
    return told ? under(told) : [issue];
  });
}

/** One sentence about an issue: `"rl.rounds" is "nine"; it must be a whole number, 0 or more`. */
export function explain(issue: Issue, value: unknown): string {
  const path = issue.path as Path;
  const name = `"${pathText(path)}"`;
  const schema = schemaAt(path);
  if (issue.code === 'custom') return `${name}: ${issue.message}${advice(value, schema)}`;
  const expected = schema ? `must be ${wording(schema)}` : 'has a wrong value';
  if (value === null)
    return shapeOf(schema)
      ? `${name} is empty; give its keys, indented beneath it, or remove the line`
      : `${name} has no value; it ${expected}`;
  // A secret put where a variable's name belongs is not repeated.
  const written = path.at(-1) === 'apiKeyEnvironment' ? `${name}:` : `${name} is ${shown(value)};`;
  if (issue.message !== NO_SENTENCE && issue.code !== 'invalid_type' && issue.code !== 'invalid_union')
    return `${written} it ${issue.message}`;
  return `${written} it ${expected}${advice(value, schema)}`;
}

/** A value as the sentence quotes it: short, on one line. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (value !== null && typeof value === 'object') return 'a mapping';
  if (typeof value === 'string') {
    const text = JSON.stringify(value);
    return text.length > 60 ? `${text.slice(0, 56)}..."` : text;
  }
  return String(value);
}

function advice(value: unknown, schema: z.ZodType | undefined): string {
  if (!schema || typeof value !== 'string') return '';
  const near = nearest(value, allowedWords(schema));
  if (near) return `; did you mean "${near}"?`;
  const expected = wording(schema);
  if (expected.startsWith('true or false') && /^(yes|no|on|off|y|n)$/i.test(value))
    return `; YAML reads ${value} as text`;
  if (/^a (whole )?number/.test(expected)) {
    if (value.trim() !== '' && Number.isFinite(Number(value))) return `; write ${value.trim()} without quotes`;
    const bare = value.replace(/[_,](?=\d{3})/g, '');
    if (bare !== value && Number.isFinite(Number(bare))) return `; write ${bare}`;
  }
  return '';
}
