/** Reads a training config's text (YAML or JSON) into a resolved config or into findings with exact positions. No I/O. */
import type { Document } from 'yaml';
import { configSchema, mergeUnder, presets, type TrainingConfig } from './config.ts';
import { type CrossFieldProblem, crossFieldProblems } from './config-checks.ts';
import { configKeys, knownKeys } from './config-keys.ts';
import { presentName } from './config-migrations.ts';
import { isPlaceholder, looksSecret, namesSecret, secretsIn } from './config-secrets.ts';
import { LARGEST_CONFIG, parseConfigText, type TextProblem } from './config-syntax.ts';
import { type ConfigTree, type Path, readConfigTree } from './config-tree.ts';
import {
  codeOf,
  explain,
  flattenUnions,
  type Issue,
  joinedPair,
  NO_SENTENCE,
  pathText,
  SPACE,
  valueFix,
} from './config-wording.ts';
import { plural } from './counting.ts';
import type { Finding } from './finding.ts';
import { LineIndex } from './line-index.ts';
import { nearest } from './nearest.ts';

export { knownKeys, shapeOf } from './config-keys.ts';
export { nearest } from './nearest.ts';

export interface ConfigReading {
  /** Present when there is no finding of severity `error`. */
  config?: TrainingConfig;
  /** The config as far as it is sound: what is wrong in it left to its default. Absent where too little is there. */
  usable?: TrainingConfig;
  /** As written: aliases and merges resolved, without defaults. */
  written?: Record<string, unknown>;
  /** In the order of the text. */
  findings: Finding[];
  /** The same, at offsets of the text (a byte-order mark not counted), with what mends them. */
  problems: ConfigProblem[];
  /** The tree of the text; absent where it could not be parsed at all. */
  document?: Document;
  /** Where the value (or the key) at a path was written; the start of the text when nothing could be read. */
  locate(path: Path, part?: 'key' | 'value'): Pick<Finding, 'line' | 'column' | 'endLine' | 'endColumn'>;
  /** The same as offsets. */
  offsets(path: Path, part?: 'key' | 'value'): [start: number, end: number];
}

/** More than anybody reads; the rest is counted. */
const MOST_FINDINGS = 100;

/** A problem of a config at offsets of its text. */
export interface ConfigProblem extends TextProblem {
  path?: Path;
  /** It is about a key without a value. */
  empty?: boolean;
  /** Other keys the problem rests on, dotted. */
  rests?: string[];
}
type Problem = ConfigProblem;

/**
 * Never throws. A byte-order mark is allowed; lines may end with LF, CRLF or CR.
 * @param file only named in the findings; one that ends in `.json` is held to JSON's grammar.
 */
