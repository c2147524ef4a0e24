/** Words for what a config's schema rejects: what was written, and what is expected instead. */
import type { z } from 'zod';
import type { ConfigFix } from './config-fix.ts';
import { allowedWords, schemaAt, shapeOf, wording } from './config-keys.ts';
import { looksSecret } from './config-secrets.ts';
import type { Path } from './config-tree.ts';
import { nearest } from './nearest.ts';

/** Marks an issue that has no sentence of its own in the schema; {@link explain} then writes one. */
export const NO_SENTENCE = '';

export type Issue = z.core.$ZodIssue;

/** Codes of numbers that are of the right kind but outside the range the method allows. */
const RANGE_CODES: Record<string, string> = {
  'rl.attemptsPerGroup': 'attempts-below-two',
  'rl.clip.low': 'clip-low-range',
  'rl.clip.dual': 'dual-clip-not-above-one',
  'rl.importanceCap': 'importance-cap-below-one',
};

/** The code of a value the schema rejects. */
export function codeOf(issue: Issue, value: unknown): string {
  const path = pathText(issue.path as Path);
  if (path === 'version') return 'config-version';
  return typeof value === 'number' && Object.hasOwn(RANGE_CODES, path) ? RANGE_CODES[path] : 'wrong-value';
}

/** Title of the fix of a pair without a space. */
export const SPACE = 'Put a space after the colon';

/** `rounds:2`, which YAML takes for one word, as the key and the value it was meant to be. */
export function joinedPair(word: string): { key: string; value: string } | undefined {
  const [, key, value] = /^([A-Za-z]\w*):(\S.{0,200})$/.exec(word) ?? [];
  return key === undefined ? undefined : { key, value };
}

const SECONDS: Record<string, number> = {
  ms: 0.001,
  s: 1,
  sec: 1,
  m: 60,
  min: 60,
  h: 3600,
  hr: 3600,
  hour: 3600,
  d: 86400,
  day: 86400,
};

/** `10m`, `4k`, `64 tokens`: the number that was meant, in the unit of its key; undefined where it is none of these. */
function inItsUnit(value: string, schema: z.ZodType): number | undefined {
  const [, digits, suffix] = /^\s*(\d{1,9}(?:\.\d{1,6})?)\s*([A-Za-z]{1,10})\s*$/.exec(value) ?? [];
  if (digits === undefined) return undefined;
  const { unit } = schema.meta() ?? {};
  const word = suffix.toLowerCase();
  const singular = word === 's' || word === 'ms' ? word : word.replace(/(?:ond|ute)?s?$/, '');
  const times =
    unit === 'seconds'
      ? Object.hasOwn(SECONDS, singular)
        ? SECONDS[singular]
        : undefined
      : word === 'k' // Of tokens, a kibi: contexts are powers of two.
        ? unit === 'tokens'
          ? 1024
          : 1000
        : word.length >= 3
          ? 1
          : undefined;
  const meant = times === undefined ? undefined : Number((Number(digits) * times).toPrecision(12));
  return meant !== undefined && schema.safeParse(meant).success ? meant : undefined;
}

/** The pair that stands as a word where a section is expected. */
function pairInPlaceOf(schema: z.ZodType | undefined, value: unknown): ReturnType<typeof joinedPair> {
  const pair = typeof value === 'string' ? joinedPair(value) : undefined;
  return pair && Object.hasOwn(shapeOf(schema) ?? {}, pair.key) ? pair : undefined;
}

/** What was meant, where one thing only can have been. */
export function valueFix(issue: Issue, value: unknown): ConfigFix | undefined {
  const path = issue.path as Path;
  const schema = schemaAt(path);
  const put = (meant: string | number | boolean, safe: boolean): ConfigFix => ({
    title: `Change to ${meant}`,
    safe,
    set: path,
    value: meant,
  });
  if (path.length === 1 && path[0] === 'version') return put(1, false);
  if (!schema || typeof value !== 'string') return undefined;
  if (pairInPlaceOf(schema, value)) return { title: SPACE, safe: true, space: path, part: 'value' };
  const near = nearest(value, allowedWords(schema));
  if (near) return put(near, false);
  const backwards = issue.code === 'custom' ? /^\s*(\d+)\s*-\s*(\d+)\s*$/.exec(value) : null;
  if (backwards && Number(backwards[2]) < Number(backwards[1])) return put(`${backwards[2]}-${backwards[1]}`, false);
  const expected = wording(schema);
  if (expected.startsWith('true or false') && /^(yes|no|on|off|y|n)$/i.test(value))
    return put(/^(yes|on|y)$/i.test(value), true);
  if (/^a (whole )?number/.test(expected)) {
    const measure = inItsUnit(value, schema);
    if (measure !== undefined) return put(measure, false);
    const bare = value.trim().replace(/[_,](?=\d{3})/g, '');
    if (bare !== '' && Number.isFinite(Number(bare)) && schema.safeParse(Number(bare)).success)
      return put(Number(bare), true);
  }
  return undefined;
}

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
    if (looksSecret(value)) return 'a secret';
    const text = JSON.stringify(value);
    return text.length > 60 ? `${text.slice(0, 56)}..."` : text;
  }
  return String(value);
}

function advice(value: unknown, schema: z.ZodType | undefined): string {
  if (!schema || typeof value !== 'string') return '';
  const near = nearest(value, allowedWords(schema));
  if (near) return `; did you mean "${near}"?`;
  const pair = pairInPlaceOf(schema, value);
  if (pair) return `; a space is missing after "${pair.key}:"`;
  const expected = wording(schema);
  if (expected.startsWith('true or false') && /^(yes|no|on|off|y|n)$/i.test(value))
    return `; YAML reads ${value} as text`;
  if (/^a (whole )?number/.test(expected)) {
    if (value.trim() !== '' && Number.isFinite(Number(value))) return `; write ${value.trim()} without quotes`;
    const measure = inItsUnit(value, schema);
    const { unit } = schema.meta() ?? {};
    if (measure !== undefined) return `${unit === undefined ? '' : `; it is in ${unit}`}; write ${measure}`;
    const bare = value.replace(/[_,](?=\d{3})/g, '');
    if (bare !== value && Number.isFinite(Number(bare))) return `; write ${bare}`;
  }
  return '';
}
