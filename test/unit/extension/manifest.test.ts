/** package.json and the extension's sources say the same: ids, texts, files. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as ids from '../../../extension/ids.ts';
import { launchSchema } from '../../../extension/replay/debug/launch.ts';
import { TASK_COMMANDS } from '../../../extension/tasks/definition.ts';
import { CHECK_RESULTS_METHOD } from '../../../language-server/handlers/check-results.ts';
import { LENS_COMMANDS } from '../../../language-server/service/adapters/lenses.ts';
import { formatFinding } from '../../../protocol/finding.ts';
import { HEAT_LEVELS, TRANSCRIPT_SCHEME, transcriptUri } from '../../../recordings/replay/index.ts';

const root = resolve(import.meta.dirname, '../../..');
const manifestText = readFileSync(join(root, 'package.json'), 'utf8');
const manifest = JSON.parse(manifestText);
const { contributes } = manifest;
const json = (file: string): Record<string, string> => JSON.parse(readFileSync(join(root, file), 'utf8'));

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(root, folder, file), 'utf8'));
}

describe('ids', () => {
  it('of commands are those of the manifest', () => {
    const declared = contributes.commands.map(({ command }: { command: string }) => command);
    expect(declared.toSorted()).toEqual(Object.values(ids.COMMANDS).toSorted());
  });

  it('of settings are those of the manifest', () => {
    expect(Object.keys(contributes.configuration.properties).toSorted()).toEqual(
      Object.values(ids.SETTINGS)
        .map((name) => `${ids.SECTION}.${name}`)
        .toSorted(),
    );
  });

  it('of the language and its activation are those of the manifest', () => {
    expect(contributes.languages.map(({ id }: { id: string }) => id)).toEqual([
      ids.CONFIG_LANGUAGE,
      ids.TRANSCRIPT_LANGUAGE,
    ]);
    expect(Object.keys(contributes.configurationDefaults)).toContain(`[${ids.TRANSCRIPT_LANGUAGE}]`);
    for (const scheme of [ids.IMAGE_SCHEME, TRANSCRIPT_SCHEME])
      expect(manifest.activationEvents).toContain(`onFileSystem:${scheme}`);
    expect(manifest.activationEvents).toContain(`onLanguage:${ids.CONFIG_LANGUAGE}`);
    expect(manifest.activationEvents).toContain(`workspaceContains:${ids.CONFIG_FILES}`);
    for (const panel of Object.values(ids.PANELS))
      expect(manifest.activationEvents).toContain(`onWebviewPanel:${panel}`);
  });

  it('of views, conditions, tasks and walkthrough are those of the manifest', () => {
    expect(contributes.viewsContainers.activitybar.map(({ id }: { id: string }) => id)).toEqual([ids.VIEW_CONTAINER]);
    expect(contributes.views[ids.VIEW_CONTAINER].map(({ id }: { id: string }) => id)).toEqual(Object.values(ids.VIEWS));
    expect(contributes.walkthroughs.map(({ id }: { id: string }) => id)).toEqual([ids.WALKTHROUGH]);
    const [task] = contributes.taskDefinitions;
    expect([task.type, task.properties.command.enum]).toEqual([ids.TASK_TYPE, [...TASK_COMMANDS]]);
    expect(contributes.problemMatchers.map(({ name }: { name: string }) => name)).toEqual([ids.PROBLEM_MATCHER]);
    for (const [, condition] of manifestText.matchAll(/"(?:when|enablement)": "([^"]+)"/g)) {
      const named = [...condition.matchAll(/agenticRoboRL\.\w+/g)].map(([name]) => name);
      for (const name of named)
        expect([...Object.values<string>(ids.VIEWS), ...Object.values<string>(ids.CONTEXTS)]).toContain(name);
    }
    for (const [, state] of manifestText.matchAll(/viewItem == (run-\w+)/g)) expect(state).toMatch(/^run-(?:running)$/);
    expect(ids.RUN_ITEM).toBe('run-');
    const ofPolicies = [...manifestText.matchAll(/view == agenticRoboRL\.policies && viewItem == ([\w-]+)/g)];
    expect(ofPolicies.length).toBeGreaterThan(0);
    for (const [, item] of manifestText.matchAll(/view == agenticRoboRL\.adapters && viewItem == ([\w-]+)/g))
      expect(item).toBe(ids.ADAPTER_ITEM);
    for (const [, item] of ofPolicies) expect(Object.values<string>(ids.POLICY_ITEMS)).toContain(item);
  });

  it('of debug sessions are those of the manifest', () => {
    expect(contributes.debuggers.map(({ type }: { type: string }) => type)).toEqual([ids.DEBUG_TYPE]);
    expect(manifest.activationEvents).toEqual(expect.arrayContaining([`onDebugResolve:${ids.DEBUG_TYPE}`, 'onUri']));
    const { required, properties } = contributes.debuggers[0].configurationAttributes.launch;
    const known = Object.keys(launchSchema.shape);
    expect(Object.keys(properties).toSorted()).toEqual(known.toSorted());
    for (const name of required) expect(launchSchema.shape[name as 'run'].isOptional()).toBe(false);
  });

  it('of colours are those of the manifest, each told for every kind of theme', () => {
    const { token, ...others } = ids.COLORS;
    const tokens = Object.values(token).flatMap(({ background, border }) => [background, border]);
    const declared = contributes.colors.map(({ id }: { id: string }) => id);
    expect(declared.toSorted()).toEqual([...Object.values(others), ...tokens].toSorted());
    expect(Object.keys(token)).toEqual([...HEAT_LEVELS]);
    for (const { description, defaults } of contributes.colors) {
      expect(description).toMatch(/^%.+%$/);
      expect(Object.keys(defaults).toSorted()).toEqual(['dark', 'highContrast', 'highContrastLight', 'light']);
    }
  });

  it('of texts of replay are those of the language and the address', () => {
    const [, { id, extensions }] = contributes.languages;
    expect([id, extensions]).toEqual([ids.TRANSCRIPT_LANGUAGE, ['.episode']]);
    const uri = transcriptUri({ directory: '/r', section: 'teacher', episode: 'e' });
    expect(uri).toMatch(/^planner-episode:\/[^?]*\.episode\?/);
    for (const [, scheme] of manifestText.matchAll(/resourceScheme == ([\w-]+)/g))
      expect(scheme).toBe(TRANSCRIPT_SCHEME);
    for (const [, item] of manifestText.matchAll(/view == agenticRoboRL\.runs && viewItem == ((?!run-)[\w-]+)/g))
      expect(item).toBe(ids.EPISODE_ITEM);
    for (const { command } of contributes.keybindings) expect(Object.values<string>(ids.COMMANDS)).toContain(command);
  });

  it('in menus and texts are commands that exist', () => {
    const known = new Set<string>([...Object.values(ids.COMMANDS), `${ids.VIEWS.runs}.focus`]);
    for (const items of Object.values<{ command: string }[]>(contributes.menus))
      for (const { command } of items) expect(known).toContain(command);
    for (const text of Object.values(json('package.nls.json')))
      for (const [, command] of text.matchAll(/\(command:(agenticRoboRL[\w.]+)\)/g)) expect(known).toContain(command);
    for (const { completionEvents } of contributes.walkthroughs[0].steps)
      for (const event of completionEvents)
        expect([...known, ids.VIEWS.runs]).toContain(event.replace(/^on(?:Command|View):/, ''));
    // The language server names commands in its lenses; those that there are carry its names.
    expect([LENS_COMMANDS.train, LENS_COMMANDS.check]).toEqual([ids.COMMANDS.train, ids.COMMANDS.checkAdapter]);
    expect(CHECK_RESULTS_METHOD).toBe(ids.CHECK_RESULTS_REQUEST);
  });

  it('of the problem matcher: it reads what the command line prints', () => {
    const { regexp, ...groups } = contributes.problemMatchers[0].pattern;
    const line = formatFinding({
      ...{ code: 'unknown-key', severity: 'error', message: 'unknown key "a" [b]', file: '/a b/c.training.yaml' },
      ...{ line: 3, column: 5, endLine: 3, endColumn: 6 },
    });
    const match = new RegExp(regexp).exec(line) ?? [];
    const read = Object.fromEntries(Object.entries<number>(groups).map(([name, at]) => [name, match[at]]));
    expect(read).toEqual({
      ...{ file: '/a b/c.training.yaml', line: '3', column: '5', severity: 'error' },
      ...{ message: 'unknown key "a" [b]', code: 'unknown-key' },
    });
  });

  it('lie in no other source file', () => {
    for (const text of sources('extension').filter((text) => !text.includes('export const COMMANDS')))
      expect([...text.matchAll(/'agenticRoboRL[./][\w.]+'/g)].map(([id]) => id)).toEqual([]);
  });
});

describe('texts', () => {
  const nls = json('package.nls.json');
  const bundle = json('l10n/bundle.l10n.json');

  it('of the manifest are all in package.nls.json, and all in use', () => {
    const used = [...manifestText.matchAll(/"%([^%"]+)%"/g)].map(([, key]) => key);
    expect([...new Set(used)].toSorted()).toEqual(Object.keys(nls).toSorted());
  });

  it('are no plain words where a person reads them', () => {
    for (const command of contributes.commands) expect(command.title).toMatch(/^%.+%$/);
    for (const setting of Object.values<Record<string, string>>(contributes.configuration.properties))
      expect(setting.markdownDescription).toMatch(/^%.+%$/);
  });

  it('of the code are all in l10n/bundle.l10n.json, and all in use', () => {
    const used = sources('extension').flatMap((text) =>
      [...text.matchAll(/l10n\.t\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/g)].map(([, single, double]) =>
        (single ?? double).replaceAll(/\\(.)/g, '$1'),
      ),
    );
    expect([...new Set(used)].toSorted()).toEqual(Object.keys(bundle).toSorted());
    for (const [key, text] of Object.entries(bundle)) expect(text).toBe(key);
    // Every call has its text in place, so that none is missed here.
    const calls = sources('extension').flatMap((text) => text.match(/l10n\.t\(/g) ?? []);
    expect(calls).toHaveLength(used.length);
  });
});

describe('trust and place', () => {
  it('workspace code runs only in trusted workspaces, beside the files', () => {
    expect(manifest.capabilities.untrustedWorkspaces.supported).toBe('limited');
    expect(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations).toContain(
      `${ids.SECTION}.${ids.SETTINGS.nodePath}`,
    );
    expect(contributes.configuration.properties[`${ids.SECTION}.${ids.SETTINGS.nodePath}`].scope).toBe(
      'machine-overridable',
    );
    expect(manifest.extensionKind).toEqual(['workspace']);
  });

  it('files that the manifest points at exist', () => {
    for (const [, path] of manifestText.matchAll(/"\.?\/?(media\/[^"]+)"/g))
      expect(existsSync(join(root, path)), path).toBe(true);
  });
});
