/** Room for texts: a stage that fills the only group of editors is not covered by them, they get a group beside it. */
import { commands, TabInputWebview, window } from 'vscode';
import { PANELS } from '../../ids.ts';

/** To be called before a text of a replay is shown. Makes a group to the left where there is but one, with a stage in front. */
export async function roomBesideStage(): Promise<void> {
  const { all } = window.tabGroups;
  const input = all.length === 1 ? all[0].activeTab?.input : undefined;
  // The editor writes its own word before the type of a panel.
  if (input instanceof TabInputWebview && input.viewType.endsWith(PANELS.stage))
    await commands.executeCommand('workbench.action.newGroupLeft');
}
