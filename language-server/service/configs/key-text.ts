/** What is said of a key of the config: meaning, what it takes, its default and where that comes from. */
import { presets } from '../../../protocol/config.ts';
import { type ConfigKey, configKeys } from '../../../protocol/config-keys.ts';
import type { Path } from '../../../protocol/config-tree.ts';

let keys: Map<string, ConfigKey> | undefined;

/** The key at a path; undefined for one that configs do not have. Items of lists are their list. */
export function keyAt(path: Path): ConfigKey | undefined {
  keys ??= new Map(configKeys().map((key) => [key.path, key]));
  return keys.get(path.filter((step) => typeof step === 'string').join('.'));
}

/** `0.28 (paper, appendix A)`; undefined for a key without a default. */
export function defaultText(key: ConfigKey, preset?: string): string | undefined {
  const given = preset === undefined ? undefined : presetValue(preset, key.path);
  if (given !== undefined) return `${JSON.stringify(given)} (preset ${preset}; paper, appendix C)`;
  if (key.defaultText === undefined) return undefined;
  return key.source ? `${key.defaultText} (${key.source})` : key.defaultText;
}

/** Markdown for a hover or a completion. */
export function describeKey(key: ConfigKey, preset?: string): string {
  const lines = [`**${key.path}**${key.required ? ' (required)' : ''}`, '', key.meaning];
  if (!key.section) {
    lines.push('', `Takes ${key.takes}${key.unit ? ` (${key.unit})` : ''}.`);
    const standard = defaultText(key, preset);
    if (standard !== undefined) lines.push('', `Default: ${standard}`);
  } else if (key.source) lines.push('', `Source: ${key.source}`);
  return lines.join('\n');
}

function presetValue(preset: string, path: string): unknown {
  if (!Object.hasOwn(presets, preset)) return undefined;
  return path
    .split('.')
    .reduce<unknown>(
      (at, step) =>
        typeof at === 'object' && at !== null && Object.hasOwn(at, step)
          ? (at as Record<string, unknown>)[step]
          : undefined,
      presets[preset as keyof typeof presets],
    );
}
