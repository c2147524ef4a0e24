/** Starting, stopping and resuming runs. */
import { commands, l10n, ProgressLocation, type QuickPickItem, window, workspace } from 'vscode';
import type { DaemonParams } from '../../protocol/daemon.ts';
import type { Finding } from '../../protocol/finding.ts';
import { DaemonError } from '../daemon/rpc.ts';
import type { Folder } from '../folders.ts';
import { VIEWS } from '../ids.ts';
import { mayExecute } from '../trust.ts';
import { chooseConfig, chooseRun, runOf } from './choosing.ts';
import { findingsCollection, showFindings } from './findings.ts';
import type { Surroundings } from './table.ts';

/** Picks a config, checks it with its adapter, and starts its run; with errors it shows them, and nothing is started. */
export async function startTraining({ folders }: Surroundings, argument?: unknown): Promise<void> {
  if (!mayExecute()) return;
  const config = await chooseConfig(argument, l10n.t('Start Training'));
  if (!config) return;
  const folder = folders.containing(config);
  if (!folder) throw new Error(l10n.t('{0} lies in no folder of the workspace', config.fsPath));
  const dirty = workspace.textDocuments.find((one) => one.isDirty && one.uri.toString() === config.toString());
  if (dirty && !(await dirty.save())) return;
  const started = await window
    .withProgress(
      {
        location: ProgressLocation.Notification,
        title: l10n.t('Starting {0}', workspace.asRelativePath(config)),
        cancellable: true,
      },
      async (progress, token) => {
        const abort = new AbortController();
        token.onCancellationRequested(() => abort.abort());
        await folder.client.start();
        progress.report({ message: l10n.t('checking the config and its adapter') });
        const checked = await folder.client.request('config.validate', { files: [config.fsPath] }, abort.signal);
        if (
          !accepted(
            checked.files.flatMap(({ findings }) => findings as Finding[]),
            folder,
          )
        )
          return false;
        if (token.isCancellationRequested) return false;
        progress.report({ message: l10n.t('starting the run') });
        // The wait may be given up; a run that has begun is stopped with Stop Training.
        await folder.client.request('runs.start', { config: config.fsPath });
        return true;
      },
    )
    .then(undefined, (error: unknown) => refused(error, folder));
  if (started) await commands.executeCommand(`${VIEWS.runs}.focus`);
}

/** Asks how, and stops a run of this window's daemons. */
export async function stopTraining({ folders }: Surroundings, argument?: unknown): Promise<void> {
  const title = l10n.t('Stop Training');
  const chosen = await chooseRun(argument, folders, ({ state }) => state === 'running', title);
  if (!chosen) return;
  const modes: (QuickPickItem & { mode: DaemonParams<'runs.stop'>['mode'] })[] = [
    { mode: 'episode', label: l10n.t('After the running episodes'), detail: l10n.t('Nothing is lost') },
    { mode: 'round', label: l10n.t('After the round'), detail: l10n.t('Its update is made first') },
    { mode: 'now', label: l10n.t('Now'), detail: l10n.t('Running episodes are played again when it is resumed') },
  ];
  const how = await window.showQuickPick(modes, { title, placeHolder: l10n.t('When is {0} to stop?', chosen.run) });
  if (how) await chosen.folder.client.request('runs.stop', { run: chosen.run, mode: how.mode });
}

/** Goes on with a run that was stopped, failed or was cut short. */
export async function resumeTraining({ folders }: Surroundings, argument?: unknown): Promise<void> {
  if (!mayExecute()) return;
  const wanted = runOf(argument) ? [] : folders.all;
  await Promise.all(wanted.map(({ client, runs }) => client.start().then(() => runs.reload())));
  const resumable = ['stopped', 'failed', 'interrupted'];
  const chosen = await chooseRun(argument, folders, ({ state }) => resumable.includes(state), l10n.t('Resume Run'));
  if (!chosen) return;
  const { folder, run } = chosen;
  await folder.client.start();
  const resumed = await folder.client.request('runs.resume', { run }).catch((error) => refused(error, folder));
  if (resumed) await commands.executeCommand(`${VIEWS.runs}.focus`);
}

/** Whether a run may begin; shows what speaks against it. */
function accepted(findings: Finding[], folder: Folder): boolean {
  showFindings(findings, folder.place.uri.fsPath);
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) {
    findingsCollection().clear();
    return true;
  }
  const problems = l10n.t('Show Problems');
  void window
    .showErrorMessage(l10n.t('Nothing was started: {0} ({1} errors)', errors[0].message, errors.length), problems)
    .then((chosen) => chosen === problems && commands.executeCommand('workbench.actions.view.problems'));
  return false;
}

/** The daemon would not start a run: findings are shown as findings, everything else goes to who called. */
function refused(error: unknown, folder: Folder): false {
  if (error instanceof DaemonError && error.kind === 'cancelled') return false;
  if (!(error instanceof DaemonError) || error.kind !== 'config' || !error.data.findings) throw error;
  accepted(error.data.findings as Finding[], folder);
  return false;
}
