/** Settings of a wrong type: named once, and the default in their place. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';

const written: Record<string, unknown> = {};

vi.mock('vscode', () => ({
  workspace: { getConfiguration: () => ({ get: (name: string) => written[name] }) },
  l10n: { t: (text: string, ...words: string[]) => text.replace(/\{(\d)\}/g, (_, at) => words[Number(at)]) },
}));

const settings = await import('../../../extension/settings.ts');
const { SECTION, SETTINGS } = await import('../../../extension/ids.ts');
const adapter = {} as never;
const heard: string[] = [];
settings.onWrongSetting(({ setting, message }) => heard.push(`${setting}: ${message}`));

beforeEach(() => {
  for (const name of Object.keys(written)) delete written[name];
  heard.length = 0;
});

describe('a setting of a wrong type', () => {
  it('is named once with what it must be, and its default counts', () => {
    written['node.path'] = 5;
    written['adapter.outputs'] = 'recordings/*';
    written['adapter.checkOnSave'] = 'no';
    written['replay.tokenHeat'] = { a: 1 };
    for (let time = 0; time < 2; time++) {
      expect(settings.nodePath()).toBeUndefined();
      expect(settings.adapterOutputs(adapter)).toEqual([]);
      expect(settings.checksOnSave(adapter)).toBe(true);
      expect(settings.tokenHeat()).toBe('logprob');
    }
    expect(heard).toEqual([
      'agenticRoboRL.node.path: The setting agenticRoboRL.node.path is 5, but must be a text; until then it counts as "".',
      expect.stringContaining('is "recordings/*", but must be a list of texts, as in ["recordings/*"]; until then'),
      expect.stringContaining('is "no", but must be true or false; until then it counts as true.'),
      expect.stringContaining('is {"a":1}, but must be one of "off", "logprob", "ratio"'),
    ]);
    written['node.path'] = ['node'];
    expect(settings.nodePath()).toBeUndefined();
    expect(heard).toHaveLength(5);
  });

  it('is heard of whichever it is, also of those that only the language client reads', () => {
    for (const name of Object.values(SETTINGS)) written[name] = 7;
    settings.checkSettings();
    expect(heard.map((words) => words.split(':')[0])).toEqual(
      Object.values(SETTINGS).map((name) => `${SECTION}.${name}`),
    );
  });

  it('in a list makes the list wrong', () => {
    written['adapter.outputs'] = ['recordings/*', 3];
    expect(settings.adapterOutputs(adapter)).toEqual([]);
    expect(heard).toHaveLength(1);
  });
});

it('settings that are right, or not written, are taken without a word', () => {
  settings.checkSettings();
  Object.assign(written, { 'node.path': ' /a/node ', 'adapter.outputs': ['a/*'], 'adapter.checkOnSave': false });
  Object.assign(written, { 'replay.tokenHeat': 'ratio', 'trace.server': 'verbose' });
  settings.checkSettings();
  expect(heard).toEqual([]);
  expect([settings.nodePath(), settings.adapterOutputs(adapter)]).toEqual(['/a/node', ['a/*']]);
  expect([settings.checksOnSave(adapter), settings.tokenHeat()]).toEqual([false, 'ratio']);
});

it('defaults and choices are those of the manifest', () => {
  const manifest = JSON.parse(readFileSync(join(resolve(import.meta.dirname, '../../..'), 'package.json'), 'utf8'));
  const { properties } = manifest.contributes.configuration;
  for (const name of Object.values(SETTINGS)) {
    // No other setting of a test was this one.
    written[name] = { of: 'the manifest' };
    settings.checkSettings();
    const words = heard.pop() ?? '';
    const { default: otherwise, enum: choices } = properties[`${SECTION}.${name}`];
    expect(words).toContain(`it counts as ${JSON.stringify(otherwise)}.`);
    for (const choice of choices ?? []) expect(words).toContain(JSON.stringify(choice));
    delete written[name];
  }
});
