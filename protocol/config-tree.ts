/** Turns a YAML tree into plain values and remembers where each was written, through aliases and merges. */
import { type Document, isAlias, isMap, isPair, isScalar, isSeq, type Node, type Pair } from 'yaml';
import type { TextProblem } from './config-syntax.ts';
import type { LineIndex } from './line-index.ts';

export type Path = (string | number)[];
export type Span = [start: number, end: number];

/** Values that aliases may stand for in all; a bomb of nested aliases reaches it at once. */
const MOST_EXPANDED = 20_000;

export interface ConfigTree {
  value: unknown;
  problems: TextProblem[];
  /** Where the value at a path was written, or its key. For an absent one: the key of the nearest enclosing mapping. */
  locate(path: Path, part: 'key' | 'value'): Span;
}

interface Origin {
  key?: Span;
  value: Span;
}

interface Converted {
  value: unknown;
  /** Values inside, aliases expanded. */
  size: number;
}

/** @param document as composed with `merge: true` and `uniqueKeys: false`. */
export function readConfigTree(document: Document, lines: LineIndex): ConfigTree {
  const reader = new TreeReader(lines);
  const contents = document.contents as Node | null;
  const { value } = reader.convert(contents, [0, 0]);
  return {
    value,
    problems: reader.problems,
    locate: (path, part) => reader.locate(value, contents, path, part),
  };
}

class TreeReader {
  readonly problems: TextProblem[] = [];
  readonly #lines: LineIndex;
  readonly #origins = new WeakMap<object, Map<string | number, Origin>>();
  readonly #anchors = new Map<string, Node>();
  readonly #done = new Map<Node, Converted>();
  readonly #open = new Set<Node>();
  #expanded = 0;

  constructor(lines: LineIndex) {
    this.#lines = lines;
  }

