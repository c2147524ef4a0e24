/** What is not done in a workspace that is not trusted. */
import { commands, l10n, workspace } from 'vscode';
import { tellWarning } from './messages.ts';

/** Whether programs of the workspace may be run. Says why not, and offers to change it, where they may not. */
export function mayExecute(): boolean {
  if (workspace.isTrusted) return true;
  const manage = l10n.t('Manage Workspace Trust');
  void tellWarning(
    l10n.t('AgenticRoboRL: this runs adapters and harnesses of the workspace, which is not trusted. Nothing was run.'),
    manage,
  ).then((chosen) => chosen === manage && commands.executeCommand('workbench.trust.manage'));
  return false;
}
