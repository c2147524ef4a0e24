/** Tells the user how runs and daemons ended, with what can be done next. */
import { commands, type Disposable, type LogOutputChannel, l10n } from 'vscode';
import type { NotificationParams } from '../../protocol/daemon.ts';
import type { DaemonState } from '../daemon/client.ts';
import type { Folder, Folders } from '../folders.ts';
import { COMMANDS } from '../ids.ts';
import { tell, tellError, tellWarning } from '../messages.ts';
import { showText } from '../texts.ts';

/** Characters. */
const LONGEST_MESSAGE = 240;

/** Watches all folders. A daemon that could not be started is told by the command that wanted it. */
export function tellEndings(folders: Folders, log: LogOutputChannel): Disposable {
  const before = new WeakMap<Folder, DaemonState>();
  return folders.onNews(({ folder, news }) => {
    let telling: Promise<void> | undefined;
    if (news.kind === 'ended') telling = runEnded(folder, news.ended);
    if (news.kind === 'status') {
      const { state } = folder.client.status;
      const last = before.get(folder);
      before.set(folder, state);
      if (state === 'failed' && last !== 'starting') telling = daemonFailed(folder);
      if (state === 'incompatible' && last !== state) telling = daemonIncompatible(folder);
    }
    telling?.catch((error: Error) => log.error(error.stack ?? error.message));
  });
}

async function runEnded(folder: Folder, { run, outcome, message, table }: NotificationParams<'run.ended'>) {
  const resume = l10n.t('Resume');
  const logs = l10n.t('Show Logs');
  const showTable = l10n.t('Show Table');
  let chosen: string | undefined;
  if (outcome === 'finished') {
    const words = l10n.t('{0} has finished.', run);
    chosen = await (table === null ? tell(words) : tell(words, showTable));
  } else if (outcome === 'stopped') chosen = await tell(l10n.t('{0} has stopped.', run), resume);
  else chosen = await tellError(l10n.t('{0} has failed: {1}', run, shortened(message ?? '')), resume, logs);
  if (chosen === resume) await commands.executeCommand(COMMANDS.resumeTraining, { kind: 'run', folder, run });
  else if (chosen === logs) await commands.executeCommand(COMMANDS.showDaemonLog);
  else if (chosen === showTable && table !== null) await showText(run, `${table}\n`);
}

async function daemonFailed({ client, place }: Folder) {
  const restart = l10n.t('Restart Daemon');
  const logs = l10n.t('Show Logs');
  const words = l10n.t('{0}: {1}', place.name, client.status.message ?? l10n.t('the daemon failed'));
  const chosen = await tellError(words, restart, logs);
  if (chosen === restart) await client.start();
  else if (chosen === logs) await commands.executeCommand(COMMANDS.showDaemonLog);
}

async function daemonIncompatible({ place, client }: Folder) {
  const restart = l10n.t('Restart Daemon');
  const words = l10n.t('{0}: a daemon of version {1} serves this folder', place.name, client.status.version ?? '?');
  if ((await tellWarning(words, restart)) === restart) await commands.executeCommand(COMMANDS.restartDaemon);
}

/** A notification is no place for a stack; the log has it whole. */
function shortened(message: string): string {
  return message.length <= LONGEST_MESSAGE ? message : `${message.slice(0, LONGEST_MESSAGE)}...`;
}
