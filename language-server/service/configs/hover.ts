/** What a key means, its default and its source. */
import type { Hover, Position } from '../contract.ts';
import type { ConfigText } from './config-text.ts';
import { describeKey, keyAt } from './key-text.ts';
import { entryUnder } from './tree.ts';

/** Undefined beside the keys and values of the schema. Never throws. */
export function configHover(config: ConfigText, position: Position): Hover | undefined {
  const found = entryUnder(config.reading.document?.contents, config.offset(position));
  if (!found) return undefined;
  const { entry, part } = found;
  const key = keyAt(entry.path);
  const range = (part === 'key' ? entry.key : entry.value)?.range;
  if (!key || !range || (part === 'value' && key.section)) return undefined;
  const preset = config.reading.written?.preset;
  return {
    contents: describeKey(key, typeof preset === 'string' ? preset : undefined),
    range: config.range(range[0], range[1]),
  };
}
