/** Starting, stopping and resuming runs. */
import { commands, l10n, type QuickPickItem, workspace } from 'vscode';
import type { DaemonParams } from '../../protocol/daemon.ts';
import type { Finding } from '../../protocol/finding.ts';
import { VIEWS } from '../ids.ts';
import { pick } from '../picking.ts';
import { mayExecute } from '../trust.ts';
import { chooseConfig, chooseRun, runOf, startDaemons } from './choosing.ts';
import { accepted, beginRun, folderOf, refused, saved } from './starting.ts';
import type { Surroundings } from './table.ts';

/** Picks a config, checks it with its adapter, and starts its run; with errors it shows them, and nothing is started. */
export async function startTraining({ folders }: Surroundings, argument?: unknown): Promise<void> {
  if (!mayExecute()) return;
  const config = await chooseConfig(argument, l10n.t('Start Training'));
  if (!config) return;
  const folder = folderOf(config, folders);
  if (!(await saved(config))) return;
  await beginRun(folder, l10n.t('Starting {0}', workspace.asRelativePath(config)), async ({ report, signal }) => {
    report(l10n.t('checking the config and its adapter'));
    const checked = await folder.client.request('config.validate', { files: [config.fsPath] }, signal);
    const findings = checked.files.flatMap((file) => file.findings as Finding[]);
    if (!accepted(findings, folder) || signal.aborted) return false;
    report(l10n.t('starting the run'));
    return folder.client.request('runs.start', { config: config.fsPath });
  });
}

/** Asks how, and stops a run of this window's daemons. */
export async function stopTraining({ folders }: Surroundings, argument?: unknown): Promise<void> {
  const title = l10n.t('Stop Training');
  const chosen = await chooseRun(
    argument,
    folders,
    ({ state }) => state === 'running',
    title,
    l10n.t('no run is at work'),
  );
  if (!chosen) return;
  const modes: (QuickPickItem & { mode: DaemonParams<'runs.stop'>['mode'] })[] = [
    { mode: 'episode', label: l10n.t('After the running episodes'), detail: l10n.t('Nothing is lost') },
    { mode: 'round', label: l10n.t('After the round'), detail: l10n.t('Its update is made first') },
    { mode: 'now', label: l10n.t('Now'), detail: l10n.t('Running episodes are played again when it is resumed') },
  ];
  const how = await pick(modes, { title, placeHolder: l10n.t('When is {0} to stop?', chosen.run) });
  if (how) await chosen.folder.client.request('runs.stop', { run: chosen.run, mode: how.mode });
}

/** Goes on with a run that was stopped, failed or was cut short. */
export async function resumeTraining({ folders }: Surroundings, argument?: unknown): Promise<void> {
  if (!mayExecute()) return;
  if (!runOf(argument)) await startDaemons(folders.all);
  const resumable = ['stopped', 'failed', 'interrupted'];
  const none = l10n.t('there is nothing to resume: no run was stopped, has failed or was cut short');
  const chosen = await chooseRun(
    argument,
    folders,
    ({ state }) => resumable.includes(state),
    l10n.t('Resume Run'),
    none,
  );
  if (!chosen) return;
  const { folder, run } = chosen;
  await folder.client.start();
  const resumed = await folder.client.request('runs.resume', { run }).catch((error) => refused(error, folder));
  if (!resumed) return;
  folder.runs.began(resumed);
  await commands.executeCommand(`${VIEWS.runs}.focus`);
}
