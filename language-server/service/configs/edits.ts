/** Turns the changes that mend a problem into edits of the text; none where the text is not plain enough for it. */
import { isCollection, isMap, isScalar, type Scalar } from 'yaml';
import type { ConfigFix } from '../../../protocol/config-fix.ts';
import type { Path } from '../../../protocol/config-tree.ts';
import type { TextEdit } from '../contract.ts';
import type { ConfigText } from './config-text.ts';
import { type Entry, entriesOf, entryAt } from './tree.ts';

type Change = { start: number; end: number; text: string };

/** @returns undefined where the place cannot be changed by itself: behind an alias, or as the only key of a section. */
export function editsOf(fix: ConfigFix, config: ConfigText): TextEdit[] | undefined {
  const changes = 'set' in fix && fix.without ? setAlone(fix.without, fix, config) : [changeOf(fix, config)];
  const edits = changes.map(
    (change) => change && { range: config.range(change.start, change.end), newText: change.text },
  );
  return edits.every((edit) => edit !== undefined) ? edits : undefined;
}

/** A value set, and other keys taken away. */
function setAlone(without: readonly Path[], fix: ConfigFix, config: ConfigText): (Change | undefined)[] {
  const root = config.reading.document?.contents;
  const entries = without.map((path) => entryAt(root, path)).filter((entry) => entry !== undefined);
  const removals = entries.map((entry) => removal(entry, config.text, entries));
  // Neighbours on one line are taken away by one edit.
  const merged: Change[] = [];
  for (const change of removals.filter((one) => one !== undefined).sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last && change.start <= last.end) last.end = Math.max(last.end, change.end);
    else merged.push(change);
  }
  return [changeOf(fix, config), ...(removals.includes(undefined) ? [undefined] : merged)];
}

