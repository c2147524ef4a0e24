/** What may follow in the debug console: names that can be asked about, and after a dot the fields of what stands before it. */
import type { DebugProtocol as Dap } from '@vscode/debugprotocol';
import { FACT_NAMES, type FactPlace, facts, parseCondition, valueAt } from '../../../recordings/replay/facts.ts';
import { typeOf } from './values.ts';

const NAME = /[\p{L}_$][\p{L}\p{N}_$]*$/u;
const WHOLE_NAME = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;
/** A name with steps into it, up to the end. */
const PATH = /[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}_$][\p{L}\p{N}_$]*|\[(?:\d+|"[^"\\]*"|'[^'\\]*')\])*$/u;
/** Fields of one value that are listed; a record of ours has far fewer. */
const MOST_FIELDS = 200;

/** Completes what is typed before a column (1-based), with values as they are at a place. */
export async function completionsOf(text: string, column: number, place: FactPlace): Promise<Dap.CompletionItem[]> {
  const before = text.slice(0, column - 1);
  const typed = NAME.exec(before)?.[0] ?? '';
  const start = before.length - typed.length;
  const fitting = (names: readonly string[], detailOf: (name: string) => string): Dap.CompletionItem[] =>
    names
      .filter((name) => name.toLowerCase().startsWith(typed.toLowerCase()))
      .map((name) => ({
        ...{ label: name, detail: detailOf(name), type: 'property' as const, start, length: typed.length },
      }));
  if (before[start - 1] !== '.') return fitting(FACT_NAMES, (name) => facts[name].words);
  const [path] = PATH.exec(before.slice(0, start - 1)) ?? [];
  const value = path === undefined ? null : await valueBefore(path, place);
  if (typeof value === 'string' || Array.isArray(value)) return fitting(['length'], () => 'number');
  if (typeof value !== 'object' || value === null) return [];
  const fields = value as Record<string, unknown>;
  const names = Object.keys(fields).filter((name) => WHOLE_NAME.test(name));
  return fitting(names.slice(0, MOST_FIELDS), (name) => typeOf(fields[name] ?? null));
}

/** Null where the text before the dot is nothing that can be asked about. */
async function valueBefore(path: string, place: FactPlace): Promise<unknown> {
  try {
    return await valueAt(parseCondition(path), place);
  } catch {
    return null;
  }
}
