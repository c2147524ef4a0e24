/** Keeps the newest episode of the run at work in sight, while the user wants it. */
import { commands, type Disposable, type LogOutputChannel, type TreeView } from 'vscode';
import type { Folder, Folders } from '../folders.ts';
import { CONTEXTS } from '../ids.ts';
import { asksForSamples } from './filter.ts';
import type { Node } from './items.ts';
import type { RunsTree } from './tree.ts';

/** The tree is moved this often at most. Milliseconds. */
const PACE = 2000;
/** How often a node is looked for in the tree. */
const TRIES = 4;
/** The editor gathers refreshes for 200 ms before it asks for anything. Milliseconds. */
const REFRESHED = 400;

export class FollowNewest implements Disposable {
  private readonly tree: RunsTree;
  private readonly view: TreeView<Node>;
  private readonly log: LogOutputChannel;
  private readonly folders: Folders;
  private readonly subscription: Disposable;
  private on = false;
  private waiting: NodeJS.Timeout | undefined;

  constructor(folders: Folders, tree: RunsTree, view: TreeView<Node>, log: LogOutputChannel) {
    this.folders = folders;
    this.tree = tree;
    this.view = view;
    this.log = log;
    this.subscription = folders.onNews(({ news }) => news.kind === 'run' && this.soon());
  }

  follow(on: boolean): void {
    this.on = on;
    void commands.executeCommand('setContext', CONTEXTS.following, on);
    if (on) this.soon(0);
  }

  dispose(): void {
    this.on = false;
    clearTimeout(this.waiting);
    this.subscription.dispose();
  }

  private soon(delay = PACE): void {
    if (!this.on) return;
    this.waiting ??= setTimeout(() => {
      this.move()
        // A list may change while it is walked through; the next time comes soon.
        .catch((error: Error) => this.log.debug(`the newest episode is not shown: ${error.message}`))
        .finally(() => {
          this.waiting = undefined;
        });
    }, delay);
  }

  private async move(): Promise<void> {
    const at = newestAt(this.folders.all);
    if (!this.on || !at || !this.view.visible || asksForSamples(this.tree.filter)) return;
    const node = await this.tree.newestIn(at.folder, at.run, at.section);
    for (let tries = 1; node && this.on; tries++) {
      try {
        return await this.view.reveal(node, { select: true, focus: false });
      } catch (error) {
        if (tries === TRIES) throw error;
        // The editor looks for a node among the children it knows: these are older than the node.
        this.tree.refreshRun(at.folder, at.run);
        await new Promise((resolve) => setTimeout(resolve, REFRESHED));
      }
    }
  }
}

/** Where episodes end now: the section of the run at work that was begun last. */
function newestAt(folders: Folder[]): { folder: Folder; run: string; section: string } | undefined {
  for (const folder of folders) {
    const { active } = folder.runs;
    const section = active?.state.sections.at(-1)?.section;
    if (active && section !== undefined) return { folder, run: active.summary.run, section };
  }
  return undefined;
}
