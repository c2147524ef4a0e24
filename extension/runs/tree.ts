/** The tree of runs: run -> sections -> groups -> episodes -> calls, each asked of the daemon when it is opened. */
import {
  type Disposable,
  EventEmitter,
  l10n,
  ThemeIcon,
  type TreeDataProvider,
  TreeItem,
  TreeItemCollapsibleState,
  Uri,
  workspace,
} from 'vscode';
import type { CallSummary, GroupSummary, RunSummary } from '../../protocol/daemon.ts';
import type { EpisodeRecord } from '../../protocol/records.ts';
import type { SectionTally } from '../../protocol/run-state.ts';
import { exists } from '../creating/places.ts';
import type { Folder, FolderNews, Folders } from '../folders.ts';
import { COMMANDS, RUN_ITEM } from '../ids.ts';
import * as words from './words.ts';

interface InRun {
  folder: Folder;
  run: string;
}
export type Node =
  | { kind: 'folder'; folder: Folder }
  | ({ kind: 'run'; summary: RunSummary } & InRun)
  | ({ kind: 'section'; section: string; tally: SectionTally | undefined } & InRun)
  | ({ kind: 'group'; section: string; group: GroupSummary } & InRun)
  | ({ kind: 'episode'; section: string; episode: EpisodeRecord } & InRun)
  | ({ kind: 'call'; call: CallSummary } & InRun)
  /** A record that cannot be read, and why. */
  | { kind: 'damaged'; message: string }
  /** The rest of a long list. */
  | { kind: 'more'; parent: Node; left: number };

/** Items of a list that are shown at a time. */
const PAGE = 100;
/** Of one request. */
const LARGEST_PAGE = 1000;
/** A run at work is looked at again this often. Milliseconds. */
const PACE = 2000;

export class RunsTree implements TreeDataProvider<Node>, Disposable {
  private readonly folders: Folders;
  private readonly changes = new EventEmitter<Node | undefined>();
  private readonly shown = new Map<string, number>();
  private readonly runNodes = new Map<string, Node>();
  private readonly waiting = new Map<string, NodeJS.Timeout>();
  private readonly subscription: Disposable;
  readonly onDidChangeTreeData = this.changes.event;

  constructor(folders: Folders) {
    this.folders = folders;
    this.subscription = folders.onNews((news) => this.told(news));
  }

  refresh(): void {
    this.changes.fire(undefined);
  }

  /** Shows the next items of a long list. */
  showMore(node: Node): void {
    if (node.kind !== 'more') return;
    const key = idOf(node.parent);
    this.shown.set(key, (this.shown.get(key) ?? PAGE) + PAGE);
    this.changes.fire(node.parent);
  }

  dispose(): void {
    for (const timer of this.waiting.values()) clearTimeout(timer);
    this.subscription.dispose();
    this.changes.dispose();
  }

  getTreeItem(node: Node): TreeItem {
    const item = itemOf(node);
    item.id = node.kind === 'damaged' ? undefined : idOf(node);
    return item;
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (!workspace.isTrusted) return [];
    if (node === undefined) {
      const { all } = this.folders;
      return all.length === 1 ? this.runsOf(all[0]) : all.map((folder) => ({ kind: 'folder', folder }));
    }
    try {
      return await this.childrenOf(node);
    } catch (error) {
      return [{ kind: 'damaged', message: (error as Error).message }];
    }
  }

  private async childrenOf(node: Node): Promise<Node[]> {
    if (node.kind === 'folder') return this.runsOf(node.folder);
    if (!('run' in node) || node.kind === 'call') return [];
    const { folder, run } = node;
    const { client } = folder;
    const limit = this.shown.get(idOf(node)) ?? PAGE;
    if (node.kind === 'run') {
      const { sections, state } = await client.request('runs.snapshot', { run });
      return sections
        .filter((section) => section !== 'sft')
        .map((section) => {
          const tally = state.sections.find((one) => one.section === section);
          return { kind: 'section', folder, run, section, tally };
        });
    }
    const { section } = node;
    if (node.kind === 'section') {
      const { items, total } = await pages(limit, (page) => client.request('groups.list', { run, section, ...page }));
      return listed(node, total, items, (group) => ({ kind: 'group', folder, run, section, group }));
    }
    if (node.kind === 'group') {
      const { task, init } = node.group;
      const filter = { task, init };
      const { items } = await client.request('episodes.list', { run, section, filter, limit: LARGEST_PAGE });
      // The filter takes parts of names as well: `suite/1` is part of `suite/10`.
      const own = items.filter((one) => 'damaged' in one || one.task === task);
      return listed(node, own.length, own, (episode) => ({ kind: 'episode', folder, run, section, episode }));
    }
    const episode = node.episode.id;
    const ask = (page: Page) => client.request('calls.list', { run, section, episode, ...page });
    const { items, total } = await pages(limit, ask);
    return listed(node, total, items, (call) => ({ kind: 'call', folder, run, call }));
  }

