/** What a regular expression's groups can hold, read from its text. */

export interface Group {
  name?: string;
  /** Whether what it holds is the text of a number. */
  isNumber: boolean;
  /** Whether the expression can match without it. */
  optional: boolean;
  /** The pattern's text just before it: `sandboxrc_` of `sandboxrc_(\d+)`. */
  label: string;
}

interface Open {
  start: number;
  group: Group | undefined;
  /** Groups that began within it. */
  inner: Group[];
  alternatives: boolean;
}

/** A pattern without its slashes and flags, and the flags. */
export function unslashed(pattern: string): { body: string; flags: string } {
  const [, body, flags] = /^\/(.*)\/([a-z]*)$/s.exec(pattern) ?? [];
  return { body: body ?? pattern, flags: flags ?? '' };
}

/** Groups of a pattern in order, the first at 0. */
export function groupsOf(pattern: string): Group[] {
  const { body } = unslashed(pattern);
  const groups: Group[] = [];
  const stack: Open[] = [{ start: 0, group: undefined, inner: [], alternatives: false }];
  let behind = 0;
  for (let i = 0; i < body.length; i++) {
    const top = stack[stack.length - 1];
    if (body[i] === '\\') i++;
    else if (body[i] === '[') i = classEnd(body, i);
    else if (body[i] === '|') top.alternatives = true;
    else if (body[i] === '(') {
      const [head, name] = /^\((?:\?<(\w+)>|\?(?:[:=!]|<[=!]))?/.exec(body.slice(i)) ?? ['('];
      const capturing = head === '(' || name !== undefined;
      const group = capturing
        ? { name, isNumber: false, optional: false, label: body.slice(behind, i).replace(/\\(.)/g, '$1') }
        : undefined;
      if (group) {
        groups.push(group);
        for (const each of stack) each.inner.push(group);
      }
      stack.push({ start: i + head.length, group, inner: [], alternatives: false });
      i += head.length - 1;
      behind = i + 1;
    } else if (body[i] === ')' && stack.length > 1) {
      const { start, group, inner, alternatives } = stack.pop() as Open;
      behind = i + 1;
      if (group) group.isNumber = isNumber(body.slice(start, i));
      const mayLack = /^(?:[?*]|\{0)/.test(body.slice(i + 1));
      for (const each of inner) each.optional ||= alternatives || mayLack;
      if (group && mayLack) group.optional = true;
    }
  }
  if (stack[0].alternatives) for (const each of groups) each.optional = true;
  return groups;
}

function classEnd(body: string, start: number): number {
  for (let i = start + 1; i < body.length; i++) {
    if (body[i] === '\\') i++;
    else if (body[i] === ']') return i;
  }
  return body.length;
}

/** Whether all that a pattern matches are numbers' texts: digits, a point, a sign, an exponent. */
export function isNumber(pattern: string): boolean {
  const rest = pattern
    .replace(/\(\?:/g, '(')
    .replace(/\[(?:\\d|\\\.|[\d.eE+-])+\]/g, '0')
    .replace(/\\d/g, '0')
    .replace(/\\\./g, '0')
    .replace(/\{\d*,?\d*\}/g, '');
  return /\d/.test(rest) && /^[\d()|?*+-]+$/.test(rest);
}

/** A pattern as the name of the file it looks for: `transcript_0.json` for `/transcript_\d+\.json$/`. */
export function asFileName(pattern: string): string {
  return unslashed(pattern)
    .body.replace(/\\d[+*?]?/g, '0')
    .replace(/\\w[+*?]?/g, '*')
    .replace(/\\(.)/g, '$1')
    .replace(/\.[*+]\??/g, '*')
    .replace(/[$^]/g, '');
}
