/** Opening the page of a run. */
import { l10n } from 'vscode';
import { mayExecute } from '../trust.ts';
import { chooseRun } from './choosing.ts';
import type { Surroundings } from './table.ts';

/** Shows the page of the run called from, the only one, or the one that is picked. */
export async function openRunPage({ folders, pages }: Surroundings, argument?: unknown): Promise<void> {
  if (!mayExecute()) return;
  await Promise.all(folders.all.map(({ client, runs }) => client.start().then(() => runs.reload())));
  const chosen = await chooseRun(argument, folders, () => true, l10n.t('Open Run Page'));
  if (chosen) await pages.open(chosen.folder, chosen.run);
}
