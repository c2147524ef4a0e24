/** The tree of runs: run -> sections -> groups -> episodes -> calls, each asked of the daemon when it is opened. */
import { type Disposable, EventEmitter, l10n, type TreeDataProvider, type TreeItem, Uri, workspace } from 'vscode';
import { exists } from '../creating/places.ts';
import type { Folder, FolderNews, Folders } from '../folders.ts';
import { plainItem } from '../message-text.ts';
import { asksForSamples, episodePart, isEmpty, type RunFilter } from './filter.ts';
import { idOf, itemOf, type Node } from './items.ts';
import { isReadable, stateWord } from './words.ts';

/** Items of a list that are shown at a time. */
const PAGE = 100;
/** Of one request. */
const LARGEST_PAGE = 1000;
/** A run at work is looked at again this often. Milliseconds. */
const PACE = 2000;

type RunNode = Extract<Node, { kind: 'run' }>;

export class RunsTree implements TreeDataProvider<Node>, Disposable {
  private readonly folders: Folders;
  private readonly changes = new EventEmitter<Node | undefined>();
  private readonly shown = new Map<string, number>();
  private readonly runNodes = new Map<string, RunNode>();
  private readonly waiting = new Map<string, NodeJS.Timeout>();
  private readonly parents = new WeakMap<Node, Node>();
  private readonly subscription: Disposable;
  private narrowed: RunFilter = {};
  readonly onDidChangeTreeData = this.changes.event;

  constructor(folders: Folders) {
    this.folders = folders;
    this.subscription = folders.onNews((news) => this.told(news));
  }

  refresh(): void {
    this.changes.fire(undefined);
  }

  /** Has the editor ask anew for what is below a run. */
  refreshRun(folder: Folder, run: string): void {
    const node = this.runNodes.get(idOf({ kind: 'run', folder, run } as Node));
    if (node) this.changes.fire(node);
  }

  get filter(): RunFilter {
    return this.narrowed;
  }

  set filter(filter: RunFilter) {
    this.narrowed = filter;
    this.shown.clear();
    this.refresh();
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
    const item = plainItem(itemOf(node));
    item.id = idOf(node) || undefined;
    return item;
  }

  /** Of a node that has been listed; what follows the newest episode asks for it. */
  getParent(node: Node): Node | undefined {
    return this.parents.get(node);
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (!workspace.isTrusted) return [];
    if (node === undefined) {
      const { all } = this.folders;
      return all.length === 1 ? this.runsOf(all[0]) : all.map((folder) => ({ kind: 'folder', folder }));
    }
    try {
      const children = await this.childrenOf(node);
      for (const child of children) this.parents.set(child, node);
      return children;
    } catch (error) {
      return [{ kind: 'damaged', message: (error as Error).message }];
    }
  }

  /**
   * The newest episode of a section that the filter lets through, or its group or section where it is not among the
   * items that are shown.
   * @param at the run's node and the section.
   */
  async newestIn(folder: Folder, run: string, section: string): Promise<Node | undefined> {
    const { filter } = this;
    const ask = { run, section, newestFirst: true, limit: 1, filter: episodePart(filter) };
    const [newest] = (await folder.client.request('episodes.list', ask)).items;
    if (newest === undefined || 'damaged' in newest) return undefined;
    let at: Node | undefined;
    const steps: ((node: Node) => boolean)[] = [
      (node) => node.kind === 'run' && node.run === run,
      (node) => node.kind === 'section' && node.section === section,
      (node) => node.kind === 'group' && node.group.task === newest.task && node.group.init === newest.init,
      (node) => node.kind === 'episode' && node.episode.id === newest.id,
    ];
    if (this.folders.all.length > 1) steps.unshift((node) => node.kind === 'folder' && node.folder === folder);
    for (const isNext of steps) {
      const next = (await this.getChildren(at)).find(isNext);
      if (!next) break;
      at = next;
      // Plans are long: the group that is played now need not be among the first.
      if (at.kind === 'section') this.shown.set(idOf(at), Math.max(this.shown.get(idOf(at)) ?? 0, LARGEST_PAGE));
    }
    return at;
  }

