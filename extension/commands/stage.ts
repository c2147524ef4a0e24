/** Opening the stage of an episode. */
import { Uri } from 'vscode';
import { chooseEpisode } from '../replay/choosing.ts';
import type { ReplayTarget } from '../replay/session.ts';
import type { Node } from '../runs/items.ts';
import type { Surroundings } from './table.ts';

/** Shows the stage of the episode called from, of the one that is replayed now, or of the one that is picked. */
export async function openStage({ sessions, stages }: Surroundings, argument?: unknown): Promise<void> {
  const target = targetOf(argument) ?? sessions.current?.target ?? (await chooseEpisode());
  if (target) await stages.open(target);
}

/** The episode of a tree item. */
function targetOf(argument: unknown): ReplayTarget | undefined {
  const node = argument as Node | undefined;
  if (node?.kind !== 'episode') return undefined;
  const { folder, run, section, episode } = node;
  return { directory: Uri.joinPath(folder.place.uri, run).fsPath, section, episode: episode.id };
}
