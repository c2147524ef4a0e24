/** The tree of adapters: adapter -> outputs of its last check -> the five fields. */
import { basename } from 'node:path';
import {
  Disposable,
  l10n,
  ThemeColor,
  ThemeIcon,
  type TreeDataProvider,
  TreeItem,
  TreeItemCollapsibleState,
  type Uri,
  workspace,
} from 'vscode';
import { read } from '../creating/places.ts';
import { ADAPTER_FILES, ADAPTER_ITEM } from '../ids.ts';
import { speaksOfUs } from '../language/documents.ts';
import { plainItem } from '../message-text.ts';
import { PacedChange } from '../paced-change.ts';
import type { LastCheck, LastChecks } from './last-checks.ts';

type Output = LastCheck['outputs'][number];
export type AdapterNode =
  | { kind: 'adapter'; uri: Uri; last: LastCheck | undefined }
  | { kind: 'output'; output: Output }
  | { kind: 'field'; name: string; value: string }
  | { kind: 'note'; icon: 'error' | 'warning' | 'info'; message: string };

const MOST_ADAPTERS = 200;
/** Files come and go in numbers. Milliseconds. */
const PACE = 500;

export class AdaptersTree implements TreeDataProvider<AdapterNode>, Disposable {
  private readonly checks: LastChecks;
  private readonly changes = new PacedChange();
  private readonly subscription: Disposable;
  readonly onDidChangeTreeData = this.changes.event;

  constructor(checks: LastChecks) {
    this.checks = checks;
    const watcher = workspace.createFileSystemWatcher(ADAPTER_FILES);
    this.subscription = Disposable.from(
      watcher,
      watcher.onDidCreate(() => this.soon()),
      watcher.onDidDelete(() => this.soon()),
      workspace.onDidChangeWorkspaceFolders(() => this.soon()),
      checks.onChange(() => this.soon()),
    );
  }

  dispose(): void {
    this.subscription.dispose();
    this.changes.dispose();
  }

  getTreeItem(node: AdapterNode): TreeItem {
    return plainItem(itemOf(node));
  }

  /** Files are read, nothing is run: also in a workspace that is not trusted. */
  async getChildren(node?: AdapterNode): Promise<AdapterNode[]> {
    if (node === undefined) return this.adapters();
    if (node.kind === 'adapter') return outputsOf(node.last);
    if (node.kind !== 'output') return [];
    const { fields, problem } = node.output;
    const children: AdapterNode[] = Object.entries(fields ?? {}).map(([name, value]) => ({
      ...{ kind: 'field', name, value: String(value) },
    }));
    return problem === null ? children : [...children, { kind: 'note', icon: 'error', message: problem }];
  }

  private async adapters(): Promise<AdapterNode[]> {
    const found = await workspace.findFiles(ADAPTER_FILES, '**/{node_modules,runs}/**', MOST_ADAPTERS);
    const ours = await Promise.all(found.map((uri) => read(uri).then(speaksOfUs, () => false)));
    return found
      .filter((_, index) => ours[index])
      .sort((a, b) => a.path.localeCompare(b.path))
      .map((uri) => ({ kind: 'adapter', uri, last: this.checks.of(uri.toString()) }));
  }

  private soon(): void {
    this.changes.soon(PACE);
  }
}

function outputsOf(last: LastCheck | undefined): AdapterNode[] {
  if (!last)
    return [
      {
        kind: 'note',
        icon: 'info',
        message: l10n.t('not checked yet: a line "// @outputs ./recordings/*" names outputs'),
      },
    ];
  const outputs = last.outputs.map((output): AdapterNode => ({ kind: 'output', output }));
  if (last.failure === null) return outputs;
  return [{ kind: 'note', icon: 'error', message: last.failure }, ...outputs];
}

function itemOf(node: AdapterNode): TreeItem {
  switch (node.kind) {
    case 'adapter': {
      const { uri, last } = node;
      const item = new TreeItem(workspace.asRelativePath(uri), TreeItemCollapsibleState.Collapsed);
      item.id = uri.toString();
      item.description = last ? lastWords(last) : l10n.t('not checked yet');
      item.iconPath = iconOf(last && (last.failure !== null || last.outputs.some(({ problem }) => problem !== null)));
      item.contextValue = ADAPTER_ITEM;
      item.resourceUri = uri;
      // The arrow still unfolds it.
      item.command = { command: 'vscode.open', title: l10n.t('Open'), arguments: [uri] };
      item.tooltip = last ? l10n.t('{0}, checked {1}', uri.fsPath, new Date(last.at).toLocaleString()) : uri.fsPath;
      return item;
    }
    case 'output': {
      const { directory, fields, problem } = node.output;
      const item = new TreeItem(basename(directory), TreeItemCollapsibleState.Collapsed);
      if (problem !== null) item.description = problem;
      else if (fields) item.description = fields.valid ? l10n.t('reward {0}', fields.reward) : l10n.t('invalid');
      item.iconPath = iconOf(problem !== null);
      item.tooltip = directory;
      return item;
    }
    case 'field': {
      const item = new TreeItem(node.name);
      item.description = node.value;
      item.iconPath = new ThemeIcon('symbol-field');
      return item;
    }
    case 'note': {
      const item = new TreeItem(node.message);
      item.tooltip = node.message;
      item.iconPath = new ThemeIcon(node.icon);
      return item;
    }
  }
}

function lastWords({ outputs, failure }: LastCheck): string {
  if (failure !== null) return l10n.t('could not be checked');
  const wrong = outputs.filter(({ problem }) => problem !== null).length;
  return l10n.t('{0} outputs checked, {1} with problems', outputs.length, wrong);
}

function iconOf(wrong: boolean | undefined): ThemeIcon {
  if (wrong === undefined) return new ThemeIcon('circle-outline');
  return wrong
    ? new ThemeIcon('error', new ThemeColor('testing.iconFailed'))
    : new ThemeIcon('pass', new ThemeColor('testing.iconPassed'));
}