  private async childrenOf(node: Node): Promise<Node[]> {
    if (node.kind === 'folder') return this.runsOf(node.folder);
    if (!('run' in node) || node.kind === 'call' || node.kind === 'sample') return [];
    const { folder, run } = node;
    const { client } = folder;
    const limit = this.shown.get(idOf(node)) ?? PAGE;
    const { filter } = this;
    if (node.kind === 'run') {
      const { summary } = node;
      if (!isReadable(summary))
        return [{ kind: 'damaged', message: summary.problem ?? stateWord(summary), where: summary.directory }];
      const { sections, state } = await client.request('runs.snapshot', { run });
      const shown = sections
        .filter((section) => (asksForSamples(filter) ? section.startsWith('rounds/') : section !== 'sft'))
        .map((section) => {
          const tally = state.sections.find((one) => one.section === section);
          return { kind: 'section', folder, run, section, tally } satisfies Node;
        });
      return shown.length > 0 || isEmpty(filter) ? shown : [nothingFits()];
    }
    const { section } = node;
    const episodes = episodePart(filter);
    if (node.kind === 'section') {
      const found = asksForSamples(filter) ? await this.samplesOf(node, limit) : await this.groupsOf(node, limit);
      return found.length > 0 || isEmpty(filter) ? found : [nothingFits()];
    }
    if (node.kind === 'group') {
      const { task, init } = node.group;
      const wanted = { ...episodes, task, init };
      const { items } = await client.request('episodes.list', { run, section, filter: wanted, limit: LARGEST_PAGE });
      // The filter takes parts of names as well: `suite/1` is part of `suite/10`.
      const own = items.filter((one) => 'damaged' in one || one.task === task);
      return listed(node, 'episodes.jsonl', own.length, own, (episode) => ({
        kind: 'episode',
        folder,
        run,
        section,
        episode,
      }));
    }
    const episode = node.episode.id;
    const ask = (page: Page) => client.request('calls.list', { run, section, episode, ...page });
    const { items, total } = await pages(limit, ask);
    return listed(node, 'calls.jsonl', total, items, (call) => ({ kind: 'call', folder, run, call }));
  }

  private async groupsOf(node: Extract<Node, { kind: 'section' }>, limit: number): Promise<Node[]> {
    const { folder, run, section } = node;
    const filter = episodePart(this.filter);
    const ask = (page: Page) => folder.client.request('groups.list', { run, section, filter, ...page });
    const { items, total } = await pages(limit, ask);
    return listed(node, 'episodes.jsonl', total, items, (group) => ({ kind: 'group', folder, run, section, group }));
  }

  /** Calls of a round by what became of them: a list without groups, as few of 100,000 may fit. */
  private async samplesOf(node: Extract<Node, { kind: 'section' }>, limit: number): Promise<Node[]> {
    const { folder, run, section } = node;
    const { client } = folder;
    const { reason: status, leastAdvantage } = this.filter;
    const round = Number(section.split('/')[1]);
    const ask = (page: Page) => client.request('samples.get', { run, round, status, leastAdvantage, ...page });
    const filter = episodePart(this.filter);
    let total: number;
    let items: Awaited<ReturnType<typeof ask>>['items'];
    if (filter === undefined) ({ items, total } = await pages(limit, ask));
    else {
      const played = (page: Page) => client.request('episodes.list', { run, section, filter, ...page });
      const episodes = (await pages(Number.POSITIVE_INFINITY, played)).items;
      const ids = new Set(episodes.flatMap((one) => ('damaged' in one ? [] : [one.id])));
      const all = (await pages(Number.POSITIVE_INFINITY, ask)).items;
      const fitting = all.filter((one) => 'damaged' in one || ids.has(one.episode));
      total = fitting.length;
      items = fitting.slice(0, limit);
    }
    return listed(node, 'samples.jsonl', total, items, (sample) => ({ kind: 'sample', folder, run, sample }));
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
      const fresh: RunNode = { kind: 'run', folder, run: summary.run, summary };
      const node = this.runNodes.get(idOf(fresh)) ?? fresh;
      // The editor draws a node anew only if it is the very one it was given, whoever asked for the list last.
      node.summary = summary;
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
        this.refreshRun(folder, news.run);
      }, PACE),
    );
  }
}

function nothingFits(): Node {
  return { kind: 'note', message: l10n.t('nothing here fits the filter') };
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

/** Nodes of a list, with what cannot be read of its file in its place and the rest as one node. */
function listed<T extends object>(
  parent: Node,
  file: string,
  total: number,
  items: T[],
  nodeOf: (item: Exclude<T, { damaged: string }>) => Node,
): Node[] {
  const nodes = items.map((item): Node => {
    if ('damaged' in item) {
      const { damaged, line } = item as { damaged: unknown; line?: number };
      return { kind: 'damaged', message: `${file}${line ? `, line ${line}` : ''}: ${damaged}` };
    }
    return nodeOf(item as Exclude<T, { damaged: string }>);
  });
  if (total > items.length) nodes.push({ kind: 'more', parent, left: total - items.length });
  return nodes;
}
