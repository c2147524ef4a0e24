/** Replay Episode and Open Sample Run: from the tree of runs, from a file of calls, or by asking. */
import { l10n, Uri, window } from 'vscode';
import { chooseEpisode } from '../replay/choosing.ts';
import { callNamed, sectionOf as sectionOfFile } from '../replay/places.ts';
import { sectionOf } from '../replay/replay.ts';
import { sampleEpisode } from '../replay/sample-run.ts';
import type { Node } from '../runs/items.ts';
import { fileOf } from './choosing.ts';
import type { Surroundings } from './table.ts';

/** Opens the episode, at the call where one is named. */
export async function replayEpisode({ replay }: Surroundings, argument?: unknown): Promise<void> {
  const file = fileOf(argument);
  if (file) {
    const found = sectionOfFile(file.fsPath);
    if (!found) throw new Error(l10n.t('{0} is no file of calls of a run', file.fsPath));
    const chosen = await chooseEpisode(found);
    if (chosen) await replay.start(chosen);
    return;
  }
  const node = argument as Node | undefined;
  if (node?.kind === 'episode' || node?.kind === 'call' || node?.kind === 'sample') return replayNode(replay, node);
  const open = window.activeTextEditor?.document.uri;
  const here = open?.scheme === 'file' ? sectionOfFile(open.fsPath) : undefined;
  const chosen = await chooseEpisode(here);
  if (chosen) await replay.start(chosen);
}

/** Replays an episode of the run that comes with the extension, wherever one is. */
export async function openSampleRun({ context, replay }: Surroundings): Promise<void> {
  await replay.start(await sampleEpisode(Uri.joinPath(context.extensionUri, 'examples', 'sample-run').fsPath));
}

async function replayNode(
  replay: Surroundings['replay'],
  node: Extract<Node, { kind: 'episode' | 'call' | 'sample' }>,
): Promise<void> {
  const directory = Uri.joinPath(node.folder.place.uri, node.run).fsPath;
  if (node.kind === 'episode') return replay.start({ directory, section: node.section, episode: node.episode.id });
  const call = node.kind === 'call' ? node.call.id : node.sample.call;
  const named = callNamed(call);
  if (!named) throw new Error(l10n.t('{0} names no episode', call));
  const { episode, turn } = named;
  await replay.start({ directory, section: await sectionOf(directory, episode), episode }, { turn });
}
