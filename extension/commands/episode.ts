/** Run One Episode: one task from one initial state, played by the teacher or by a checkpoint, as a run of its own. */
import { l10n, type QuickPickItem, Uri, workspace } from 'vscode';
import type { DaemonParams } from '../../protocol/daemon.ts';
import type { Folder, Folders } from '../folders.ts';
import { askText, pick } from '../picking.ts';
import { mayExecute } from '../trust.ts';
import { chooseCheckpoint, policyOf } from './checkpoint.ts';
import { chooseConfig } from './choosing.ts';
import { adapterIn, isTask, stateIn, taskChoices } from './episode-words.ts';
import { beginRun, folderOf, saved } from './starting.ts';
import type { Surroundings } from './table.ts';

type Player = DaemonParams<'episodes.run'>['player'];

/** Asks for config, task, initial state and player, and starts the episode. From a policy's item, that policy plays. */
export async function runEpisode({ folders, log }: Surroundings, argument?: unknown): Promise<void> {
  if (!mayExecute()) return;
  const title = l10n.t('Run One Episode');
  const config = await chooseConfig(argument, title);
  if (!config) return;
  const folder = folderOf(config, folders);
  if (!(await saved(config))) return;
  await folder.client.start();
  const tasks = await tasksOf(folder, config).catch((error: Error) => {
    // What is wrong with it is told when the episode is started; the task can be typed.
    log.info(`the tasks of ${config.fsPath} cannot be listed: ${error.message}`);
    return [];
  });
  const task = await chooseTask(tasks, title);
  if (task === undefined) return;
  const typed = await askText({
    title,
    prompt: l10n.t('Initial state of {0}', task),
    value: '0',
    ignoreFocusOut: true,
    validateInput: (text) => (stateIn(text) === undefined ? l10n.t('a whole number, 0 or more') : undefined),
  });
  const init = typed === undefined ? undefined : stateIn(typed);
  if (init === undefined) return;
  const player = await choosePlayer(argument, folders, folder, title);
  if (player === undefined) return;
  // The wait may be given up, the run not: it is stopped with Stop Training.
  await beginRun(folder, l10n.t('Starting an episode of {0}', task), () =>
    folder.client.request('episodes.run', { config: config.fsPath, task, init, player }),
  );
}

async function tasksOf({ client }: Folder, config: Uri) {
  const text = (await workspace.openTextDocument(config)).getText();
  const adapter = adapterIn(text, Uri.joinPath(config, '..').fsPath);
  if (adapter === undefined) return [];
  const checked = await client.request('adapter.check', { adapter, outputs: [] });
  return taskChoices(checked.adapter.tasks);
}

/** Of those that the adapter lists; where it lists none, the one that is typed. */
async function chooseTask(tasks: { task: string; instruction: string }[], title: string): Promise<string | undefined> {
  if (tasks.length === 0) {
    const typed = await askText({
      title,
      prompt: l10n.t('Task as suite/index, for example tabletop_spatial/3'),
      ignoreFocusOut: true,
      validateInput: (text) => (isTask(text) ? undefined : l10n.t('suite/index, for example tabletop_spatial/3')),
    });
    return typed?.trim();
  }
  const items = tasks.map(({ task, instruction }) => ({ label: task, description: instruction }));
  const placeHolder = l10n.t('Which task?');
  return (await pick(items, { title, placeHolder, matchOnDescription: true }))?.label;
}

async function choosePlayer(
  argument: unknown,
  folders: Folders,
  folder: Folder,
  title: string,
): Promise<Player | undefined> {
  const named = policyOf(argument);
  if (named?.folder === folder) return { checkpoint: named.checkpoint };
  const teacher: QuickPickItem = { label: l10n.t('The teacher of the config') };
  const planner: QuickPickItem = { label: l10n.t('A checkpoint') };
  const who = await pick([teacher, planner], { title, placeHolder: l10n.t('Who plays?') });
  if (who === teacher) return 'teacher';
  if (who !== planner) return undefined;
  const chosen = await chooseCheckpoint(undefined, folders, title, { only: folder });
  return chosen && { checkpoint: chosen.checkpoint };
}
