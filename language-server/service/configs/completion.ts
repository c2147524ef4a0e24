/** Keys and values that may stand at a place, on text that is being typed. */
import { isMap, isScalar, isSeq, type Node, parseDocument } from 'yaml';
import type { z } from 'zod';
import { allowedWords, schemaAt, shapeOf } from '../../../protocol/config-keys.ts';
import { LARGEST_CONFIG } from '../../../protocol/config-syntax.ts';
import type { Path } from '../../../protocol/config-tree.ts';
import type { Surroundings } from '../config-references.ts';
import type { Position } from '../contract.ts';
import type { ConfigText } from './config-text.ts';
import { defaultText, describeKey, keyAt } from './key-text.ts';
import { adapterOffers, checkpointOffers } from './path-offers.ts';
import type { Completion } from './shapes.ts';
import { entriesOf } from './tree.ts';

const MARK = 'CURSOR0x';

/** Where the cursor stands in the tree. */
interface Place {
  path: Path;
  part: 'key' | 'value';
  /** Keys beside it. */
  taken: string[];
}

/** Never throws; nothing is offered inside comments. */
export function configCompletions(config: ConfigText, position: Position, around?: Surroundings): Completion[] {
  const { text, json } = config;
  // What was too large to be read for findings is not read for this either.
  if (text.length > LARGEST_CONFIG || config.reading.problems.some(({ code }) => code === 'config-too-large'))
    return [];
  const at = config.offset(position);
  const lineStart = Math.max(text.lastIndexOf('\n', at - 1), text.lastIndexOf('\r', at - 1)) + 1;
  if (/(^|\s)#/.test(text.slice(lineStart, at).replace(/"[^"]*"|'[^']*'/g, ''))) return [];
  const start = at - (/["']?[\w./-]*$/.exec(text.slice(lineStart, at))?.[0].length ?? 0);
  const end = at + (/^[\w./-]*["']?/.exec(text.slice(at, at + 200))?.[0].length ?? 0);
  const place = placeOf(config, start, end);
  if (!place) return [];
  const range = config.range(start, end);
  const preset = config.reading.written?.preset;
  const named = typeof preset === 'string' ? preset : undefined;
  const typed = text.slice(start, at).replace(/^["']/, '');
  const offers =
    place.part === 'key'
      ? [...keyOffers(place, named), ...suiteOffers(place, config, around)]
      : valueOffers(place.path, config, typed, around, named);
  const hasColon = /^\s*:/.test(text.slice(end, end + 20));
  const flow = json || inFlow(text, start);
  const indent = /^\s*/.exec(text.slice(lineStart, at))?.[0] ?? '';
  return offers.map((offer, index) => {
    const isKey = place.part === 'key';
    const name = isKey ? (json ? JSON.stringify(offer.label) : offer.label) : scalarText(offer.label, json);
    const after = !isKey || hasColon ? '' : offer.kind === 'section' && !flow ? `:\n${indent}  ` : ': ';
    return { ...offer, edit: { range, newText: name + after }, sort: String(index).padStart(4, '0') };
  });
}

type Offer = Pick<Completion, 'label' | 'kind' | 'detail' | 'documentation'>;

/** The text with a mark in place of the word under the cursor, parsed; the place of the mark. */
function placeOf({ text, json }: ConfigText, start: number, end: number): Place | undefined {
  const before = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  const after = text.slice(end).split(/[\r\n]/, 1)[0];
  // A bare word on a line of its own is a key that is being typed.
  const alone = !json && /^ *$/.test(before) && /^\s*(#.*)?$/.test(after) && !inFlow(text, start);
  const mark = json ? `"${MARK}"` : MARK;
  const marked = `${text.slice(0, start)}${mark}${alone ? ':' : ''}${text.slice(end)}`;
  let root: unknown;
  try {
    root = parseDocument(marked, {
      strict: false,
      uniqueKeys: false,
      merge: true,
      prettyErrors: false,
      logLevel: 'silent',
    }).contents;
  } catch {
    return undefined;
  }
  return find(root as Node, [], MARK, 0);
}

function find(node: Node | undefined, path: Path, mark: string, depth: number): Place | undefined {
  if (depth > 64) return undefined;
  if (isScalar(node)) {
    if (typeof node.value !== 'string' || !node.value.includes(mark)) return undefined;
    // What stands where a section is expected becomes its first key.
    return shapeOf(schemaAt(path)) ? { path, part: 'key', taken: [] } : { path, part: 'value', taken: [] };
  }
  if (!isMap(node) && !isSeq(node)) return undefined;
  const entries = entriesOf(node, path);
  const names = entries.map((entry) => String(entry.path.at(-1)));
  for (const entry of entries) {
    if (entry.key && String(entry.path.at(-1)).includes(mark))
      return { path, part: 'key', taken: names.filter((name) => !name.includes(mark)) };
    const inside = find(entry.value, entry.path, mark, depth + 1);
    if (inside) return inside;
  }
  return undefined;
}

function keyOffers({ path, taken }: Place, preset: string | undefined): Offer[] {
  return Object.keys(shapeOf(schemaAt(path)) ?? {})
    .filter((name) => !taken.includes(name))
    .map((name): Offer => {
      const key = keyAt([...path, name]);
      if (!key) return { label: name, kind: 'key' };
      const standard = defaultText(key, preset);
      return {
        label: name,
        kind: key.section ? 'section' : 'key',
        detail: key.required ? 'required' : standard && `default ${standard}`,
        documentation: describeKey(key, preset),
      };
    });
}

/** As keys of `harness.tasks`: the suites that are listed. */
function suiteOffers({ path, taken }: Place, config: ConfigText, around: Surroundings | undefined): Offer[] {
  if (path.join('.') !== 'harness.tasks') return [];
  const { suites } = (config.reading.written?.harness ?? {}) as { suites?: unknown };
  if (!Array.isArray(suites)) return [];
  const tasks = listingFor(config, around)?.tasks ?? {};
  return suites
    .filter((suite): suite is string => typeof suite === 'string' && !taken.includes(suite))
    .map((label) => ({ label, kind: 'key', ...(Object.hasOwn(tasks, label) && described(tasks[label])) }));
}

/** What the adapter lists, as far as it can be read from a config that is not sound. */
function listingFor(config: ConfigText, around: Surroundings | undefined) {
  return around?.listing?.(config.reading.usable?.harness.adapter ?? adapterIn(config));
}

function described(tasks: readonly string[]): Pick<Offer, 'detail' | 'documentation'> {
  return { detail: `${tasks.length} tasks`, documentation: tasks.join('  \n') };
}

function valueOffers(
  path: Path,
  config: ConfigText,
  typed: string,
  around: Surroundings | undefined,
  preset?: string,
): Offer[] {
  const schema = schemaAt(path);
  const key = keyAt(path);
  const name = path.filter((step) => typeof step === 'string').join('.');
  const listing = listingFor(config, around);
  if (name === 'harness.adapter') {
    const shipped = (around?.shippedAdapters ?? []).map(
      (label): Offer => ({ label, kind: 'file', detail: 'shipped adapter' }),
    );
    return [...(typed.includes('/') ? [] : shipped), ...adapterOffers(typed, around)];
  }
  if (name === 'planner.checkpoint') return checkpointOffers(typed, around);
  if (name === 'harness.suites' && listing)
    return Object.entries(listing.tasks).map(
      ([label, tasks]): Offer => ({ label, kind: 'value', ...described(tasks) }),
    );
  const suite = path.length >= 3 && path[0] === 'harness' && path[1] === 'tasks' ? String(path[2]) : undefined;
  if (suite !== undefined && listing && Object.hasOwn(listing.tasks, suite)) {
    const tasks = listing.tasks[suite];
    return [{ label: tasks.length > 1 ? `0-${tasks.length - 1}` : '0', kind: 'value', ...described(tasks) }];
  }
  if (!schema || !key) return [];
  const words = [...allowedWords(schema), ...plainWords(schema)];
  const standard = key.defaultText;
  if (
    standard !== undefined &&
    !words.includes(standard.replace(/^"|"$/g, '')) &&
    path.length === name.split('.').length
  )
    words.unshift(standard);
  const documentation = describeKey(key, preset);
  return words.map((word): Offer => {
    const isDefault = standard === word || standard === JSON.stringify(word);
    return {
      label: word,
      kind: 'value',
      detail: isDefault ? `default (${key.source ?? 'ours'})` : undefined,
      documentation,
    };
  });
}

/** The adapter, as far as it can be read from a config that is not sound. */
function adapterIn(config: ConfigText): string {
  const harness = config.reading.written?.harness as { adapter?: unknown } | null | undefined;
  return typeof harness?.adapter === 'string' ? harness.adapter : '';
}

function plainWords(schema: z.ZodType): string[] {
  if (schema.safeParse(true).success && schema.safeParse(false).success) return ['true', 'false'];
  return schema.safeParse(1).success && schema._zod.def.type === 'literal' ? ['1'] : [];
}

function scalarText(word: string, json: boolean): string {
  // A path may hold what means something else in YAML.
  if (!json && /[:#,&*!|>{}[\]"'%@`]/.test(word) && !/^[[{"]/.test(word)) return JSON.stringify(word);
  if (!json || /^(?:true|false|null|-?\d[\d.eE+-]*|[[{"].*)$/.test(word)) return word;
  return JSON.stringify(word);
}

/** Whether a bracket is open before an offset; texts in quotes and comments do not count. */
function inFlow(text: string, at: number): boolean {
  const plain = text.slice(Math.max(0, at - 20_000), at).replace(/"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|(^|\s)#.*/g, '');
  let depth = 0;
  for (const character of plain) {
    if (character === '{' || character === '[') depth++;
    else if ((character === '}' || character === ']') && depth > 0) depth--;
  }
  return depth > 0;
}
