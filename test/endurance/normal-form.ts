/**
 * What two runs of the same config and seed must have in common, file by file. Everything in a run directory is
 * compared byte for byte, save what is listed here.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { JournalEvent, JournalLine } from '../../protocol/journal.ts';
import { sha256 } from '../../protocol/random.ts';

/**
 * Fields that tell of clocks, and how many tokens of a prompt the server still had from earlier requests. By file name;
 * a field is left out of every object of the file, at any depth.
 */
export const CLOCK_FIELDS: Readonly<Record<string, readonly string[]>> = {
  'run.json': ['createdAt'],
  'journal.jsonl': ['seconds'],
  'calls.jsonl': ['startedAt', 'durations', 'cached_tokens'],
  'episodes.jsonl': ['startedAt', 'seconds'],
  'steps.jsonl': ['seconds'],
  'summary.json': ['seconds'],
};

/** Files of lines whose order tells only which of several episodes at work ended first. */
export const UNORDERED_FILES: readonly string[] = ['messages.jsonl', 'calls.jsonl', 'episodes.jsonl'];

/** Calls of episodes that a kill cut short: kept apart, and no part of what the run is. */
export const FILES_OF_KILLED_LIVES: readonly string[] = ['interrupted.jsonl'];

/** Journal entries that tell of a run's lives. Their numbers and times are left out of all entries. */
export const EVENTS_OF_LIVES: readonly JournalEvent['type'][] = ['run-resumed', 'policy-served'];

/** Warnings that tell of a kill. */
export const WARNINGS_OF_LIVES =
  /: a torn last line of \d+ bytes? was dropped$|: \d+ calls? of unfinished episodes set aside; |^\d+ process(?:es)? of an earlier life of this run had outlived it/;

/** The run directory in comparable form: path -> text (of large files the hash). */
export function normalForm(run: string): Record<string, string> {
  const form: Record<string, string> = {};
  for (const entry of readdirSync(run, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(run.length + 1);
    if (entry.isDirectory()) form[name] = 'folder';
    else if (!FILES_OF_KILLED_LIVES.includes(entry.name)) form[name] = normalFile(path);
  }
  return form;
}

/** Paths in which two runs differ, each with the first line that does. Empty: they are the same. */
export function differences(one: Record<string, string>, two: Record<string, string>): string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(two)])].sort().flatMap((path) => {
    if (one[path] === two[path]) return [];
    if (one[path] === undefined || two[path] === undefined)
      return [`${path}: only in the ${one[path] === undefined ? 'second' : 'first'} run`];
    const [a, b] = [one[path].split('\n'), two[path].split('\n')];
    const at = a.findIndex((line, index) => line !== b[index]);
    const line = at < 0 ? a.length : at;
    const [left = '', right = ''] = [a[line], b[line]];
    let same = 0;
    while (same < left.length && left[same] === right[same]) same++;
    const shown = (text: string) => text.slice(Math.max(0, same - 60), same + 120);
    return [`${path}, line ${line + 1}, character ${same + 1}: ${shown(left)} | ${shown(right)}`];
  });
}

function normalFile(path: string): string {
  const bytes = readFileSync(path);
  const name = basename(path);
  if (!/\.jsonl?$/.test(name) || /[\\/]output[\\/]|[\\/](policies|checkpoints)[\\/]/.test(path)) return sha256(bytes);
  const text = bytes.toString('utf8');
  const clocks = CLOCK_FIELDS[name] ?? [];
  if (name.endsWith('.json')) return JSON.stringify(without(JSON.parse(text), clocks), null, 1);
  const lines = text.split('\n');
  if (lines.pop() !== '') return `torn: ${text}`;
  if (name === 'journal.jsonl') return normalJournal(lines).join('\n');
  const normal = clocks.length > 0 ? lines.map((line) => JSON.stringify(without(JSON.parse(line), clocks))) : lines;
  return (UNORDERED_FILES.includes(name) ? normal.sort() : normal).join('\n');
}

/** Each decision once, where it was first taken; then the episodes, in order of their ids. */
function normalJournal(lines: string[]): string[] {
  const decisions = new Set<string>();
  const episodes = new Set<string>();
  for (const line of lines) {
    const { event } = JSON.parse(line) as JournalLine;
    if (EVENTS_OF_LIVES.includes(event.type)) continue;
    if (event.type === 'warning' && WARNINGS_OF_LIVES.test(event.message)) continue;
    const told = JSON.stringify(without(event, CLOCK_FIELDS['journal.jsonl']));
    (event.type === 'episode-finished' ? episodes : decisions).add(told);
  }
  return [...decisions, ...[...episodes].sort()];
}

function without(value: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => without(each, fields));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => (fields.includes(key) ? [] : [[key, without(each, fields)]])),
  );
}
