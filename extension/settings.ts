/** The user's settings, with their types. */
import { type ConfigurationChangeEvent, workspace } from 'vscode';
import { SECTION, SETTINGS } from './ids.ts';

function value<T>(name: string, otherwise: T): T {
  return workspace.getConfiguration(SECTION).get<T>(name) ?? otherwise;
}

/** Program that runs trainings and checks in place of the editor's own Node; undefined for that. */
export function nodePath(): string | undefined {
  return value(SETTINGS.nodePath, '').trim() || undefined;
}

/** Whether the language server reads a changed setting only when it starts. */
export function affectsLanguageServer(change: ConfigurationChangeEvent): boolean {
  return change.affectsConfiguration(`${SECTION}.${SETTINGS.nodePath}`);
}
