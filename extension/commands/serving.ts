/** Serving checkpoints to programs on this machine, and making one the workspace's planner. */
import { env, l10n } from 'vscode';
import type { Served } from '../../protocol/daemon.ts';
import type { Folder, Folders } from '../folders.ts';
import { tell, withProgress } from '../messages.ts';
import { pick } from '../picking.ts';
import type { PolicyNode } from '../policies/tree.ts';
import { servedName } from '../policies/words.ts';
import { mayExecute } from '../trust.ts';
import { chooseCheckpoint } from './checkpoint.ts';
import { Missing, ways } from './missing.ts';
import type { Surroundings } from './table.ts';

/** Serves a checkpoint until Stop Serving or the end of the daemon, and shows its address. */
export async function serveCheckpoint({ folders }: Surroundings, argument?: unknown): Promise<void> {
  if (!mayExecute()) return;
  const chosen = await chooseCheckpoint(argument, folders, l10n.t('Serve Checkpoint'));
  if (!chosen) return;
  const { folder, checkpoint } = chosen;
  await tellServed(await loading(folder, checkpoint, () => folder.client.request('serving.start', { checkpoint })));
}

/** Serves a policy as the workspace's planner, in place of the one before. */
export async function activatePolicy({ folders }: Surroundings, argument?: unknown): Promise<void> {
  if (!mayExecute()) return;
  const chosen = await chooseCheckpoint(argument, folders, l10n.t('Activate Policy'), { policiesOnly: true });
  if (!chosen?.policy) return;
  const { folder, checkpoint, policy } = chosen;
  const params = { run: policy.run, policyVersion: policy.version };
  await tellServed(await loading(folder, checkpoint, () => folder.client.request('policies.activate', params)));
}

/** Ends the serving of the item called from, the only one, or the one that is picked. */
export async function stopServing({ folders }: Surroundings, argument?: unknown): Promise<void> {
  const chosen = await chooseServed(argument, folders, l10n.t('Stop Serving'));
  if (!chosen) return;
  await chosen.folder.client.request('serving.stop', { checkpoint: chosen.served.checkpoint });
}

/** Shows the address of a served planner again, with what copies it. */
export async function showAddress({ folders }: Surroundings, argument?: unknown): Promise<void> {
  const chosen = await chooseServed(argument, folders, l10n.t('Show Address'));
  if (chosen) await tellServed(chosen.served);
}

async function loading<T>({ client }: Folder, checkpoint: string, work: () => Promise<T>): Promise<T> {
  const title = l10n.t('Loading {0}', checkpoint);
  return withProgress({ title }, async () => {
    await client.start();
    return work();
  });
}

/** The key goes to the clipboard when it is asked for, and is shown nowhere. */
async function tellServed(served: Served): Promise<void> {
  const copyAddress = l10n.t('Copy Address');
  const copyKey = l10n.t('Copy Key');
  const words = l10n.t('{0} is served at {1} as model "{2}".', servedName(served), served.url, served.model);
  const text = [words, ...served.warnings].join(' ');
  const chosen = await tell(text, copyAddress, copyKey);
  if (chosen === copyAddress) await env.clipboard.writeText(served.url);
  else if (chosen === copyKey) await env.clipboard.writeText(served.apiKey);
}

async function chooseServed(argument: unknown, folders: Folders, title: string) {
  const node = argument as PolicyNode | undefined;
  if (node?.kind === 'served') return node;
  const items = folders.all.flatMap((folder) =>
    folder.served.all.map((served) => ({ label: servedName(served), description: served.url, folder, served })),
  );
  if (items.length === 0) throw new Missing(l10n.t('no planner is served'), [ways.serveCheckpoint()]);
  return items.length === 1 ? items[0] : pick(items, { title, placeHolder: l10n.t('Which planner?') });
}
