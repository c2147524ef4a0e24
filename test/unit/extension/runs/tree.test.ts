import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Folder, FolderNews, Folders } from '../../../../extension/folders.ts';

vi.mock('vscode', () => ({
  EventEmitter: class {
    readonly listeners: ((value: unknown) => void)[] = [];
    readonly event = (listener: (value: unknown) => void) => this.listeners.push(listener);
    fire(value: unknown): void {
      for (const listener of this.listeners) listener(value);
    }
  },
  workspace: { isTrusted: true },
  TreeItem: class {
    label: string;
    constructor(label: string) {
      this.label = label;
    }
  },
  TreeItemCollapsibleState: {},
  ThemeColor: class {},
  ThemeIcon: class {
    id: string;
    constructor(id: string) {
      this.id = id;
    }
  },
  l10n: { t: (text: string, ...words: string[]) => text.replace(/\{(\d)\}/g, (_, at) => words[Number(at)]) },
}));

const { tallyWords } = await import('../../../../extension/runs/words.ts');
const { RunsTree } = await import('../../../../extension/runs/tree.ts');

/** A window with one folder and one run, whose daemon knows of one episode. */
function window(others: Record<string, unknown> = {}) {
  const episode = { id: 'e1', task: 'quick/0', init: 3 };
  const answers: Record<string, unknown> = {
    'episodes.list': { total: 1, items: [episode] },
    'runs.snapshot': { sections: ['teacher'], state: { sections: [] } },
    'groups.list': { total: 1, items: [{ task: 'quick/0', init: 3 }] },
    ...others,
  };
  const folder = {
    place: { uri: 'file:///work' },
    client: { status: { state: 'ready' }, request: async (method: string) => answers[method] },
    runs: { all: [{ run: 'runs/quick', state: 'running' }] },
  } as unknown as Folder;
  let tell: (news: FolderNews) => void = () => {};
  const folders = {
    all: [folder],
    onNews: (listener: typeof tell) => {
      tell = listener;
    },
  } as unknown as Folders;
  const tree = new RunsTree(folders);
  return { tree, folder, tell: (news: FolderNews) => tell(news) };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the tree of runs', () => {
  it('draws a run at work anew as the node the editor has, also after the newest episode was looked for', async () => {
    const { tree, folder, tell } = window();
    const drawn: unknown[] = [];
    tree.onDidChangeTreeData((node) => drawn.push(node));
    const [shown] = await tree.getChildren();
    expect(await tree.newestIn(folder, 'runs/quick', 'teacher')).toMatchObject({ kind: 'episode', run: 'runs/quick' });
    tell({ folder, news: { kind: 'run', run: 'runs/quick' } } as FolderNews);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(drawn).toHaveLength(1);
    expect(drawn[0]).toBe(shown);
  });

  it('shows damaged episodes with their line and the reason, in their group or behind the groups', async () => {
    const hurt = { damaged: 'reward: Invalid input', line: 7 };
    const { tree } = window({
      'groups.list': { total: 2, items: [{ task: 'quick/0', init: 3, unread: 1 }, hurt] },
      'episodes.list': { total: 2, items: [{ id: 'e1', task: 'quick/0', init: 3 }, hurt] },
    });
    const [run] = await tree.getChildren();
    const [section] = await tree.getChildren(run);
    const [group, stray] = await tree.getChildren(section);
    const told = { kind: 'damaged', message: 'episodes.jsonl, line 7: reward: Invalid input' };
    expect(stray).toEqual(told);
    expect((await tree.getChildren(group))[1]).toEqual(told);
    expect(tallyWords({ episodes: 2, successes: 1, invalid: 0, unread: 1 })).toMatch(/solved, 1 damaged$/);
  });
});

describe('a run that cannot be read', () => {
  it('says why in few words, where it lies in the tooltip, and asks the daemon nothing', async () => {
    const { tree, folder } = window();
    const problem = 'written by a newer version of AgenticRoboRL (format 2, this one reads 1); update to read it';
    const summary = { run: 'runs/quick', directory: '/work/runs/quick', state: 'newer', unread: null, problem };
    Object.assign(folder.runs, { all: [summary] });
    Object.assign(folder.client, { request: () => Promise.reject(new Error('asked')) });
    const [run] = await tree.getChildren();
    const [why] = await tree.getChildren(run);
    expect(why).toEqual({ kind: 'damaged', message: problem, where: '/work/runs/quick' });
    expect(tree.getTreeItem(why)).toMatchObject({ label: problem, tooltip: `${problem}\n/work/runs/quick` });
    expect(tree.getTreeItem(run)).toMatchObject({ description: 'of a newer version' });
    expect(tree.getTreeItem(run).command).toBeUndefined();
  });

  it('in a part says so beside its state, and what in the tooltip', async () => {
    const { tree, folder } = window();
    const unread = 'journal.jsonl, line 5: is no JSON';
    const summary = { run: 'runs/quick', directory: '/d', state: 'finished', unread, problem: null };
    Object.assign(folder.runs, { all: [summary] });
    const [run] = await tree.getChildren();
    const item = tree.getTreeItem(run);
    expect(item).toMatchObject({ description: 'finished, a part cannot be read', iconPath: { id: 'warning' } });
    expect(item.tooltip).toContain(unread);
    expect(item.command).toBeDefined();
  });
});
