/**
 * The user's settings, with their types. Each is read here and nowhere else: what is written in a settings file may be of
 * any type, and one of a wrong type counts as not written.
 */
import { type ConfigurationChangeEvent, ConfigurationTarget, type Disposable, l10n, type Uri, workspace } from 'vscode';
import { HEATS, type Heat } from '../recordings/replay/index.ts';
import { SECTION, SETTINGS } from './ids.ts';

export type SettingName = (typeof SETTINGS)[keyof typeof SETTINGS];

/** What a setting may be. */
interface Kind<T> {
  fits(written: unknown): written is T;
  /** What it must be, in words. */
  words(): string;
  otherwise: T;
}

const TRACES = ['off', 'messages', 'verbose'] as const;

const KINDS = {
  [SETTINGS.nodePath]: text(''),
  [SETTINGS.traceServer]: oneOf(TRACES, 'off'),
  [SETTINGS.checkOnSave]: yesOrNo(true),
  [SETTINGS.adapterOutputs]: texts([]),
  [SETTINGS.tokenHeat]: oneOf<Heat>(HEATS, 'logprob'),
} satisfies Record<SettingName, Kind<unknown>>;

type Value<N extends SettingName> = (typeof KINDS)[N] extends Kind<infer T> ? T : never;

/** A setting that is not what it must be. */
export interface WrongSetting {
  /** As in settings files. */
  setting: string;
  /** The setting, what is written, what it must be, and what counts instead. */
  message: string;
}

const listeners = new Set<(wrong: WrongSetting) => void>();
/** What was told of: settings are read often. */
const told = new Set<string>();

function value<N extends SettingName>(name: N, file?: Uri): Value<N> {
  const written: unknown = workspace.getConfiguration(SECTION, file).get(name);
  const { fits, words, otherwise } = KINDS[name] as unknown as Kind<Value<N>>;
  if (written === undefined || written === null) return otherwise;
  if (fits(written)) return written;
  const shown = cut(JSON.stringify(written));
  if (listeners.size > 0 && !told.has(`${name} ${shown}`)) {
    told.add(`${name} ${shown}`);
    const setting = `${SECTION}.${name}`;
    const message = l10n.t(
      'The setting {0} is {1}, but must be {2}; until then it counts as {3}.',
      ...[setting, shown, words(), JSON.stringify(otherwise)],
    );
    for (const listener of listeners) listener({ setting, message });
  }
  return otherwise;
}

/** Hears of each wrong value of a setting once, when it is read. */
export function onWrongSetting(listener: (wrong: WrongSetting) => void): Disposable {
  listeners.add(listener);
  return { dispose: () => listeners.delete(listener) };
}

/** Reads all settings, so that whoever listens hears what is wrong with them before something depends on it. */
export function checkSettings(): void {
  for (const name of Object.values(SETTINGS)) value(name);
}

/** Program that runs trainings and checks in place of the editor's own Node; undefined for that. */
export function nodePath(): string | undefined {
  return value(SETTINGS.nodePath).trim() || undefined;
}

/** Whether an adapter is run on its recorded outputs whenever it is saved. */
export function checksOnSave(adapter: Uri): boolean {
  return value(SETTINGS.checkOnSave, adapter);
}

/** Patterns of folders that episodes left, relative to the workspace folder. */
export function adapterOutputs(adapter: Uri): string[] {
  return value(SETTINGS.adapterOutputs, adapter);
}

/** What the colours of tokens in transcripts tell. */
export function tokenHeat(): Heat {
  return value(SETTINGS.tokenHeat);
}

/** Writes it where it is written now, else for the user. */
export async function setTokenHeat(heat: Heat): Promise<void> {
  const configuration = workspace.getConfiguration(SECTION);
  const inWorkspace = configuration.inspect(SETTINGS.tokenHeat)?.workspaceValue !== undefined;
  const place = inWorkspace ? ConfigurationTarget.Workspace : ConfigurationTarget.Global;
  await configuration.update(SETTINGS.tokenHeat, heat, place);
}

/** Whether the language server reads a changed setting only when it starts. */
export function affectsLanguageServer(change: ConfigurationChangeEvent): boolean {
  return change.affectsConfiguration(`${SECTION}.${SETTINGS.nodePath}`);
}

function text(otherwise: string): Kind<string> {
  return { fits: isText, words: () => l10n.t('a text'), otherwise };
}

function yesOrNo(otherwise: boolean): Kind<boolean> {
  return {
    fits: (written): written is boolean => typeof written === 'boolean',
    words: () => l10n.t('true or false'),
    otherwise,
  };
}

function texts(otherwise: string[]): Kind<string[]> {
  return {
    fits: (written): written is string[] => Array.isArray(written) && written.every(isText),
    words: () => l10n.t('a list of texts, as in ["recordings/*"]'),
    otherwise,
  };
}

function oneOf<T extends string>(choices: readonly T[], otherwise: T): Kind<T> {
  return {
    fits: (written): written is T => choices.some((choice) => choice === written),
    words: () => l10n.t('one of {0}', choices.map((choice) => JSON.stringify(choice)).join(', ')),
    otherwise,
  };
}

function isText(written: unknown): written is string {
  return typeof written === 'string';
}

function cut(json: string): string {
  return json.length > 80 ? `${json.slice(0, 80)}...` : json;
}
