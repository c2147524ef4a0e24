/** What a command is about, from where it was called or by asking. */
import { l10n, type QuickPickItem, Uri, window, workspace } from 'vscode';
import type { RunSummary } from '../../protocol/daemon.ts';
import type { Folder, Folders } from '../folders.ts';
import { CONFIG_FILES } from '../ids.ts';
import { isAdapterName, isConfigName } from '../language/documents.ts';
import { pick } from '../picking.ts';
import type { Node } from '../runs/items.ts';
import { runWords } from '../runs/words.ts';
import { Missing, noFolder, noRuns, ways } from './missing.ts';

const MOST_CONFIGS = 200;

/** A file that a menu (a URI) or a lens (a URI's text) names. */
export function fileOf(argument: unknown): Uri | undefined {
  if (argument instanceof Uri) return argument;
  return typeof argument === 'string' && argument.startsWith('file:') ? Uri.parse(argument) : undefined;
}

/** The run of a tree item. */
export function runOf(argument: unknown): { folder: Folder; run: string } | undefined {
  const node = argument as Node | undefined;
  return node?.kind === 'run' ? node : undefined;
}

/** Starts the daemons of folders, and has their runs listed. @throws Missing where there is no folder. */
export async function startDaemons(folders: readonly Folder[]): Promise<void> {
  if (folders.length === 0) throw noFolder();
  await Promise.all(folders.map(({ client, runs }) => client.start().then(() => runs.reload())));
}

/** The config to train: the one called from, the only one, or the one that is picked; the open one stands first. */
export async function chooseConfig(argument: unknown, title: string): Promise<Uri | undefined> {
  const named = fileOf(argument);
  if (named && isConfigName(named.path)) return named;
  let configs = await workspace.findFiles(CONFIG_FILES, '**/{node_modules,runs}/**', MOST_CONFIGS);
  if (named && isAdapterName(named.path)) {
    // Those that name this adapter, where there are any.
    const texts = await Promise.all(configs.map(async (uri) => (await workspace.openTextDocument(uri)).getText()));
    const name = named.path.slice(named.path.lastIndexOf('/') + 1);
    const users = configs.filter((_, index) => texts[index].includes(name));
    if (users.length > 0) configs = users;
  }
  const open = window.activeTextEditor?.document.uri.toString();
  configs.sort((a, b) => Number(b.toString() === open) - Number(a.toString() === open) || a.path.localeCompare(b.path));
  if (!workspace.workspaceFolders?.length) throw noFolder();
  if (configs.length === 0)
    throw new Missing(l10n.t('there is no training config (*.training.yaml) yet'), [ways.newConfig()]);
  if (configs.length === 1) return configs[0];
  const items = configs.map((uri) => ({ label: workspace.asRelativePath(uri), uri }));
  return (await pick(items, { title, placeHolder: l10n.t('Which config?') }))?.uri;
}

/**
 * A run that fits: the one of the tree item called from, the only one, or the one that is picked.
 * @param none said where there are runs, but none that fits.
 */
export async function chooseRun(
  argument: unknown,
  folders: Folders,
  fits: (summary: RunSummary) => boolean,
  title: string,
  none: string,
): Promise<{ folder: Folder; run: string } | undefined> {
  const named = runOf(argument);
  if (named) return named;
  const items = folders.all.flatMap((folder) =>
    folder.runs.all.filter(fits).map((summary): QuickPickItem & { folder: Folder; run: string } => ({
      label: summary.run,
      description: runWords(summary),
      folder,
      run: summary.run,
    })),
  );
  if (items.length === 0) throw folders.all.some(({ runs }) => runs.all.length > 0) ? new Missing(none) : noRuns();
  return items.length === 1 ? items[0] : pick(items, { title, placeHolder: l10n.t('Which run?') });
}
