/** Reads a training config's text (YAML or JSON) into a resolved config or into findings with exact positions. No I/O. */
import { isMap, isNode, isScalar, LineCounter, type Node, type Pair, parseDocument } from 'yaml';
import type { z } from 'zod';
import { configSchema, mergeUnder, presets, type TrainingConfig } from './config.ts';
import { crossFieldProblems } from './config-checks.ts';
import type { Finding } from './finding.ts';

const LARGEST_TEXT = 5 * 1024 * 1024;

export interface ConfigReading {
  /** Present when there is no finding of severity `error`. */
  config?: TrainingConfig;
  findings: Finding[];
}

type Path = (string | number)[];

/** @param file only named in the findings. */
export function readConfigText(text: string, file?: string): ConfigReading {
  const findings: Finding[] = [];
  const lines = new LineCounter();
  const report = (
    severity: Finding['severity'],
    code: string,
    message: string,
    start: number,
    end: number,
    path?: string,
  ) => {
    const from = lines.linePos(start);
    const to = lines.linePos(Math.max(start, end));
    findings.push({
      code,
      severity,
      message,
      file,
      line: Math.max(1, from.line),
      column: Math.max(1, from.col),
      endLine: Math.max(1, to.line),
      endColumn: Math.max(1, to.col),
      path,
    });
  };
  if (text.length > LARGEST_TEXT) {
    report(
      'error',
      'config-too-large',
      `the file has ${text.length} characters; a training config has at most ${LARGEST_TEXT}`,
      0,
      0,
    );
    return { findings };
  }
  let document: ReturnType<typeof parseDocument>;
  let raw: unknown;
  try {
    document = parseDocument(text.replace(/^﻿/, ' '), {
      lineCounter: lines,
      merge: true,
      uniqueKeys: true,
      prettyErrors: false,
    });
    for (const problem of document.errors)
      report('error', 'yaml-syntax', sentence(problem.message), problem.pos[0], problem.pos[1]);
    for (const problem of document.warnings)
      report('warning', 'yaml-syntax', sentence(problem.message), problem.pos[0], problem.pos[1]);
    raw = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    // Deep nesting and alias bombs end here.
    report('error', 'yaml-syntax', `the file cannot be read: ${(error as Error).message}`, 0, 0);
    return { findings };
  }
  const node = document.contents as Node | null;
  if (raw === null || typeof raw !== 'object' || Array.isArray(raw)) {
    if (findings.length === 0)
      report('error', 'config-not-a-mapping', 'a training config is a mapping of keys to values', 0, text.length);
    return { findings };
  }

  const presetName = (raw as Record<string, unknown>).preset;
  const preset =
    typeof presetName === 'string' && Object.hasOwn(presets, presetName)
      ? presets[presetName as keyof typeof presets]
      : {};
  const parsed = configSchema.safeParse(mergeUnder(raw, preset));
  const place = (path: Path, atKey: boolean): [number, number] => locate(node, path, atKey) ?? [0, 0];
  if (!parsed.success) {
    for (const issue of flatten(parsed.error.issues)) {
      if (issue.code === 'unrecognized_keys') {
        for (const name of issue.keys) {
          const path = [...issue.path, name] as Path;
          const near = nearest(name, knownKeys(issue.path as Path));
          report(
            'error',
            'unknown-key',
            `unknown key "${name}"${near ? `; did you mean "${near}"?` : ''}`,
            ...place(path, true),
            path.join('.'),
          );
        }
        continue;
      }
      const path = issue.path as Path;
      const missing = issue.code === 'invalid_type' && valueAt(raw, path) === undefined;
      const message = missing ? `"${path.join('.')}" is required` : `"${path.join('.')}": ${issue.message}`;
      report('error', missing ? 'missing-key' : 'wrong-value', message, ...place(path, missing), path.join('.'));
    }
    return { findings };
  }
  for (const problem of crossFieldProblems(parsed.data, raw as Record<string, unknown>)) {
    report(problem.severity, problem.code, problem.message, ...place(problem.path, false), problem.path.join('.'));
  }
  return { findings, config: findings.some((f) => f.severity === 'error') ? undefined : parsed.data };
}

function sentence(message: string): string {
  return message.split('\n')[0];
}

/** Issues of a union are reported as one; of its branches keep the one that explains most. */
function flatten(issues: z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  return issues.flatMap((issue) => {
    if (issue.code !== 'invalid_union') return [issue];
    const inner = issue.errors.flat().find((e) => e.code === 'custom');
    return [inner ? ({ ...inner, path: issue.path } as z.core.$ZodIssue) : issue];
  });
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, step) => (at === null || typeof at !== 'object' ? undefined : (at as Record<string, unknown>)[step]),
    value,
  );
}

/** Offsets of the value (or of its key) that a path names; the nearest enclosing node when it is absent. */
function locate(root: Node | null, path: Path, atKey: boolean): [number, number] | undefined {
  let node: unknown = root;
  let best = range(root);
  for (let i = 0; i < path.length; i++) {
    let pair: Pair | undefined;
    if (isMap(node))
      pair = node.items.find((item) => isScalar(item.key) && item.key.value === path[i]) as Pair | undefined;
    const next: unknown = pair
      ? pair.value
      : isNode(node) && 'get' in node
        ? (node as unknown as { get(k: unknown, keep: boolean): unknown }).get(path[i], true)
        : undefined;
    const last = i === path.length - 1;
    if (pair && (atKey ? last : !isNode(next))) best = range(pair.key as Node) ?? best;
    else if (isNode(next)) best = range(next) ?? best;
    else return best;
    node = next;
  }
  return best;
}

function range(node: Node | null | undefined): [number, number] | undefined {
  return node?.range ? [node.range[0], node.range[1]] : undefined;
}

/** Keys the schema knows at a path. */
export function knownKeys(path: Path): string[] {
  let schema: unknown = configSchema;
  for (const step of path) {
    schema = shapeOf(schema)?.[String(step)];
    if (!schema) return [];
  }
  return Object.keys(shapeOf(schema) ?? {});
}

/** The fields of an object schema, through defaults and optionals. */
export function shapeOf(schema: unknown): Record<string, z.ZodType> | undefined {
  let at = schema as { shape?: Record<string, z.ZodType>; def?: { innerType?: unknown } } | undefined;
  while (at && !at.shape && at.def?.innerType) at = at.def.innerType as typeof at;
  return at?.shape;
}

/** The candidate at edit distance 1-2 (a third of the length at most), if any. */
export function nearest(word: string, candidates: string[]): string | undefined {
  let best: string | undefined;
  let least = Math.min(3, Math.max(1, Math.floor(word.length / 3))) + 0.5;
  for (const candidate of candidates) {
    const distance =
      candidate.toLowerCase() === word.toLowerCase() ? 0 : editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 3) return 99;
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
}
