/**
 * Room for texts: a stage that fills the only group of editors is not covered by them, they get a group beside it, and the
 * group of stages is locked: the editor opens nothing in it by itself.
 */
import { commands, type Tab, TabInputWebview, ViewColumn, window } from 'vscode';
import { PANELS } from '../../ids.ts';

/** Who has not opened a stage after so long opens none. Milliseconds. */
const PATIENCE = 3000;

/** To be called before a text of a replay is shown. Makes a group to the left where there is but one, with a stage in front. */
export async function roomBesideStage(): Promise<void> {
  const { all } = window.tabGroups;
  if (all.length !== 1 || !isStage(all[0].activeTab)) return;
  const alone = all[0].tabs.every(isStage);
  await commands.executeCommand('workbench.action.newGroupLeft');
  if (!alone) return;
  // The only group cannot be locked, and only the one in use can.
  await commands.executeCommand('workbench.action.focusSecondEditorGroup');
  await commands.executeCommand('workbench.action.lockEditorGroup');
  await commands.executeCommand('workbench.action.focusFirstEditorGroup');
}

/** Where a further stage goes: to the other stages, else beside what is open. */
export function columnOfStages(): ViewColumn {
  const group = window.tabGroups.all.find(({ tabs }) => tabs.length > 0 && tabs.every(isStage));
  return group?.viewColumn ?? ViewColumn.Beside;
}

/**
 * To be called when a stage was asked for: locks its group where it is not the only one and has nothing but stages. The
 * editor tells of a tab, and of a new group with its tabs, a moment later.
 */
export function keepStageApart(): void {
  const { tabGroups } = window;
  const look = () => {
    const { all, activeTabGroup } = tabGroups;
    if (all.length < 2 || !isStage(activeTabGroup.activeTab) || !activeTabGroup.tabs.every(isStage)) return;
    stop();
    void commands.executeCommand('workbench.action.lockEditorGroup');
  };
  const heard = [tabGroups.onDidChangeTabs(look), tabGroups.onDidChangeTabGroups(look)];
  const timer = setTimeout(() => stop(), PATIENCE);
  const stop = () => {
    clearTimeout(timer);
    for (const one of heard) one.dispose();
  };
  look();
}

/** The editor writes its own word before the type of a panel. */
function isStage(tab: Tab | undefined): boolean {
  return tab?.input instanceof TabInputWebview && tab.input.viewType.endsWith(PANELS.stage);
}
