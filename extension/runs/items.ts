/** The nodes of the tree of runs, and how each is shown. */
import { type Command, l10n, ThemeIcon, TreeItem, TreeItemCollapsibleState } from 'vscode';
import type { CallSummary, GroupSummary, RunSummary } from '../../protocol/daemon.ts';
import type { EpisodeRecord, SampleRecord } from '../../protocol/records.ts';
import type { SectionTally } from '../../protocol/run-state.ts';
import type { Folder } from '../folders.ts';
import { CALL_ITEM, COMMANDS, EPISODE_ITEM, RUN_ITEM } from '../ids.ts';
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
  /** A call by what became of it as a sample, where the tree is filtered by that. */
  | ({ kind: 'sample'; sample: SampleRecord } & InRun)
  /** Why a list is empty. */
  | { kind: 'note'; message: string }
  /** What cannot be read, why, and where it lies. */
  | { kind: 'damaged'; message: string; where?: string }
  /** The rest of a long list. */
  | { kind: 'more'; parent: Node; left: number };

/** What the editor knows a node by, also when it is asked for anew; empty where nothing opens or follows it. */
export function idOf(node: Node): string {
  if (node.kind === 'damaged' || node.kind === 'note') return '';
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
    case 'sample':
      return `${folder}|${node.run}|sample|${node.sample.call}`;
  }
}

export function itemOf(node: Node): TreeItem {
  const open = TreeItemCollapsibleState.Collapsed;
  switch (node.kind) {
    case 'folder':
      return new TreeItem(node.folder.place.name, TreeItemCollapsibleState.Expanded);
    case 'run': {
      const { summary, folder } = node;
      const item = new TreeItem(summary.run.replace(/^runs\//, ''), open);
      const { active } = folder.runs;
      const tick = active?.summary.run === summary.run ? active.tick : undefined;
      item.description = tick ? words.workWords(summary, words.progressWords(tick)) : words.runWords(summary);
      item.iconPath = words.runIcon(summary);
      item.contextValue = `${RUN_ITEM}${summary.state}`;
      item.tooltip = [summary.directory, words.runWords(summary), summary.problem, summary.unread]
        .filter(Boolean)
        .join('\n');
      // The arrow still unfolds it.
      if (words.isReadable(summary)) item.command = openSelected();
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
      item.description = words.outcomeWords(episode);
      item.iconPath = words.episodeIcon(episode);
      item.tooltip = episode.id;
      item.contextValue = EPISODE_ITEM;
      return item;
    }
    case 'call': {
      const item = new TreeItem(l10n.t('turn {0}', node.call.turn));
      item.description = words.callWords(node.call);
      item.iconPath = words.callIcon(node.call.sample, node.call.status);
      item.tooltip = node.call.id;
      item.contextValue = CALL_ITEM;
      item.command = openSelected();
      return item;
    }
    case 'sample': {
      const { sample } = node;
      // What the tree was filtered by comes first: a narrow side bar shows no more.
      const item = new TreeItem(words.sampleWords(sample));
      item.description = words.callName(sample.call);
      item.iconPath = words.callIcon(sample);
      item.tooltip = sample.call;
      item.contextValue = CALL_ITEM;
      item.command = openSelected();
      return item;
    }
    case 'note': {
      const item = new TreeItem(node.message);
      item.iconPath = new ThemeIcon('info');
      return item;
    }
    case 'damaged': {
      const item = new TreeItem(node.message);
      item.iconPath = new ThemeIcon('warning');
      item.tooltip = node.where === undefined ? node.message : `${node.message}\n${node.where}`;
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

/**
 * What a click on a run or a call does. It takes no arguments: the editor forgets those whenever an item is told anew, as
 * those of a run at work always are, and the click with them.
 */
function openSelected(): Command {
  return { command: COMMANDS.openSelected, title: l10n.t('Open') };
}
