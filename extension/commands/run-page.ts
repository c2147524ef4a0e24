/** Opening the page of a run. */
import { l10n, type QuickPickItem, Uri, workspace } from 'vscode';
import { exists } from '../creating/places.ts';
import type { Folder, Folders } from '../folders.ts';
import { pick } from '../picking.ts';
import { chooseRun, runOf, startDaemons } from './choosing.ts';
import { noRuns } from './missing.ts';
import type { Surroundings } from './table.ts';

/** Shows the page of the run called from, the only one, or the one that is picked. */
export async function openRunPage({ folders, pages }: Surroundings, argument?: unknown): Promise<void> {
  const title = l10n.t('Open Run Page');
  if (workspace.isTrusted && !runOf(argument)) await startDaemons(folders.all);
  const chosen = workspace.isTrusted
    ? await chooseRun(argument, folders, () => true, title, l10n.t('there is no such run'))
    : await chooseRecorded(folders, title);
  if (chosen) await pages.open(chosen.folder, chosen.run);
}

/** The only run in the folders' `runs`, or the one that is picked; found by looking, without a daemon. */
async function chooseRecorded(folders: Folders, title: string): Promise<{ folder: Folder; run: string } | undefined> {
  const items: (QuickPickItem & { folder: Folder; run: string })[] = [];
  for (const folder of folders.all) {
    const runs = Uri.joinPath(folder.place.uri, 'runs');
    if (!(await exists(runs))) continue;
    for (const [name] of await workspace.fs.readDirectory(runs))
      if (await exists(Uri.joinPath(runs, name, 'run.json')))
        items.push({ label: `runs/${name}`, description: folder.place.name, folder, run: `runs/${name}` });
  }
  if (items.length === 0) throw noRuns();
  return items.length === 1 ? items[0] : pick(items, { title, placeHolder: l10n.t('Which run?') });
}
