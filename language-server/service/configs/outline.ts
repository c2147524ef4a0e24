/** The tree of a config for an editor's outline, and what of it can be folded. */
import { isAlias, isCollection, isMap, isScalar } from 'yaml';
import type { ConfigText } from './config-text.ts';
import type { ConfigSymbol, Folding } from './shapes.ts';
import { type Entry, entriesOf } from './tree.ts';

const MOST_SYMBOLS = 5_000;

/** Keys with their values, items of lists without names as `[0]`. At most 5,000. */
export function configSymbols(config: ConfigText): ConfigSymbol[] {
  let left = MOST_SYMBOLS;
  const symbolOf = (entry: Entry): ConfigSymbol | undefined => {
    const own = entry.key?.range ?? entry.value?.range;
    if (!own || left-- <= 0) return undefined;
    const end = Math.max(own[1], lastCharacter(config.text, own[0], entry.value?.range?.[1] ?? own[1]));
    const name = String(entry.path.at(-1));
    return {
      name: entry.key ? name || '""' : `[${name}]`,
      detail: detailOf(entry, config.text),
      kind: isMap(entry.value) ? 'section' : isCollection(entry.value) ? 'list' : 'value',
      range: config.range(own[0], end),
      selection: config.range(own[0], Math.min(own[1], end)),
      children: entriesOf(entry.value, entry.path).flatMap((inner) => symbolOf(inner) ?? []),
    };
  };
  return entriesOf(config.reading.document?.contents, []).flatMap((entry) => symbolOf(entry) ?? []);
}

function detailOf({ value }: Entry, text: string): string {
  if (!value?.range || !(isScalar(value) || isAlias(value))) return '';
  const written = text.slice(value.range[0], value.range[1]).split(/[\r\n]/, 1)[0];
  return written.length > 60 ? `${written.slice(0, 57)}...` : written;
}

function lastCharacter(text: string, start: number, end: number): number {
  let at = end;
  while (at > start + 1 && ' \t\r\n'.includes(text[at - 1])) at--;
  return at;
}

/** Mappings and lists of several lines, and runs of comment lines. */
export function configFolding(config: ConfigText): Folding[] {
  const foldings: Folding[] = [];
  const walk = (entries: Entry[]) => {
    for (const entry of entries) {
      if (foldings.length >= MOST_SYMBOLS) return;
      const start = (entry.key ?? entry.value)?.range?.[0];
      const end = isCollection(entry.value) ? entry.value.range?.[1] : undefined;
      if (start !== undefined && end !== undefined && end > start) {
        const startLine = config.position(start).line;
        const endLine = config.position(lastCharacter(config.text, start, end)).line;
        if (endLine > startLine) foldings.push({ startLine, endLine });
      }
      walk(entriesOf(entry.value, entry.path));
    }
  };
  walk(entriesOf(config.reading.document?.contents, []));
  return [...foldings, ...commentRuns(config.text)].sort((a, b) => a.startLine - b.startLine);
}

function commentRuns(text: string): Folding[] {
  const runs: Folding[] = [];
  let start = -1;
  const lines = text.split(/\r\n|\n|\r/);
  for (let line = 0; line <= lines.length; line++) {
    if (/^\s*#/.test(lines[line] ?? '')) {
      if (start < 0) start = line;
      continue;
    }
    if (start >= 0 && line - start > 1) runs.push({ startLine: start, endLine: line - 1, kind: 'comment' });
    start = -1;
  }
  return runs;
}
