/**
 * Values that a recording has for lines of source files: the five fields at the adapter's `outcome`, and what tracebacks say of
 * lines that they name. Files are only read as texts. Knows nothing of VS Code.
 */
import type { EpisodeRecord } from '../../../protocol/records.ts';
import { namedLines, type ReplayAction, raised, raisingLine, shownInLine } from '../../../recordings/replay/index.ts';
import { numberWords } from './credit.ts';

export interface SourceValue {
  /** From 0. */
  line: number;
  text: string;
}

const FIELDS = ['task', 'init', 'attempt', 'reward', 'valid', 'invalidReason', 'successTurn'] as const;
const LONGEST = 120;

/** Lines of an adapter's `outcome` that give a field, each with the recorded value; the first line of each field. */
export function outcomeValues(source: string, record: EpisodeRecord): SourceValue[] {
  const lines = source.split('\n');
  const start = lines.findIndex((line) => /\boutcome\b\s*[(:=]/.test(line));
  if (start < 0) return [];
  const values: SourceValue[] = [];
  for (const field of FIELDS) {
    const line = lines.findIndex(
      (text, k) => k >= start && new RegExp(`\\b${field}\\b\\s*[:,}]`).test(text.replace(/\/\/.*$/, '')),
    );
    if (line >= 0) values.push({ line, text: `${field} = ${valueWords(record[field])}` });
  }
  return values;
}

/** Lines that the results of a call name as lines of this file, with the error that was raised. */
export function tracebackValues(path: string, actions: readonly ReplayAction[]): SourceValue[] {
  const values = new Map<number, string>();
  for (const { result } of actions) {
    for (const { file, line } of namedLines(result))
      if (isSame(path, file)) values.set(line - 1, shownInLine(raised(result ?? ''), LONGEST));
  }
  return [...values].map(([line, text]) => ({ line, text }));
}

/** What came of a cell: the exception at the line that raised it, or the result after the last line. */
export function cellValues(code: string, { result, exception }: ReplayAction): SourceValue[] {
  if (result === null) return [];
  const last = Math.max(0, code.replace(/\n$/, '').split('\n').length - 1);
  if (!exception) return [{ line: last, text: shownInLine(result.trimEnd().split('\n')[0], LONGEST) }];
  const line = raisingLine(code, result);
  return [{ line: line === undefined ? last : line - 1, text: shownInLine(raised(result), LONGEST) }];
}

/** A harness may have run elsewhere, so what counts is that the ends of both paths agree, folder included. */
function isSame(path: string, named: string): boolean {
  const [own, other] = [path, named].map((one) => one.split(/[/\\]/).filter((part) => part !== '' && part !== '.'));
  const length = Math.min(2, other.length);
  return length > 0 && own.slice(-length).join('/') === other.slice(-length).join('/');
}

function valueWords(value: unknown): string {
  if (typeof value === 'number') return numberWords(value);
  return typeof value === 'string' ? JSON.stringify(shownInLine(value, LONGEST)) : String(value);
}
