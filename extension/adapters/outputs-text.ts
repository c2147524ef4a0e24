/** Which recorded outputs an adapter is checked on. Knows nothing of VS Code. */
import { posix } from 'node:path';

/** Patterns of `// @outputs PATTERN` lines, relative to the adapter's folder. */
export function outputsNamedIn(adapter: string): string[] {
  return [...adapter.matchAll(/^[ \t]*\/\/[ \t]*@outputs[ \t]+(\S.*?)[ \t]*$/gm)].map(([, pattern]) => pattern);
}

/** A pattern as a folder without wildcards and the rest; the rest is empty for one folder. */
export function splitPattern(pattern: string): { base: string; rest: string } {
  const parts = posix.normalize(pattern).replace(/\/$/, '').split('/');
  const wild = parts.findIndex((part) => /[*?[{]/.test(part));
  if (wild < 0) return { base: parts.join('/'), rest: '' };
  return { base: parts.slice(0, wild).join('/') || '.', rest: parts.slice(wild).join('/') };
}

/** What finds the files of the folders that {@link outputFolders} takes: those are known by what lies in them. */
export function filesPattern(rest: string): string {
  return rest === '' || rest.endsWith('**')
    ? `${rest === '' ? '' : `${rest}/`}**/*`.replace('**/**/', '**/')
    : `${rest}/**/*`;
}

/**
 * The folders of outputs among files found with {@link filesPattern}.
 * @param files paths relative to the base.
 * @param rest of the pattern: empty for the base itself; `X/*` for each folder in X; with a `**` at its end for the
 *   uppermost folders that hold files themselves.
 * @returns paths relative to the base, sorted; `.` for the base.
 */
export function outputFolders(files: readonly string[], rest: string): string[] {
  if (rest === '') return files.length > 0 ? ['.'] : [];
  if (!rest.endsWith('**')) {
    const depth = rest.split('/').length;
    return unique(
      files.map((file) => file.split('/')).filter((parts) => parts.length > depth),
      depth,
    );
  }
  const holders = [...new Set(files.map((file) => posix.dirname(file)))].sort();
  return holders.filter((folder) => !holders.some((other) => other !== folder && isInside(folder, other)));
}

function isInside(folder: string, other: string): boolean {
  return other === '.' || folder.startsWith(`${other}/`);
}

function unique(paths: string[][], depth: number): string[] {
  return [...new Set(paths.map((parts) => parts.slice(0, depth).join('/')))].sort();
}