export function readConfigText(written: string, file?: string): ConfigReading {
  const text = written.startsWith('\uFEFF') ? written.slice(1) : written;
  const lines = new LineIndex(text);
  const { document, problems: syntax } = parseConfigText(text, /\.json$/i.test(file ?? ''));
  const problems: Problem[] = [...syntax];
  let tree: ConfigTree | undefined;
  let config: TrainingConfig | undefined;
  let usable: TrainingConfig | undefined;
  if (text.length <= LARGEST_CONFIG) problems.push(...secretProblems(text));
  if (document) {
    tree = readConfigTree(document, lines);
    // What the parser stumbled over is no plain key either: once is enough.
    for (const problem of tree.problems)
      if (
        problem.code !== 'yaml-syntax' ||
        !syntax.some((told) => told.code === 'json-syntax' || told.start === problem.start)
      )
        problems.push(problem);
    if (isMapping(tree.value)) {
      const checked = checkSchema(tree.value, tree);
      config = checked.config;
      usable = checked.config ?? checked.usable;
      const broken = problems
        .filter((problem) => problem.severity === 'error' && problem.code !== SECRET)
        .slice(0, MOST_FINDINGS);
      for (const problem of checked.problems)
        if (!causedBy(problem, broken, text, lines, tree.value)) problems.push(problem);
    } else if (!problems.some((problem) => problem.severity === 'error')) {
      problems.push({
        severity: 'error',
        code: 'config-not-a-mapping',
        message:
          tree.value === null
            ? 'the file is empty; a training config has at least version, name and harness'
            : 'a training config is a mapping of keys to values, such as "version: 1"',
        start: 0,
        end: text.trimEnd().length,
      });
    }
  }
  const place = (start: number, end: number) => {
    const from = lines.position(start);
    const to = lines.position(Math.max(start, Math.min(end, text.length)));
    return { line: from.line, column: from.column, endLine: to.line, endColumn: to.column };
  };
  for (const problem of problems) problem.end = trimmedEnd(text, problem.start, problem.end);
  problems.sort((a, b) => a.start - b.start || a.end - b.end);
  if (problems.length > MOST_FINDINGS) {
    const more = problems.splice(MOST_FINDINGS);
    const { start, end } = more[0];
    const message = `there ${more.length === 1 ? 'is' : 'are'} ${plural(more.length, 'further problem')} from here on`;
    const severity = more.some((problem) => problem.severity === 'error') ? 'error' : 'warning';
    problems.push({ severity, code: 'more-problems', message, start, end });
  }
  const findings = problems.map(
    ({ code, severity, message, start, end, path }): Finding => ({
      code,
      severity,
      message,
      file,
      ...place(start, end),
      path: path?.join('.'),
    }),
  );
  const offsets: ConfigReading['offsets'] = (path, part = 'value') => {
    const [start, end] = tree?.locate(path, part) ?? [0, 0];
    return [start, trimmedEnd(text, start, end)];
  };
  return {
    config: findings.some((finding) => finding.severity === 'error') ? undefined : config,
    usable,
    written: isMapping(tree?.value) ? tree.value : undefined,
    findings,
    problems,
    document,
    locate: (path, part) => place(...offsets(path, part)),
    offsets,
  };
}