  /** A folder's runs; its daemon is started for them where there are any. */
  private async runsOf(folder: Folder): Promise<Node[]> {
    const { client, place, runs } = folder;
    if (client.status.state === 'stopped' && (await exists(Uri.joinPath(place.uri, 'runs')))) {
      // What goes wrong is in the status bar; the welcome of the view says what to do.
      await client.start().catch(() => {});
      await runs.reload();
    }
    return runs.all.map((summary) => {
      const node: Node = { kind: 'run', folder, run: summary.run, summary };
      this.runNodes.set(idOf(node), node);
      return node;
    });
  }

  private told({ folder, news }: FolderNews): void {
    if (news.kind !== 'run') {
      if (news.kind === 'list') this.refresh();
      return;
    }
    const key = idOf({ kind: 'run', folder, run: news.run } as Node);
    if (this.waiting.has(key)) return;
    this.waiting.set(
      key,
      setTimeout(() => {
        this.waiting.delete(key);
        const node = this.runNodes.get(key);
        if (node) this.changes.fire(node);
      }, PACE),
    );
  }
}

interface Page {
  offset: number;
  limit: number;
}

/** The first `limit` items of a list, asked for in as many requests as it takes. */
async function pages<T>(limit: number, ask: (page: Page) => Promise<{ total: number; items: T[] }>) {
  const items: T[] = [];
  for (;;) {
    const page = await ask({ offset: items.length, limit: Math.min(limit - items.length, LARGEST_PAGE) });
    items.push(...page.items);
    if (page.items.length === 0 || items.length >= Math.min(limit, page.total)) return { total: page.total, items };
  }
}

/** Nodes of a list, with what cannot be read in its place and the rest as one node. */
function listed<T extends object>(
  parent: Node,
  total: number,
  items: T[],
  nodeOf: (item: Exclude<T, { damaged: string }>) => Node,
): Node[] {
  const nodes = items.map((item): Node => {
    if ('damaged' in item) return { kind: 'damaged', message: String(item.damaged) };
    return nodeOf(item as Exclude<T, { damaged: string }>);
  });
  if (total > items.length) nodes.push({ kind: 'more', parent, left: total - items.length });
  return nodes;
}

function idOf(node: Node): string {
  if (node.kind === 'damaged') return '';
  if (node.kind === 'more') return `${idOf(node.parent)}|more`;
  const folder = node.folder.place.uri.toString();
  switch (node.kind) {
    case 'folder':
      return folder;
    case 'run':
      return `${folder}|${node.run}`;
    case 'section':
      return `${folder}|${node.run}|${node.section}`;
    case 'group':
      return `${folder}|${node.run}|${node.section}|${node.group.task}|${node.group.init}`;
    case 'episode':
      return `${folder}|${node.run}|${node.section}|${node.episode.id}`;
    case 'call':
      return `${folder}|${node.run}|${node.call.id}`;
  }
}

function itemOf(node: Node): TreeItem {
  const open = TreeItemCollapsibleState.Collapsed;
  switch (node.kind) {
    case 'folder':
      return new TreeItem(node.folder.place.name, TreeItemCollapsibleState.Expanded);
    case 'run': {
      const { summary, folder } = node;
      const item = new TreeItem(summary.run.replace(/^runs\//, ''), open);
      const { active } = folder.runs;
      const tick = active?.summary.run === summary.run ? active.tick : undefined;
      item.description = tick ? words.progressWords(tick) : words.stateWord(summary);
      item.iconPath = words.runIcon(summary);
      item.contextValue = `${RUN_ITEM}${summary.state}`;
      item.tooltip = [summary.directory, words.stateWord(summary), summary.problem].filter(Boolean).join('\n');
      return item;
    }
    case 'section': {
      const item = new TreeItem(words.sectionWord(node.section), open);
      if (node.tally) item.description = words.tallyWords(node.tally);
      item.iconPath = new ThemeIcon(node.section.startsWith('evaluations') ? 'beaker' : 'folder');
      return item;
    }
    case 'group': {
      const { group } = node;
      const item = new TreeItem(l10n.t('{0}, state {1}', group.task, group.init), open);
      item.description = words.tallyWords(group);
      item.iconPath = words.groupIcon(group);
      if (group.signal === false) item.tooltip = l10n.t('All rewards are equal: this group teaches nothing');
      return item;
    }
    case 'episode': {
      const { episode } = node;
      const item = new TreeItem(l10n.t('attempt {0}', episode.attempt), open);
      item.description = episode.valid
        ? l10n.t('reward {0}, {1} turns', episode.reward, episode.turns)
        : (episode.invalidReason ?? l10n.t('invalid'));
      item.iconPath = words.episodeIcon(episode);
      item.tooltip = episode.id;
      return item;
    }
    case 'call': {
      const item = new TreeItem(l10n.t('turn {0}', node.call.turn));
      item.description = words.callWords(node.call);
      item.iconPath = new ThemeIcon('comment');
      item.tooltip = node.call.id;
      return item;
    }
    case 'damaged': {
      const item = new TreeItem(node.message);
      item.iconPath = new ThemeIcon('warning');
      return item;
    }
    case 'more': {
      const item = new TreeItem(l10n.t('{0} more', node.left));
      item.iconPath = new ThemeIcon('ellipsis');
      item.command = { command: COMMANDS.showMore, title: l10n.t('Show More'), arguments: [node] };
      return item;
    }
  }
}
