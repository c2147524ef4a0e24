/** Changes that mend a problem of a config, as paths and values; whoever has the text turns them into edits. */
import type { Path } from './config-tree.ts';

/** `safe` ones keep the meaning of everything else. */
export type ConfigFix = {
  title: string;
  safe: boolean;
} /** `without`: keys that mean nothing beside the new value, taken away where they are written. */ & (
  | { set: Path; value: string | number | boolean | null; without?: Path[] }
  | { remove: Path }
  | { rename: Path; to: string }
  /** A space behind the first colon of a key, or of a value, that is a plain word such as `rounds:2`. */
  | { space: Path; part: 'key' | 'value' }
  /** Text at offsets of the file. */
  | { start: number; end: number; text: string }
  /** A line at the top level. */
  | { insert: string }
);
