/** How values are written in the variables view and the debug console. */
import { cutAt, shown } from '../../../recordings/replay/index.ts';

/** Longer texts are cut; the whole one is read in parts, or copied with "Copy Value". */
const LONGEST = 2000;
/** Characters of a part of a long text. */
const PART = 2000;
const LONGEST_PREVIEW = 120;

/** A value in one line, with characters that are not seen as marks. */
export function valueText(value: unknown): string {
  return shown(lineOf(value));
}

function lineOf(value: unknown): string {
  if (typeof value === 'string') return cut(JSON.stringify(value), LONGEST);
  if (typeof value !== 'object' || value === null) return `${value}`;
  const known = Array.isArray(value) ? undefined : summary(value as Record<string, unknown>);
  return known === undefined ? preview(value) : cut(known, LONGEST_PREVIEW * 2);
}

/** The parts of a text that is cut where it is shown, in order; undefined for one that is shown whole. */
export function partsOf(text: string): string[] | undefined {
  // Quotes and marks of line ends count where it is cut.
  if (text.length <= LONGEST && JSON.stringify(text).length <= LONGEST) return undefined;
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const part = cutAt(text.slice(at, at + PART + 1), PART);
    parts.push(part);
    at += part.length;
  }
  return parts;
}

/** A part of a text in one line, whole. */
export function partText(part: string): string {
  return shown(JSON.stringify(part));
}

/** The whole value, for the clipboard: a text as it is, everything else as JSON. */
export function wholeText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'null');
}

export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' ? 'object' : typeof value === 'string' ? 'text' : typeof value;
}

/** Values that have parts. */
export function isCompound(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

/** Messages, tool calls and tokens are told by what a person looks for in them. */
function summary(value: Record<string, unknown>): string | undefined {
  const { role, content, text, logb, logq, logp, w, clipped, name, argumentText, result, attempt, reward } = value;
  if (typeof role === 'string' && 'content' in value) return `${role}: ${preview(content ?? value.tool_calls ?? null)}`;
  if ('logb' in value && 'logp' in value) {
    const numbers = Object.entries({ b: logb, q: logq, p: logp }).filter(([, log]) => log !== null);
    const told = numbers.map(([letter, log]) => `log ${letter} ${log}`);
    if (w !== null) told.push(`w ${w}`);
    if (clipped) told.push(`clipped (${clipped})`);
    return [text === null ? `token ${value.id}` : JSON.stringify(text), ...told].join('  ');
  }
  if (typeof name === 'string' && 'argumentText' in value)
    return `${name} ${preview(argumentText)}${result === null ? '' : ` -> ${preview(result)}`}`;
  if (typeof attempt === 'number' && 'invalidReason' in value)
    return `attempt ${attempt}: ${value.valid ? `reward ${reward}` : `invalid (${value.invalidReason})`}`;
  return undefined;
}

function preview(value: unknown): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    const first = value.slice(0, 3).map((item) => cut(JSON.stringify(item) ?? 'null', 30));
    return cut(`(${value.length}) [${first.join(', ')}${value.length > 3 ? ', ...' : ''}]`, LONGEST_PREVIEW);
  }
  return cut(JSON.stringify(value) ?? 'null', LONGEST_PREVIEW);
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  // Not in the middle of a character of two units.
  return `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}...`;
}
