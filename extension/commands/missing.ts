/** What a command needs and a newcomer does not have yet. */
import { commands, type LogOutputChannel, l10n, workspace } from 'vscode';
import { COMMANDS } from '../ids.ts';
import { tell } from '../messages.ts';

/** A command that makes what is missing. */
interface Way {
  title: string;
  command: string;
}

/** Thrown by commands in place of an error: nothing is broken, and there is a way on. */
export class Missing extends Error {
  readonly ways: Way[];

  /** @param message without a capital at its start. */
  constructor(message: string, ways: Way[] = []) {
    super(message);
    this.ways = ways;
  }
}

/** The ways that there are. */
export const ways = {
  openFolder: (): Way => ({ title: l10n.t('Open Folder'), command: 'vscode.openFolder' }),
  newConfig: (): Way => ({ title: l10n.t('New Training Config'), command: COMMANDS.newConfig }),
  newAdapter: (): Way => ({ title: l10n.t('New Adapter'), command: COMMANDS.newAdapter }),
  startTraining: (): Way => ({ title: l10n.t('Start Training'), command: COMMANDS.train }),
  openSampleRun: (): Way => ({ title: l10n.t('Open Sample Run'), command: COMMANDS.openSampleRun }),
  evaluateCheckpoint: (): Way => ({ title: l10n.t('Evaluate Checkpoint'), command: COMMANDS.evaluateCheckpoint }),
  serveCheckpoint: (): Way => ({ title: l10n.t('Serve Checkpoint'), command: COMMANDS.serveCheckpoint }),
};

export function noFolder(): Missing {
  return new Missing(l10n.t('open a folder first'), [ways.openFolder()]);
}

/** There is no run at all. */
export function noRuns(): Missing {
  if (!workspace.workspaceFolders?.length) return noFolder();
  return new Missing(l10n.t('there are no runs yet'), [ways.startTraining(), ways.openSampleRun()]);
}

/** Says what is missing, and goes the way that is chosen. */
export async function tellMissing({ message, ways: offered }: Missing, log: LogOutputChannel): Promise<void> {
  log.info(message);
  const titles = offered.map(({ title }) => title);
  const chosen = await tell(l10n.t('AgenticRoboRL: {0}', message), ...titles);
  const way = offered.find(({ title }) => title === chosen);
  if (way) await commands.executeCommand(way.command);
}
