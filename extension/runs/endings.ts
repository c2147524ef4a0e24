/** Tells the user how runs and daemons ended, with what can be done next. */
import { commands, type Disposable, l10n, type LogOutputChannel, window } from 'vscode';
import type { NotificationParams } from '../../protocol/daemon.ts';
import type { Folder, Folders } from '../folders.ts';
import { COMMANDS } from '../ids.ts';
import { showText } from '../texts.ts';

/** Characters. */
const LONGEST_MESSAGE = 240;

/** Watches all folders. */
export function tellEndings(folders: Folders, log: LogOutputChannel): Disposable {
  return folders.onNews(({ folder, news }) => {
    const told =
      news.kind === 'ended'
        ? runEnded(folder, news.ended)
        : news.kind === 'status' && folder.client.status.state === 'failed'
          ? daemonFailed(folder)
          : undefined;
    told?.catch((error: Error) => log.error(error.stack ?? error.message));
  });
}

async function runEnded(folder: Folder, { run, outcome, message, table }: NotificationParams<'run.ended'>) {
  const resume = l10n.t('Resume');
  const logs = l10n.t('Show Logs');
  const showTable = l10n.t('Show Table');
  let chosen: string | undefined;
  if (outcome === 'finished') {
    const words = l10n.t('{0} has finished.', run);
    chosen = await (table === null ? window.showInformationMessage(words) : window.showInformationMessage(words, showTable));
  } else if (outcome === 'stopped') chosen = await window.showInformationMessage(l10n.t('{0} has stopped.', run), resume);
  else chosen = await window.showErrorMessage(l10n.t('{0} has failed: {1}', run, shortened(message ?? '')), resume, logs);
  if (chosen === resume) await commands.executeCommand(COMMANDS.resumeTraining, { kind: 'run', folder, run });
  else if (chosen === logs) await commands.executeCommand(COMMANDS.showDaemonLog);
  else if (chosen === showTable && table !== null) await showText(run, `${table}\n`);
}

async function daemonFailed({ client, place }: Folder) {
  const restart = l10n.t('Restart Daemon');
  const logs = l10n.t('Show Logs');
  const words = l10n.t('{0}: {1}', place.name, client.status.message ?? l10n.t('the daemon failed'));
  const chosen = await window.showErrorMessage(words, restart, logs);
  if (chosen === restart) await client.start();
  else if (chosen === logs) await commands.executeCommand(COMMANDS.showDaemonLog);
}

/** A notification is no place for a stack; the log has it whole. */
function shortened(message: string): string {
  return message.length <= LONGEST_MESSAGE ? message : `${message.slice(0, LONGEST_MESSAGE)}...`;
}
