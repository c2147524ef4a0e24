/** The daemon itself: restarting and ending it, and its log. */
import { l10n, Uri, window } from 'vscode';
import { exists } from '../creating/places.ts';
import { placesFor } from '../daemon/record.ts';
import { DaemonError } from '../daemon/rpc.ts';
import type { Folder } from '../folders.ts';
import { confirmed } from '../messages.ts';
import { mayExecute } from '../trust.ts';
import { Missing, noFolder } from './missing.ts';
import type { Surroundings } from './table.ts';

export async function restartDaemon({ folders }: Surroundings): Promise<void> {
  const folder = activeOf(folders);
  if (!mayExecute()) return;
  if (await ended(folder)) await folder.client.start();
}

export async function stopDaemon({ folders }: Surroundings): Promise<void> {
  await ended(activeOf(folders));
}

export async function showDaemonLog({ folders }: Surroundings): Promise<void> {
  const folder = activeOf(folders);
  const log = Uri.file((await placesFor(folder.place.uri.fsPath)).log);
  if (!(await exists(log))) throw new Missing(l10n.t('no daemon has run in this workspace yet'));
  await window.showTextDocument(log, { preview: true });
}

function activeOf({ active }: Surroundings['folders']): Folder {
  if (!active) throw noFolder();
  return active;
}

/** Ends the daemon; asks first where a run is at work. */
async function ended({ client }: Folder): Promise<boolean> {
  try {
    await client.stop('idle');
    return true;
  } catch (error) {
    if (!(error instanceof DaemonError) || error.kind !== 'busy') throw error;
  }
  const stop = l10n.t('Stop the Run');
  const asked = l10n.t('A run is at work. It can be resumed afterwards; running episodes are played again.');
  if (!(await confirmed(asked, stop))) return false;
  await client.stop('now');
  return true;
}
