/** Finds nodes of a config's tree by path or by offset, on broken text, too. Does not follow aliases. */
import { isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import type { Path } from '../../../protocol/config-tree.ts';

/** A key with its value, or an item of a list. */
export interface Entry {
  path: Path;
  parent: Node;
  /** Place among the parent's items. */
  index: number;
  /** Absent for items of a list. */
  key?: Node;
  value?: Node;
}

/** The entries of a mapping or a list, in the order of the text. Keys that are no plain names are left out. */
export function entriesOf(node: unknown, path: Path): Entry[] {
  if (isMap(node))
    return node.items.flatMap((pair: Pair, index): Entry[] => {
      if (!isScalar(pair.key)) return [];
      const { value: name } = pair.key;
      const step = typeof name === 'symbol' ? (name.description ?? '') : String(name);
      return [{ path: [...path, step], parent: node, index, key: pair.key, value: nodeOf(pair.value) }];
    });
  if (isSeq(node))
    return node.items.map((item, index) => ({ path: [...path, index], parent: node, index, value: nodeOf(item) }));
  return [];
}

function nodeOf(value: unknown): Node | undefined {
  return value === null || value === undefined ? undefined : (value as Node);
}

/** The entry at a path; the first one where a key is given twice. */
export function entryAt(root: unknown, path: Path): Entry | undefined {
  let node: unknown = root;
  let found: Entry | undefined;
  for (const [depth, step] of path.entries()) {
    found = entriesOf(node, path.slice(0, depth)).find((entry) => String(entry.path.at(-1)) === String(step));
    if (!found) return undefined;
    node = found.value;
  }
  return found;
}

/** The deepest entry whose key or value holds an offset, and which of the two. */
export function entryUnder(root: unknown, offset: number): { entry: Entry; part: 'key' | 'value' } | undefined {
  let node: unknown = root;
  let path: Path = [];
  let found: { entry: Entry; part: 'key' | 'value' } | undefined;
  for (;;) {
    const inside = entriesOf(node, path).find((entry) => holds(entry.key, offset) || holds(entry.value, offset));
    if (!inside) return found;
    found = { entry: inside, part: holds(inside.key, offset) ? 'key' : 'value' };
    if (found.part === 'key') return found;
    node = inside.value;
    path = inside.path;
  }
}

function holds(node: Node | undefined, offset: number): boolean {
  const range = node?.range;
  return range !== undefined && range !== null && range[0] <= offset && offset <= range[1];
}
