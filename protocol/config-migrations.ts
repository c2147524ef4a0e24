/** Keys as drafts of this format, and other trainers' configs, write them. */
import { knownKeys } from './config-keys.ts';
import type { Path } from './config-tree.ts';

/** Names that are not used here, by the path they stand at. */
const RENAMED: Record<string, string> = {
  'planner.model': 'checkpoint',
  'rl.clip.epsilonLow': 'low',
  'rl.clip.epsilonHigh': 'high',
  'rl.importanceClip': 'importanceCap',
  'rl.groupSize': 'attemptsPerGroup',
  'sft.lr': 'learningRate',
  'rl.lr': 'learningRate',
};

/** The present name of a key: one of another name, or one that is written with underscores. */
export function presentName(name: string, parent: Path): string | undefined {
  const path = [...parent, name].join('.');
  const renamed = Object.hasOwn(RENAMED, path) ? RENAMED[path] : undefined;
  const present = renamed ?? (name.includes('_') ? camelCase(name) : undefined);
  return present !== undefined && present !== name && knownKeys(parent).includes(present) ? present : undefined;
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
