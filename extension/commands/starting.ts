/** Starting a run of any kind: it is shown while it begins, and findings about its config are shown as findings. */
import { commands, l10n, type Uri, workspace } from 'vscode';
import type { RunSummary } from '../../protocol/daemon.ts';
import type { Finding } from '../../protocol/finding.ts';
import { DaemonError } from '../daemon/rpc.ts';
import type { Folder } from '../folders.ts';
import { VIEWS } from '../ids.ts';
import { tellError, type Waiting, withProgress } from '../messages.ts';
import { findingsCollection, showFindings } from './findings.ts';

/**
 * Shows progress while a run begins, and the tree of runs when it has.
 * @param begin gives the run, or false where there is none. To give up waiting stops no run that has begun; Stop Training does.
 */
export async function beginRun(
  folder: Folder,
  title: string,
  begin: (beginning: Waiting) => Promise<RunSummary | false>,
) {
  const begun = await withProgress({ title, cancellable: true }, async (waiting) => {
    await folder.client.start();
    return begin(waiting);
  }).catch((error: unknown) => refused(error, folder));
  if (!begun) return;
  folder.runs.began(begun);
  await commands.executeCommand(`${VIEWS.runs}.focus`);
}

/** The folder of a config. @throws Error when it lies in none. */
export function folderOf(config: Uri, folders: { containing(file: Uri): Folder | undefined }): Folder {
  const folder = folders.containing(config);
  if (!folder) throw new Error(l10n.t('{0} lies in no folder of the workspace', config.fsPath));
  return folder;
}

/** Writes what the editor holds of a config. @returns false where that was not possible. */
export async function saved(config: Uri): Promise<boolean> {
  const dirty = workspace.textDocuments.find((one) => one.isDirty && one.uri.toString() === config.toString());
  return dirty === undefined || dirty.save();
}

/** Whether a run may begin; shows what speaks against it. */
export function accepted(findings: Finding[], folder: Folder): boolean {
  showFindings(findings, folder.place.uri.fsPath);
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) {
    findingsCollection().clear();
    return true;
  }
  const problems = l10n.t('Show Problems');
  const { message } = errors[0];
  void tellError(l10n.t('Nothing was started: {0} ({1} errors)', message, errors.length), problems).then(
    (chosen) => chosen === problems && commands.executeCommand('workbench.actions.view.problems'),
  );
  return false;
}

/** The daemon would not start a run: findings are shown as findings, everything else goes to who called. */
export function refused(error: unknown, folder: Folder): false {
  if (error instanceof DaemonError && error.kind === 'cancelled') return false;
  if (!(error instanceof DaemonError) || error.kind !== 'config' || !error.data.findings) throw error;
  accepted(error.data.findings as Finding[], folder);
  return false;
}
