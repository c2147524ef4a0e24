/** The user's settings, with their types. */
import { type ConfigurationChangeEvent, ConfigurationTarget, type Uri, workspace } from 'vscode';
import { HEATS, type Heat } from '../recordings/replay/index.ts';
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

/** What the colours of tokens in transcripts tell. */
export function tokenHeat(): Heat {
  const written = value<string>(SETTINGS.tokenHeat, 'logprob');
  return HEATS.find((heat) => heat === written) ?? 'logprob';
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
