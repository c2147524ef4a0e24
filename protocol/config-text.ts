/** Reads a training config's text (YAML or JSON) into a resolved config or into findings with exact positions. No I/O. */
import { configSchema, mergeUnder, presets, type TrainingConfig } from './config.ts';
import { crossFieldProblems } from './config-checks.ts';
import { configKeys, knownKeys } from './config-keys.ts';
import { parseConfigText, type TextProblem } from './config-syntax.ts';
import { type ConfigTree, type Path, readConfigTree } from './config-tree.ts';
import { explain, flattenUnions, type Issue, NO_SENTENCE, pathText } from './config-wording.ts';
import { plural } from './counting.ts';
import type { Finding } from './finding.ts';
import { LineIndex } from './line-index.ts';
import { nearest } from './nearest.ts';

export { knownKeys, shapeOf } from './config-keys.ts';
export { nearest } from './nearest.ts';

export interface ConfigReading {
  /** Present when there is no finding of severity `error`. */
  config?: TrainingConfig;
  /** In the order of the text. */
  findings: Finding[];
  /** Where the value (or the key) at a path was written; the start of the text when nothing could be read. */
  locate(path: Path, part?: 'key' | 'value'): Pick<Finding, 'line' | 'column' | 'endLine' | 'endColumn'>;
}

/** More than anybody reads; the rest is counted. */
const MOST_FINDINGS = 100;

interface Problem extends TextProblem {
  path?: Path;
  /** It is about a key without a value. */
  empty?: boolean;
}

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
  if (document) {
    tree = readConfigTree(document, lines);
    problems.push(...tree.problems);
    if (isMapping(tree.value)) {
      const checked = checkSchema(tree.value, tree);
      config = checked.config;
      const broken = problems.filter((problem) => problem.severity === 'error').slice(0, MOST_FINDINGS);
      problems.push(...checked.problems.filter((problem) => !causedBy(problem, broken, text, lines)));
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
  return {
    config: findings.some((finding) => finding.severity === 'error') ? undefined : config,
    findings,
    locate: (path, part = 'value') => place(...(tree?.locate(path, part) ?? [0, 0])),
  };
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function checkSchema(raw: Record<string, unknown>, tree: ConfigTree): { config?: TrainingConfig; problems: Problem[] } {
  const preset = typeof raw.preset === 'string' && Object.hasOwn(presets, raw.preset) ? raw.preset : undefined;
  const parsed = configSchema.safeParse(
    preset === undefined ? raw : mergeUnder(raw, presets[preset as keyof typeof presets]),
    { error: () => NO_SENTENCE },
  );
  const problems: Problem[] = [];
  const add = (code: string, severity: Problem['severity'], message: string, path: Path, part: 'key' | 'value') => {
    const [start, end] = tree.locate(path, part);
    problems.push({ code, severity, message, start, end, path, empty: valueAt(raw, path) === null });
  };
  if (parsed.success) {
    for (const problem of crossFieldProblems(parsed.data, raw))
      add(problem.code, problem.severity, problem.message, problem.path, problem.part ?? 'value');
    return { config: parsed.data, problems };
  }
  for (const issue of flattenUnions(parsed.error.issues as Issue[])) {
    const path = issue.path as Path;
    if (issue.code === 'unrecognized_keys') {
      for (const [index, name] of issue.keys.entries()) {
        // Advice takes time, and nobody reads it on the ten-thousandth key.
        const message = index < MOST_FINDINGS ? unknownKey(name, path) : `unknown key "${name}"`;
        add('unknown-key', 'error', message, [...path, name], 'key');
      }
      continue;
    }
    if (path.length > 0 && valueAt(raw, path) === undefined)
      add('missing-key', 'error', missingKey(path, raw), path, 'key');
    else add('wrong-value', 'error', explain(issue, valueAt(raw, path)), path, 'value');
  }
  // Errors between keys are told at once too: on the config without what is wrong in it.
  const sound = configSchema.safeParse(
    without(
      raw,
      problems.map((problem) => problem.path ?? []),
    ),
  );
  if (sound.success) {
    const told = problems.map((problem) => problem.path?.join('.') ?? '');
    for (const problem of crossFieldProblems(sound.data, raw)) {
      const path = problem.path.join('.');
      if (!told.some((other) => `${path}.`.startsWith(`${other}.`) || `${other}.`.startsWith(`${path}.`)))
        add(problem.code, problem.severity, problem.message, problem.path, problem.part ?? 'value');
    }
  }
  return { problems };
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

/** What is meant by an unknown key: one beside it, one deeper in its section, or one anywhere else. */
function unknownKey(name: string, parent: Path): string {
  const known = knownKeys(parent);
  const near = nearest(name, known);
  if (near) return `unknown key "${name}"; did you mean "${near}"?`;
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
    if (same && !places[0].includes('.')) return `unknown key "${name}"${where}; it belongs at the top level`;
    const listed = places.map((path) => `"${path}"`).join(' or ');
    return `unknown key "${name}"${where}; ${same ? `it belongs elsewhere: ${listed}` : `did you mean ${listed}?`}`;
  }
  return `unknown key "${name}"${where}; ${parent.length === 0 ? 'a config' : 'it'} has ${known.join(', ')}`;
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
function causedBy(problem: Problem, broken: TextProblem[], text: string, lines: LineIndex): boolean {
  if (broken.length === 0) return false;
  const isSyntax = broken.some((error) => /syntax|alias|merge/.test(error.code));
  if (isSyntax && (problem.code === 'missing-key' || problem.code === 'overlapping-splits')) return true;
  const line = lines.position(problem.start).line;
  return broken.some(
    (error) =>
      (error.start < problem.end && error.end > problem.start) ||
      lines.position(error.start).line === line ||
      // An empty value just before the error: what should have been the value is what broke.
      (problem.empty === true && error.start > problem.end && /^\s*:?\s*$/.test(text.slice(problem.end, error.start))),
  );
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