  #fail(code: string, message: string, [start, end]: Span): Converted {
    const exact = code === 'duplicate-key';
    this.problems.push({ severity: 'error', code, message, start, end, ...(exact && { exact }) });
    return { value: undefined, size: 1 };
  }

  /** A value of `undefined` means that its problem has been told. */
  convert(node: unknown, enclosing: Span): Converted {
    const at = span(node) ?? enclosing;
    if (isAlias(node)) return this.#alias(node.source, at);
    if (!isMap(node) && !isSeq(node)) return { value: isScalar(node) ? this.#scalar(node, at) : null, size: 1 };
    if (node.anchor) this.#anchors.set(node.anchor, node);
    this.#open.add(node);
    const converted = isMap(node) ? this.#mapping(node.items, at) : this.#sequence(node.items, at);
    this.#open.delete(node);
    this.#done.set(node, converted);
    return converted;
  }

  #scalar(node: { anchor?: string; value: unknown } & Node, at: Span): unknown {
    const value = this.#plain(node.value, at);
    if (node.anchor) {
      this.#anchors.set(node.anchor, node);
      this.#done.set(node, { value, size: 1 });
    }
    return value;
  }

  /** Tags make objects of texts (`!!binary`, `!!timestamp`); a config is made of texts, numbers and truth values. */
  #plain(value: unknown, at: Span): unknown {
    if (typeof value === 'symbol') return value.description;
    if (typeof value !== 'object' || value === null) return value;
    const what = value instanceof Uint8Array ? 'binary data' : value instanceof Date ? 'a time stamp' : 'such a value';
    return this.#fail('wrong-value', `${what} has no place in a config; remove the tag before it`, at).value;
  }

  #alias(name: string, at: Span): Converted {
    const target = this.#anchors.get(name);
    if (!target) return this.#fail('unknown-alias', `no anchor "&${name}" stands before this alias`, at);
    if (this.#open.has(target)) return this.#fail('recursive-alias', `"*${name}" lies inside its own anchor`, at);
    const converted = this.#done.get(target) as Converted;
    const before = this.#expanded;
    this.#expanded += converted.size;
    if (this.#expanded <= MOST_EXPANDED) return converted;
    if (before > MOST_EXPANDED) return { value: undefined, size: 1 }; // one sentence is enough for a bomb
    const most = MOST_EXPANDED.toLocaleString('en');
    return this.#fail('alias-expansion', `with this alias, aliases stand for more than ${most} values`, at);
  }

  #sequence(items: unknown[], at: Span): Converted {
    const value: unknown[] = [];
    const places = new Map<string | number, Origin>();
    let size = 1;
    for (const item of items) {
      // `[a: 1]` is YAML for a list of one small mapping.
      const inner = isPair(item) ? this.#mapping([item], at) : this.convert(item, at);
      places.set(value.length, { value: span(isPair(item) ? item.key : item) ?? at });
      value.push(inner.value);
      size += inner.size;
    }
    this.#origins.set(value, places);
    return { value, size };
  }

  #mapping(items: Pair[], enclosing: Span): Converted {
    const value: Record<string, unknown> = {};
    const places = new Map<string | number, Origin>();
    const merges: unknown[] = [];
    let size = 1;
    for (const { key, value: node } of items) {
      const at = span(key) ?? span(node) ?? enclosing;
      const inner = this.convert(node, at);
      if (isScalar(key) && typeof key.value === 'symbol') {
        size += inner.size;
        const sources = Array.isArray(inner.value) ? inner.value : [inner.value];
        if (sources.some((source) => source === null || typeof source !== 'object' || Array.isArray(source)))
          this.#fail('yaml-merge', '"<<" takes an alias of a mapping, or a list of such', at);
        else merges.push(...sources);
        continue;
      }
      if (!isScalar(key) || key.value === null) {
        this.#fail('yaml-syntax', key && !isScalar(key) ? 'a key must be a plain name' : 'a key is missing here', at);
        continue;
      }
      this.#scalar(key as typeof key & { anchor?: string }, at);
      const name = String(key.value);
      const earlier = places.get(name);
      if (earlier?.key) {
        const { line } = this.#lines.position(earlier.key[0]);
        this.#fail('duplicate-key', `"${name}" is given twice; the first is on line ${line}`, at);
        continue;
      }
      size += inner.size;
      define(value, name, inner.value);
      places.set(name, { key: at, value: span(node) ?? at });
    }
    for (const source of merges) this.#merge(value, places, source as Record<string, unknown>);
    this.#origins.set(value, places);
    return { value, size };
  }

  /** Keys of a merged mapping count where the mapping itself does not have them. */
  #merge(value: Record<string, unknown>, places: Map<string | number, Origin>, source: Record<string, unknown>): void {
    for (const [name, inner] of Object.entries(source)) {
      if (places.has(name)) continue;
      define(value, name, inner);
      const origin = this.#origins.get(source)?.get(name);
      if (origin) places.set(name, origin);
    }
  }

  locate(root: unknown, contents: Node | null, path: Path, part: 'key' | 'value'): Span {
    let value = root;
    let enclosing = firstKey(contents) ?? span(contents) ?? [0, 0];
    if (path.length === 0) return part === 'key' ? enclosing : (span(contents) ?? [0, 0]);
    for (const [index, step] of path.entries()) {
      const origin =
        value !== null && typeof value === 'object'
          ? this.#origins.get(value)?.get(Array.isArray(value) ? Number(step) : String(step))
          : undefined;
      if (!origin) return enclosing;
      if (index === path.length - 1) return part === 'key' && origin.key ? origin.key : origin.value;
      enclosing = origin.key ?? origin.value;
      value = (value as Record<string, unknown>)[step];
    }
    return enclosing;
  }
}

/** Like assignment, but `__proto__` becomes a key like any other. */
function define(object: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

function firstKey(node: Node | null): Span | undefined {
  return isMap(node) ? span(node.items[0]?.key) : undefined;
}

/** Offsets of a node's text, without the white space that follows it; undefined for an empty one. */
function span(node: unknown): Span | undefined {
  const range = (node as Node | null | undefined)?.range;
  return range && range[1] > range[0] ? [range[0], range[1]] : undefined;
}
