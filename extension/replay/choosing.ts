/** Asking which episode to replay: a run, a section, an episode. Reads the files of runs; needs no daemon. */
import { posix } from 'node:path';
import { commands, l10n, type QuickPickItem, Uri, window, workspace } from 'vscode';
import { succeeded } from '../../protocol/outcome.ts';
import { openRecording, type Recording } from '../../recordings/index.ts';
import { type ListedEpisode, listedEpisodes } from '../../recordings/replay/index.ts';
import { exists } from '../creating/places.ts';
import { COMMANDS } from '../ids.ts';
import { tell } from '../messages.ts';
import { pick } from '../picking.ts';
import { episodeName, outcomeWords, sectionWord } from '../runs/words.ts';
import { isRun } from './places.ts';
import type { ReplayTarget } from './session.ts';

/** More of a section are not listed; who looks for an older one opens it from the tree. */
const MOST_EPISODES = 2000;

/** Folders of the workspace with files on this machine. */
export function workspaceFolders(): string[] {
  return (workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file').map(({ uri }) => uri.fsPath);
}

/** The episode that is picked; undefined when nothing is. @param known what needs not to be asked. */
export async function chooseEpisode(known: Partial<ReplayTarget> = {}): Promise<ReplayTarget | undefined> {
  const title = l10n.t('Replay Episode');
  const directory = known.directory ?? (await chooseRun(title));
  if (directory === undefined) return undefined;
  const recording = await openRecording(directory);
  try {
    const section = known.section ?? (await chooseSection(recording, title));
    if (section === undefined) return undefined;
    const episode = known.episode ?? (await chooseInSection(recording, section, title));
    return episode === undefined ? undefined : { directory, section, episode };
  } finally {
    await recording.close();
  }
}

/** Runs that lie elsewhere than in runs/; who has more than that names one. */
const MOST_ELSEWHERE = 100;

interface RunItem extends QuickPickItem {
  directory: string;
}

/** The only run of the workspace, or the one that is picked; the newest stands first. */
async function chooseRun(title: string): Promise<string | undefined> {
  const usual = await runsInPlace();
  const items = usual.length > 0 ? usual : await runsElsewhere();
  if (items.length === 0) return chooseRunFolder();
  // Names end with the time of the run's start.
  const timeOf = (name: string) => /\d{8}T?\d*|\d{4}-\d{2}-\d{2}.*$/.exec(name)?.[0] ?? '';
  items.sort((a, b) => timeOf(b.label).localeCompare(timeOf(a.label)) || b.label.localeCompare(a.label));
  if (items.length === 1) return items[0].directory;
  return (await pick(items, { title, placeHolder: l10n.t('Which run?') }))?.directory;
}

async function runsInPlace(): Promise<RunItem[]> {
  const items: RunItem[] = [];
  for (const folder of workspaceFolders()) {
    const runs = Uri.joinPath(Uri.file(folder), 'runs');
    if (!(await exists(runs))) continue;
    for (const [name] of await workspace.fs.readDirectory(runs)) {
      const place = Uri.joinPath(runs, name);
      if (isRun(place.fsPath)) items.push({ label: name, directory: place.fsPath });
    }
  }
  return items;
}

/** Copies and examples. Other programs call files run.json, too; ours has a journal beside it. */
async function runsElsewhere(): Promise<RunItem[]> {
  const found = await workspace.findFiles('**/run.json', '**/node_modules/**', MOST_ELSEWHERE);
  const items: RunItem[] = [];
  for (const file of found) {
    const place = Uri.joinPath(file, '..');
    if (file.scheme !== 'file' || !(await exists(Uri.joinPath(place, 'journal.jsonl')))) continue;
    const description = workspace.asRelativePath(place);
    items.push({ label: posix.basename(place.path), description, directory: place.fsPath });
  }
  return items;
}

/** Where the workspace has no run: one of another place, or the one that comes with the extension. */
async function chooseRunFolder(): Promise<string | undefined> {
  const [choose, sample] = [l10n.t('Choose Run Folder...'), l10n.t('Open Sample Run')];
  const told = l10n.t('There are no runs in this workspace, neither in runs/ nor elsewhere.');
  const answer = await tell(l10n.t('AgenticRoboRL: {0}', told), choose, sample);
  if (answer === sample) await commands.executeCommand(COMMANDS.openSampleRun);
  if (answer !== choose) return undefined;
  const options = { canSelectFiles: false, canSelectFolders: true, canSelectMany: false, title: choose };
  const [chosen] = (await window.showOpenDialog(options)) ?? [];
  if (chosen && !isRun(chosen.fsPath))
    throw new Error(l10n.t('{0} is no run: there is no run.json in it', chosen.fsPath));
  return chosen?.fsPath;
}

async function chooseSection(recording: Recording, title: string): Promise<string | undefined> {
  const { teacher, rounds, evaluations } = await recording.sections();
  const items: (QuickPickItem & { section: string })[] = [];
  for (const section of [...rounds.toReversed(), ...evaluations, ...teacher]) {
    const { length } = await recording.episodes(section);
    // The first episodes of a section have calls before they have records.
    if (length > 0 || (await recording.calls(section)).length > 0)
      items.push({
        label: sectionWord(section),
        description: length === 1 ? l10n.t('1 episode') : l10n.t('{0} episodes', length),
        section,
      });
  }
  if (items.length === 0) throw new Error(l10n.t('the run has no episode yet'));
  if (items.length === 1) return items[0].section;
  return (await pick(items, { title, placeHolder: l10n.t('Of which stage?') }))?.section;
}

async function chooseInSection(recording: Recording, section: string, title: string): Promise<string | undefined> {
  const episodes = (await listedEpisodes(recording, section, MOST_EPISODES)).reverse();
  if (episodes.length === 0) throw new Error(l10n.t('the run has no episode yet'));
  const items = episodes.map(itemOf);
  const options = { title, placeHolder: l10n.t('Which episode?'), matchOnDescription: true };
  const picked = await pick(items, options);
  if (picked && picked.episode === null)
    throw new Error(l10n.t('this episode cannot be opened, not even its id can be read: {0}', picked.description));
  return picked?.episode ?? undefined;
}

interface EpisodeItem extends QuickPickItem {
  icon: string;
  description: string;
  episode: string | null;
}

function itemOf({ id, state, record, task, init, attempt, damaged }: ListedEpisode): EpisodeItem {
  const known = task !== null && init !== null && attempt !== null;
  const label = known ? l10n.t('{0}, state {1}, attempt {2}', task, init, attempt) : episodeName(id ?? '?');
  if (record) {
    const icon = record.valid ? (succeeded(record) ? 'pass' : 'circle-slash') : 'warning';
    return { icon, label, description: outcomeWords(record), episode: id };
  }
  if (damaged !== null) return { icon: 'error', label, description: l10n.t('damaged: {0}', damaged), episode: id };
  const [icon, description] =
    state === 'running' ? ['sync', l10n.t('running')] : ['question', l10n.t('no record: the run ended before it did')];
  return { icon, label, description, episode: id };
}
