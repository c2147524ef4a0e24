/** docs/config.md is written from the schema; these hold it in step and complete. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configReference } from '../../../cli/config-reference.ts';
import { configSchema } from '../../../protocol/config.ts';
import { configKeys } from '../../../protocol/config-keys.ts';
import { readConfigText } from '../../../protocol/config-text.ts';
import { packageRoot } from '../../../trainer-daemon/bundles.ts';

describe('docs/config.md', () => {
  it('is what the schema says today (npm run docs)', () => {
    expect(readFileSync(join(packageRoot(), 'docs', 'config.md'), 'utf8')).toBe(configReference());
  });

  it('explains every key: meaning for all, default and source for those that have one', () => {
    const keys = configKeys();
    expect(keys.length).toBeGreaterThan(90);
    expect(keys.filter((key) => key.meaning === '').map((key) => key.path)).toEqual([]);
    const withNumbers = keys.filter(
      (key) => !key.section && key.defaultText !== undefined && /\d/.test(key.defaultText),
    );
    expect(withNumbers.filter((key) => !key.source).map((key) => key.path)).toEqual([]);
  });

  it('gives the defaults that the schema gives', () => {
    const config = configSchema.parse({ version: 1, name: 'x', harness: { adapter: 'a', suites: ['s'] } });
    for (const key of configKeys()) {
      if (key.defaultText === undefined || key.takes.includes('set of states')) continue;
      const value = key.path
        .split('.')
        .reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], config);
      // planner.init is only there when it is asked for.
      if (value !== undefined) expect([key.path, JSON.stringify(value)]).toEqual([key.path, key.defaultText]);
    }
  });

  it('begins with a config that is sound', () => {
    const [, example] = /```yaml\n([\s\S]*?)```/.exec(configReference()) ?? [];
    expect(readConfigText(example).findings).toEqual([]);
  });
});
