/** Lines of source files that a result names, as Python's tracebacks do. */

/** A line of a file, as a traceback tells it. */
export interface NamedLine {
  /** As the harness wrote it: a path of the machine it ran on. */
  file: string;
  /** From 1. */
  line: number;
  /** Of the function; empty where none is told. */
  within: string;
}

const NAMED = /File "([^"\n]{1,1000})", line (\d{1,7})(?:, in ([^\n]{1,200}))?/g;

/** All lines of files that a result names, in its order: the innermost is the last. Cells (`<cell>`, `<string>`) are none. */
export function namedLines(result: string | null): NamedLine[] {
  return [...(result ?? '').matchAll(NAMED)]
    .map(([, file, line, within]) => ({ file, line: Number(line), within: within ?? '' }))
    .filter(({ file, line }) => !file.startsWith('<') && line > 0);
}

/** The line of the code, from 1, that a result names last as one of it; undefined where it names none. */
export function raisingLine(code: string, result: string | null): number | undefined {
  const lines = code.replace(/\n$/, '').split('\n').length;
  const last = (text: string) =>
    [...text.matchAll(/\bline (\d{1,6})\b/g)]
      .map(([, line]) => Number(line))
      .findLast((line) => line >= 1 && line <= lines);
  const all = result ?? '';
  // Lines of files are not the code's, unless nothing else is named: some harnesses write their cells into files.
  return last(all.replace(/File "[^<"\n][^"\n]*", line \d+/g, '')) ?? last(all);
}

/** What was raised: the last line of a traceback. */
export function raised(result: string): string {
  return result.trimEnd().split('\n').at(-1) ?? '';
}
