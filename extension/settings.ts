/** The user's settings, with their types. */
import { type ConfigurationChangeEvent, type Uri, workspace } from 'vscode';
import { SECTION, SETTINGS } from './ids.ts';

function value<T>(name: string, otherwise: T, file?: Uri): T {
  return workspace.getConfiguration(SECTION, file).get<T>(name) ?? otherwise;
}

/** Program that runs trainings and checks in place of the editor's own Node; undefined for that. */
export function nodePath(): string | undefined {
  return value(SETTINGS.nodePath, '').trim() || undefined;
}

/** Whether an adapter is run on its recorded outputs whenever it is saved. */
export function checksOnSave(adapter: Uri): boolean {
  return value(SETTINGS.checkOnSave, true, adapter);
}

/** Patterns of folders that episodes left, relative to the workspace folder. */
export function adapterOutputs(adapter: Uri): string[] {
  return value<string[]>(SETTINGS.adapterOutputs, [], adapter);
}

/** Whether the language server reads a changed setting only when it starts. */
export function affectsLanguageServer(change: ConfigurationChangeEvent): boolean {
  return change.affectsConfiguration(`${SECTION}.${SETTINGS.nodePath}`);
}
