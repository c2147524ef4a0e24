/** Which checkpoint a command is about: a policy of a run, or a folder. */
import { l10n, QuickPickItemKind, Uri, window } from 'vscode';
import type { Folder, Folders } from '../folders.ts';
import { type Choice, pick } from '../picking.ts';
import type { PolicyNode } from '../policies/tree.ts';
import { type ListedPolicy, policyDescription, policyName } from '../policies/words.ts';
import { startDaemons } from './choosing.ts';
import { Missing, ways } from './missing.ts';

export interface ChosenCheckpoint {
  folder: Folder;
  /** Absolute path of the checkpoint folder. */
  checkpoint: string;
  /** Where it is a policy of a run. */
  policy?: { run: string; version: number };
}

interface Item extends Choice {
  chosen?: ChosenCheckpoint;
}

/** Runs whose policies are offered; older ones are reached by their folder. */
const MOST_RUNS = 30;

/** The policy of a tree item. */
export function policyOf(argument: unknown): ChosenCheckpoint | undefined {
  const node = argument as PolicyNode | undefined;
  return node?.kind === 'policy' ? chosenOf(node.folder, node.run, node.listed) : undefined;
}

/**
 * The checkpoint of the tree item called from, or the one that is picked.
 * @param only the one folder that it may come from. `policiesOnly`: no other checkpoint will do.
 * @throws Error when a folder is chosen that lies outside of the workspace.
 */
export async function chooseCheckpoint(
  argument: unknown,
  folders: Folders,
  title: string,
  { only, policiesOnly = false }: { only?: Folder; policiesOnly?: boolean } = {},
): Promise<ChosenCheckpoint | undefined> {
  const named = policyOf(argument);
  if (named) return named;
  const wanted = only ? [only] : folders.all;
  await startDaemons(wanted);
  const browse: Item = { icon: 'folder-opened', label: l10n.t('Choose a folder...') };
  const items = (await Promise.all(wanted.map(policyItems))).flat();
  if (policiesOnly && items.length === 0)
    throw new Missing(l10n.t('there is no policy yet: a training writes them'), [ways.startTraining()]);
  const picked =
    items.length === 0
      ? browse
      : await pick(policiesOnly ? items : [...items, browse], {
          title,
          placeHolder: l10n.t('Which checkpoint?'),
          matchOnDescription: true,
        });
  if (picked !== browse) return picked?.chosen;
  const [uri] =
    (await window.showOpenDialog({
      canSelectFolders: true,
      canSelectFiles: false,
      defaultUri: wanted[0]?.place.uri,
      openLabel: l10n.t('Choose'),
      title: l10n.t('Folder of a checkpoint (config.json, tokenizer.json, model.safetensors)'),
    })) ?? [];
  if (!uri) return undefined;
  const folder = folders.containing(Uri.file(uri.fsPath));
  if (!folder || (only && folder !== only))
    throw new Error(l10n.t('{0} lies outside of the workspace folder; copy it there first', uri.fsPath));
  return { folder, checkpoint: uri.fsPath };
}

/** Policies whose weights are there, under the name of their run. */
async function policyItems(folder: Folder): Promise<Item[]> {
  const lists = folder.runs.all.slice(0, MOST_RUNS).map(async ({ run }): Promise<Item[]> => {
    const all = await folder.client.request('policies.list', { run }).catch(() => []);
    const present = all.filter((listed) => listed.present).reverse();
    if (present.length === 0) return [];
    return [
      { label: run.replace(/^runs\//, ''), kind: QuickPickItemKind.Separator },
      ...present.map((listed) => ({
        label: policyName(listed.policy),
        description: [run.replace(/^runs\//, ''), policyDescription(listed)].filter(Boolean).join(' – '),
        chosen: chosenOf(folder, run, listed),
      })),
    ];
  });
  return (await Promise.all(lists)).flat();
}

function chosenOf(folder: Folder, run: string, { policy, directory }: ListedPolicy): ChosenCheckpoint {
  return { folder, checkpoint: directory, policy: { run, version: policy.version } };
}
