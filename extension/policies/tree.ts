/** The tree of policies: what is served, and the policies of each run. */
import {
  Disposable,
  l10n,
  ThemeColor,
  ThemeIcon,
  type TreeDataProvider,
  TreeItem,
  TreeItemCollapsibleState,
  workspace,
} from 'vscode';
import type { RunSummary, Served } from '../../protocol/daemon.ts';
import type { Folder, FolderNews, Folders } from '../folders.ts';
import { COMMANDS, POLICY_ITEMS } from '../ids.ts';
import { plainItem } from '../message-text.ts';
import { PacedChange } from '../paced-change.ts';
import { isReadable } from '../runs/words.ts';
import { type ListedPolicy, policyDescription, policyName, servedName } from './words.ts';

export type PolicyNode =
  | { kind: 'folder'; folder: Folder }
  | { kind: 'served'; folder: Folder; served: Served }
  | { kind: 'policies'; folder: Folder; run: string; summary: RunSummary; listed: ListedPolicy[] }
  | { kind: 'policy'; folder: Folder; run: string; listed: ListedPolicy }
  | { kind: 'problem'; message: string };

/** Runs that are asked for their policies; older ones are reached by their folder. */
const MOST_RUNS = 100;
/** A run at work tells often; the tree looks again this often. Milliseconds. */
const PACE = 3000;

export class PoliciesTree implements TreeDataProvider<PolicyNode>, Disposable {
  private readonly folders: Folders;
  private readonly changes = new PacedChange();
  private readonly subscription: Disposable;
  /** Policies that were known when each run last had so many; asked for anew only where their number changed. */
  private readonly counted = new WeakMap<Folder, Map<string, number>>();
  readonly onDidChangeTreeData = this.changes.event;

  constructor(folders: Folders) {
    this.folders = folders;
    this.subscription = Disposable.from(
      folders.onNews((news) => this.told(news)),
      workspace.onDidGrantWorkspaceTrust(() => this.refresh()),
    );
  }

  refresh(): void {
    this.changes.fire();
  }

  dispose(): void {
    this.subscription.dispose();
    this.changes.dispose();
  }

  getTreeItem(node: PolicyNode): TreeItem {
    const item = plainItem(itemOf(node));
    // Else the tooltip, a path, would be read out.
    item.accessibilityInformation = { label: [item.label, item.description].filter(Boolean).join(', ') };
    if (node.kind !== 'problem') item.id = idOf(node);
    return item;
  }

  async getChildren(node?: PolicyNode): Promise<PolicyNode[]> {
    if (!workspace.isTrusted) return [];
    if (node === undefined) {
      const { all } = this.folders;
      if (all.length === 1) return this.inFolder(all[0]);
      const full = await Promise.all(all.map(async (folder) => (await this.inFolder(folder)).length > 0));
      return all.filter((_, index) => full[index]).map((folder) => ({ kind: 'folder', folder }));
    }
    if (node.kind === 'folder') return this.inFolder(node.folder);
    if (node.kind !== 'policies') return [];
    const { folder, run, listed } = node;
    return listed.toReversed().map((one) => ({ kind: 'policy', folder, run, listed: one }));
  }

  /** What a daemon that runs tells; none is started for it, as the tree of runs does that. */
  private async inFolder(folder: Folder): Promise<PolicyNode[]> {
    const served = folder.served.all.map((one): PolicyNode => ({ kind: 'served', folder, served: one }));
    if (folder.client.status.state !== 'ready') return served;
    const runs = folder.runs.all.slice(0, MOST_RUNS).map((summary) => this.ofRun(folder, summary));
    return [...served, ...(await Promise.all(runs)).flat()];
  }

  private async ofRun(folder: Folder, summary: RunSummary): Promise<PolicyNode[]> {
    const { run } = summary;
    if (!isReadable(summary)) return [];
    try {
      const listed = await folder.client.request('policies.list', { run });
      const counts = this.counted.get(folder) ?? new Map<string, number>();
      this.counted.set(folder, counts.set(run, listed.length));
      return listed.length === 0 ? [] : [{ kind: 'policies', folder, run, summary, listed }];
    } catch (error) {
      return [{ kind: 'problem', message: `${run}: ${(error as Error).message}` }];
    }
  }

  private told({ folder, news }: FolderNews): void {
    if (news.kind === 'run') {
      // Most entries are of episodes; only a new policy changes something here.
      const { active } = folder.runs;
      const known = this.counted.get(folder)?.get(news.run) ?? 0;
      if (active?.summary.run === news.run && active.state.policies.length === known) return;
    }
    this.changes.soon(news.kind === 'run' ? PACE : 100);
  }
}

function idOf(node: Exclude<PolicyNode, { kind: 'problem' }>): string {
  const folder = node.folder.place.uri.toString();
  switch (node.kind) {
    case 'folder':
      return folder;
    case 'served':
      return `${folder}|served|${node.served.checkpoint}`;
    case 'policies':
      return `${folder}|${node.run}`;
    case 'policy':
      return `${folder}|${node.run}|${node.listed.policy.version}`;
  }
}

function itemOf(node: PolicyNode): TreeItem {
  switch (node.kind) {
    case 'folder':
      return new TreeItem(node.folder.place.name, TreeItemCollapsibleState.Expanded);
    case 'served': {
      const { served } = node;
      const item = new TreeItem(l10n.t('served: {0}', servedName(served)));
      item.description = served.url;
      item.iconPath = new ThemeIcon('broadcast', new ThemeColor('testing.iconPassed'));
      item.contextValue = POLICY_ITEMS.served;
      const facts = l10n.t(
        'Model "{0}", {1} parameters, context of {2} tokens',
        served.model,
        served.parameters,
        served.context,
      );
      item.tooltip = [served.checkpoint, facts, ...served.warnings].join('\n');
      item.command = { command: COMMANDS.showAddress, title: l10n.t('Show Address'), arguments: [node] };
      return item;
    }
    case 'policies': {
      const item = new TreeItem(node.run.replace(/^runs\//, ''), TreeItemCollapsibleState.Collapsed);
      const { length } = node.listed;
      item.description = length === 1 ? l10n.t('1 policy') : l10n.t('{0} policies', length);
      item.iconPath = new ThemeIcon('history');
      return item;
    }
    case 'policy': {
      const { listed } = node;
      const item = new TreeItem(policyName(listed.policy));
      item.description = policyDescription(listed);
      item.iconPath = new ThemeIcon(listed.active ? 'pass-filled' : listed.present ? 'circle-outline' : 'circle-slash');
      item.contextValue = listed.present ? POLICY_ITEMS.present : POLICY_ITEMS.absent;
      item.tooltip = [
        listed.directory,
        l10n.t('{0} optimizer steps of its stage', listed.policy.step),
        listed.present ? '' : l10n.t('Its weights were removed; it cannot be served or evaluated'),
      ]
        .filter(Boolean)
        .join('\n');
      return item;
    }
    case 'problem': {
      const item = new TreeItem(node.message);
      item.iconPath = new ThemeIcon('warning');
      return item;
    }
  }
}