function changeOf(fix: ConfigFix, config: ConfigText): Change | undefined {
  if ('start' in fix) return fix;
  const root = config.reading.document?.contents;
  if ('insert' in fix) return insertion(fix.insert, root, config);
  if ('set' in fix) {
    const value = entryAt(root, fix.set)?.value;
    return isScalar(value) ? replacement(value, written(fix.value, config.json), config.text) : undefined;
  }
  if ('space' in fix) return spaceAfterColon(fix, config);
  if ('rename' in fix) {
    const key = entryAt(root, fix.rename)?.key;
    if (!isScalar(key) || !key.range) return undefined;
    const quote = /["']/.exec(config.text[key.range[0]])?.[0] ?? '';
    const plain = /^[^"'\\\r\n]*$/.test(fix.to);
    return replacement(key, quote && plain ? quote + fix.to + quote : written(fix.to, config.json), config.text);
  }
  const entry = entryAt(root, fix.remove);
  return entry && removal(entry, config.text);
}

function written(value: string | number | boolean | null, json: boolean): string {
  if (typeof value !== 'string') return String(value);
  // A range such as 11-44, a word or a path needs no quotes in YAML; what would be read as a number does.
  return !json &&
    /^[A-Za-z0-9./][\w./:-]*$/.test(value) &&
    !/:$|^(?:true|false|null|yes|no|on|off|\.inf|\.nan|[\d.]+(?:e[-+]?\d+)?|0[xo]\w+)$/i.test(value)
    ? value
    : JSON.stringify(value);
}

/**
 * A value written in place of another one. A text in block style (`>-`, `|`) reaches over the line break that ends it,
 * which stays, as does a comment behind its sign.
 */
function replacement(value: Scalar, by: string, text: string): Change | undefined {
  const { range, type } = value;
  // An anchor's value is that of other places, too; under a tag a number would stay what it was.
  if (!range || range[1] <= range[0] || value.anchor || (value.tag && !/^["A-Za-z./]/.test(by))) return undefined;
  const [start, end] = range;
  if (type !== 'BLOCK_FOLDED' && type !== 'BLOCK_LITERAL') return { start, end, text: by };
  const written = text.slice(start, end).trimEnd();
  const comment = /^[|>][-+\d]*([ \t]+#[^\r\n]*)/.exec(written)?.[1] ?? '';
  return { start, end: start + written.length, text: by + comment };
}

/** `rounds:2` was read as one word: as a key without a value, or as the text that stands in place of a section. */
function spaceAfterColon({ space, part }: { space: Path; part: 'key' | 'value' }, config: ConfigText) {
  const node = entryAt(config.reading.document?.contents, space)?.[part];
  if (!isScalar(node) || node.type !== 'PLAIN' || !node.range) return undefined;
  const [start, end] = node.range;
  const before =
    config.text
      .slice(0, start)
      .split(/[\r\n]/)
      .at(-1) ?? '';
  const written = config.text.slice(start, end);
  if (part === 'key') {
    const at = start + written.indexOf(':') + 1;
    // Behind "?" a pair would be a mapping as a key.
    return at > start && !/\?\s*$/.test(before) ? { start: at, end: at, text: ' ' } : undefined;
  }
  // On the line of its key a pair cannot stand, and several lines must all be pairs, in one column.
  const lines = (before + written).split(/\r\n|\r|\n/);
  const pair = new RegExp(`^ {${before.length}}[A-Za-z]\\w*:\\S`);
  return lines.every((line) => pair.test(line))
    ? { start, end, text: written.replace(/^( *[A-Za-z]\w*):/gm, '$1: ') }
    : undefined;
}

function insertion(line: string, root: unknown, config: ConfigText): Change | undefined {
  if (!isMap(root) || !root.range) return undefined;
  const at = root.range[0];
  const lineEnd = /\r\n|\r|\n/.exec(config.text)?.[0] ?? '\n';
  if (!root.flow) return config.position(at).character === 0 ? { start: at, end: at, text: line + lineEnd } : undefined;
  const pair = config.json ? line.replace(/^(\w+):/, '"$1":') : line;
  return { start: at + 1, end: at + 1, text: ` ${pair}${root.items.length > 0 ? ',' : ''}` };
}

/** Takes an entry away with its line (block style) or its comma (flow style). @param going what is taken away with it. */
function removal(entry: Entry, text: string, going: readonly Entry[] = [entry]): Change | undefined {
  const siblings = entriesOf(entry.parent, []);
  const at = siblings.findIndex((other) => other.index === entry.index);
  const span = spanOf(entry);
  if (siblings.length < 2 || at < 0 || !span || text.slice(...span).includes('&')) return undefined;
  if (isCollection(entry.parent) && entry.parent.flow) {
    const stays = (other: Entry) => !going.some((one) => one.parent === entry.parent && one.index === other.index);
    const next = siblings[at + 1] && spanOf(siblings[at + 1]);
    // The last ones that stay end the list: the comma before goes.
    if (next && siblings.slice(at + 1).some(stays)) return { start: span[0], end: next[0], text: '' };
    const before = siblings.slice(0, at).findLast(stays);
    const end = before && spanOf(before);
    return end && { start: end[1], end: span[1], text: '' };
  }
  const start = text.lastIndexOf('\n', span[0] - 1) + 1;
  if (!/^[ ]*(?:- *)?$/.test(text.slice(start, span[0]))) return undefined;
  // `- a: 1` as the first key of an item: its dash belongs to the next key.
  if (entry.key && text.slice(start, span[0]).includes('-')) return undefined;
  const end = text.indexOf('\n', span[1]);
  return { start, end: end < 0 ? text.length : end + 1, text: '' };
}

function spanOf({ key, value }: Entry): [number, number] | undefined {
  const first = (key ?? value)?.range;
  const last = value?.range && value.range[1] > value.range[0] ? value.range : (key ?? value)?.range;
  return first && last ? [first[0], last[1]] : undefined;
}
