/** Where names lead: the adapter and the checkpoint a path names, the anchor of an alias. */
import { type Alias, isAlias, isScalar, type Node, visit } from 'yaml';
import { isAdapterPath } from '../config-references.ts';
import type { Position } from '../contract.ts';
import type { ConfigText } from './config-text.ts';
import type { Definition } from './shapes.ts';
import { entryUnder } from './tree.ts';

/** Paths are as written, relative to the config's folder; whether they exist is for the caller to see. */
export function configDefinition(config: ConfigText, position: Position): Definition | undefined {
  const found = entryUnder(config.reading.document?.contents, config.offset(position));
  const value = found?.entry.value;
  if (found?.part !== 'value' || !value?.range) return undefined;
  const origin = config.range(value.range[0], value.range[1]);
  if (isAlias(value)) {
    const anchor = anchorOf(value, config);
    return anchor?.range ? { origin, range: config.range(anchor.range[0], anchor.range[1]) } : undefined;
  }
  if (!isScalar(value) || typeof value.value !== 'string') return undefined;
  const path = found.entry.path.join('.');
  if (path === 'harness.adapter' && isAdapterPath(value.value)) return { origin, path: value.value };
  if (path === 'planner.checkpoint') return { origin, path: `${value.value}/config.json` };
  return undefined;
}

/** The last node of that anchor before the alias, as YAML has it. */
function anchorOf(alias: Alias, config: ConfigText): Node | undefined {
  let found: Node | undefined;
  const before = alias.range?.[0] ?? 0;
  visit(config.reading.document as NonNullable<typeof config.reading.document>, {
    Value(_key, node) {
      if ('anchor' in node && node.anchor === alias.source && (node.range?.[0] ?? 0) < before) found = node as Node;
    },
  });
  return found;
}