/** A mapping or list in block style reaches to the next key; what is shown of it ends with its last character. */
function trimmedEnd(text: string, start: number, end: number): number {
  let at = end;
  while (at > start + 1 && ' \t\r\n'.includes(text[at - 1])) at--;
  return at;
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const SECRET = 'secret-in-config';

function secretProblems(text: string): Problem[] {
  return secretsIn(text).map(({ start, end, kind }) => ({
    severity: 'error',
    code: SECRET,
    message: `${kind} stands in this file, and would be copied into every run: revoke it, put it into an environment variable and name that variable (apiKeyEnvironment)`,
    start,
    end,
  }));
}

/** The checks of a config's content, its problems at their places. */
function checkSchema(
  raw: Record<string, unknown>,
  tree: ConfigTree,
): { config?: TrainingConfig; usable?: TrainingConfig; problems: Problem[] } {
  const preset = typeof raw.preset === 'string' && Object.hasOwn(presets, raw.preset) ? raw.preset : undefined;
  const parsed = configSchema.safeParse(
    preset === undefined ? raw : mergeUnder(raw, presets[preset as keyof typeof presets]),
    { error: () => NO_SENTENCE },
  );
  const problems: Problem[] = [];
  const add = (
    code: string,
    severity: Problem['severity'],
    message: string,
    path: Path,
    part: 'key' | 'value',
    more?: Pick<Problem, 'fix' | 'rests'>,
  ) => {
    const [start, end] = tree.locate(path, part);
    problems.push({ code, severity, message, start, end, path, empty: valueAt(raw, path) === null, ...more });
  };
  const addCrossField = ({ code, severity, message, path, part, rests, fix }: CrossFieldProblem) =>
    add(code, severity, message, path, part ?? 'value', { rests, fix });
  if (parsed.success) {
    for (const problem of crossFieldProblems(parsed.data, raw)) addCrossField(problem);
    return { config: parsed.data, problems };
  }
  const told = new Set<string>();
  for (const issue of flattenUnions(parsed.error.issues as Issue[])) {
    const path = issue.path as Path;
    // A number that is no whole one and too large as well is one mistake.
    const value = valueAt(raw, path);
    const place = path.join('.');
    if (issue.code !== 'unrecognized_keys' && issue.code !== 'custom') {
      if (told.has(place)) continue;
      told.add(place);
    }
    if (issue.code === 'unrecognized_keys') {
      for (const [index, name] of issue.keys.entries()) {
        // Advice takes time, and nobody reads it on the ten-thousandth key.
        const { code, message, fix } =
          index < MOST_FINDINGS
            ? unknownKey(name, path, value)
            : { code: 'unknown-key', message: `unknown key "${name}"` };
        add(code, 'error', message, [...path, name], 'key', { fix });
      }
      continue;
    }
    if (path.length > 0 && value === undefined)
      add('missing-key', 'error', missingKey(path, raw), path, 'key', {
        fix: path[0] === 'version' ? { title: 'Add version: 1', safe: true, insert: 'version: 1' } : undefined,
      });
    else add(codeOf(issue, value), 'error', explain(issue, value), path, 'value', { fix: valueFix(issue, value) });
  }
  // Errors between keys are told at once too: on the config without what is wrong in it.
  const sound = configSchema.safeParse(
    without(
      raw,
      problems.map((problem) => problem.path ?? []),
    ),
  );
  if (sound.success) {
    const wrong = problems.map((problem) => problem.path?.join('.') ?? '');
    for (const problem of crossFieldProblems(sound.data, raw)) {
      const path = problem.path.join('.');
      // Nor is a value held against another one that is wrong itself.
      const involved = [path, ...(problem.rests ?? [])];
      if (
        !wrong.some((other) =>
          involved.some((key) => `${key}.`.startsWith(`${other}.`) || `${other}.`.startsWith(`${key}.`)),
        )
      )
        addCrossField(problem);
    }
  }
  return { usable: sound.success ? sound.data : undefined, problems };
}

function missingKey(path: Path, raw: Record<string, unknown>): string {
  const sentence = `"${pathText(path)}" is required`;
  const tasks = valueAt(raw, ['harness', 'tasks']);
  if (pathText(path) !== 'harness.suites' || !isMapping(tasks)) return sentence;
  return `${sentence}: "harness.tasks" only narrows down suites that are listed; add "suites: [${Object.keys(tasks).join(', ')}]"`;
}

/** A copy without the values at some paths; `version` and `name`, which have no default, get one. */
function without(raw: Record<string, unknown>, paths: Path[]): Record<string, unknown> {
  const bad = new Set(paths.map((path) => path.join('.')));
  // A bad item of a list takes its list along: a list with a hole has another meaning.
  const inside = new Set(paths.flatMap((path) => path.map((_, i) => path.slice(0, i + 1).join('.'))));
  const copy = (value: unknown, prefix: string): unknown => {
    if (!isMapping(value)) return value;
    const kept: Record<string, unknown> = {};
    for (const [name, inner] of Object.entries(value)) {
      const path = prefix + name;
      if (bad.has(path) || (inside.has(path) && !isMapping(inner))) continue;
      kept[name] = copy(inner, `${path}.`);
    }
    return kept;
  };
  return { version: 1, name: 'unnamed', ...(copy(raw, '') as Record<string, unknown>) };
}

type Told = Pick<Problem, 'code' | 'message' | 'fix'>;

/** What is meant by an unknown key: an older name, one beside it, one deeper in its section, or one anywhere else. */
function unknownKey(name: string, parent: Path, siblings: unknown): Told {
  const code = 'unknown-key';
  const taken = isMapping(siblings) ? siblings : {};
  const renamed = (to: string, safe: boolean): Told['fix'] =>
    Object.hasOwn(taken, to) ? undefined : { title: `Change to ${to}`, safe, rename: [...parent, name], to };
  const value = taken[name];
  if (
    namesSecret(name) &&
    typeof value === 'string' &&
    value.length >= 8 &&
    !isPlaceholder(value) &&
    !looksSecret(value)
  )
    return {
      code: SECRET,
      message: `"${name}" holds a secret, and a config has no place for one: it would be copied into every run. Put it into an environment variable and name that variable: "apiKeyEnvironment: ..."`,
    };
  const present = presentName(name, parent);
  if (present !== undefined)
    return {
      code: 'old-key',
      message: `"${name}" is called "${present}" in version 1${Object.hasOwn(taken, present) ? ', and that is given, too' : ''}`,
      // Of two old names for one key nobody but the writer knows which counts.
      fix: renamed(
        present,
        !Object.keys(taken).some((other) => other !== name && presentName(other, parent) === present),
      ),
    };
  const known = knownKeys(parent);
  const joined = value === null ? joinedPair(name) : undefined;
  const first = joined && (known.includes(joined.key) ? joined.key : nearest(joined.key, known));
  if (joined && first !== undefined) {
    const meant = first === joined.key ? '' : `; did you mean "${first}"?`;
    const message = `unknown key "${name}"; a space is missing after the colon: write "${joined.key}: ${joined.value}"${meant}`;
    const fix: Told['fix'] = { title: SPACE, safe: false, space: [...parent, name], part: 'key' };
    return { code, message, fix: Object.hasOwn(taken, joined.key) ? undefined : fix };
  }
  const near = nearest(name, known);
  if (near) return { code, message: `unknown key "${name}"; did you mean "${near}"?`, fix: renamed(near, false) };
  const where = parent.length === 0 ? '' : ` in "${pathText(parent)}"`;
  const prefix = parent.map((step) => `${step}.`).join('');
  const paths = allKeyPaths();
  const places =
    keysNear(
      name,
      paths.filter((path) => parent.length > 0 && path.startsWith(prefix)),
    ) ?? keysNear(name, paths);
  if (places) {
    const same = places[0].split('.').at(-1) === name;
    if (same && !places[0].includes('.'))
      return { code, message: `unknown key "${name}"${where}; it belongs at the top level` };
    const listed = places.map((path) => `"${path}"`).join(' or ');
    const sentence = same ? `it belongs elsewhere: ${listed}` : `did you mean ${listed}?`;
    return { code, message: `unknown key "${name}"${where}; ${sentence}` };
  }
  const listed = `${parent.length === 0 ? 'a config' : 'it'} has ${known.join(', ')}`;
  return { code, message: `unknown key "${name}"${where}; ${listed}` };
}

let keyPaths: string[] | undefined;
function allKeyPaths(): string[] {
  keyPaths ??= configKeys().map((key) => key.path);
  return keyPaths;
}

/** The paths whose last part is the name, or else what the name was probably meant to be. */
function keysNear(name: string, paths: readonly string[]): string[] | undefined {
  const last = (path: string) => path.slice(path.lastIndexOf('.') + 1);
  const meant = paths.some((path) => last(path) === name) ? name : nearest(name, paths.map(last));
  return meant === undefined ? undefined : paths.filter((path) => last(path) === meant);
}

/** Whether a schema problem is only the shadow of broken text: on a line of an error, around it, or a missing key. */
function causedBy(problem: Problem, broken: TextProblem[], text: string, lines: LineIndex, raw: unknown): boolean {
  if (broken.length === 0) return false;
  const lost = broken.some(
    ({ code, exact, start }) => /syntax|alias|merge/.test(code) && (!exact || start >= text.trimEnd().length),
  );
  if (lost && problem.code === 'missing-key') return true;
  // A split that was not read may stand in what broke.
  if (lost && problem.code === 'overlapping-splits' && problem.rests?.some((split) => perhapsWritten(split, raw, text)))
    return true;
  const line = lines.position(problem.start).line;
  return broken.some(
    (error) =>
      (error.start < problem.end && error.end > problem.start) ||
      (!error.exact && lines.position(error.start).line === line) ||
      // An empty value just before the error: what should have been the value is what broke.
      (problem.empty === true && error.start > problem.end && /^\s*:?\s*$/.test(text.slice(problem.end, error.start))),
  );
}

/** Whether the last key of a path stands somewhere in the text although nothing was read at the path. */
function perhapsWritten(path: string, raw: unknown, text: string): boolean {
  const steps = path.split('.');
  return valueAt(raw, steps) === undefined && new RegExp(`\\b${steps.at(-1)}\\b`).test(text);
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, step) =>
      at === null || typeof at !== 'object' || !Object.hasOwn(at, step)
        ? undefined
        : (at as Record<string | number, unknown>)[step],
    value,
  );
}
