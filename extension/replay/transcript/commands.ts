/** What can be done in a transcript, from its lenses, the palette or the keyboard. */
import {
  commands,
  l10n,
  type QuickPickItem,
  Range,
  Selection,
  type TextDocument,
  TextEditorRevealType,
  Uri,
  window,
  workspace,
} from 'vscode';
import { isDamaged } from '../../../recordings/index.ts';
import {
  firstDifference,
  HEATS,
  type Heat,
  openReplayEpisode,
  type Part,
  type Rest,
} from '../../../recordings/replay/index.ts';
import type { Surroundings } from '../../commands/table.ts';
import { tell } from '../../messages.ts';
import { pick } from '../../picking.ts';
import type { Node } from '../../runs/items.ts';
import { outcomeWords } from '../../runs/words.ts';
import { setTokenHeat, tokenHeat } from '../../settings.ts';
import { chooseEpisode } from '../choosing.ts';
import { callNamed } from '../places.ts';
import { sectionOf } from '../replay.ts';
import type { ReplayTarget } from '../session.ts';
import { roomBesideStage } from '../stage/room.ts';
import { numberWords } from './credit.ts';
import type { OpenTranscript } from './documents.ts';

/** Milliseconds. */
const LONGEST_WAIT = 10_000;

/** What a lens says about where it is. */
interface LensArgument {
  uri: string;
  call: number;
}

interface Place extends OpenTranscript {
  call: number;
  part: Part;
}

function isLens(argument: unknown): argument is LensArgument {
  const { uri, call } = (argument ?? {}) as Partial<LensArgument>;
  return typeof uri === 'string' && typeof call === 'number';
}

/** The place that a lens is at, or the text cursor. @throws Error when there is no transcript there. */
async function placeOf({ transcripts }: Surroundings, argument: unknown): Promise<Place> {
  const editor = window.activeTextEditor;
  const document = isLens(argument)
    ? await workspace.openTextDocument(Uri.parse(argument.uri, true))
    : editor?.document;
  const shows = transcripts.of(document);
  if (!shows) throw new Error(l10n.t('open the transcript of an episode first'));
  if (isLens(argument)) return { ...shows, call: argument.call, part: 'call' };
  const at = shows.transcript?.partAt((editor?.selection.active.line ?? 0) + 1);
  if (!at) throw new Error(l10n.t('there is no call here'));
  return { ...shows, ...at };
}

/** Opens the transcript of the episode or call called from, of what is replayed, or of an episode that is picked. */
export async function openTranscript(surroundings: Surroundings, argument?: unknown): Promise<void> {
  const { current } = surroundings.sessions;
  const named = await episodeOf(argument);
  const target = named ?? current?.target ?? (await chooseEpisode());
  if (target) await showTranscript(surroundings, target, named?.turn);
}

/** The episode of a tree item, with the turn of a call's. */
async function episodeOf(argument: unknown): Promise<(ReplayTarget & { turn?: number }) | undefined> {
  const node = argument as Node | undefined;
  if (node?.kind !== 'episode' && node?.kind !== 'call' && node?.kind !== 'sample') return undefined;
  const directory = Uri.joinPath(node.folder.place.uri, node.run).fsPath;
  if (node.kind === 'episode') return { directory, section: node.section, episode: node.episode.id };
  const call = node.kind === 'call' ? node.call.id : node.sample.call;
  const named = callNamed(call);
  if (!named) throw new Error(l10n.t('{0} names no episode', call));
  return { directory, section: await sectionOf(directory, named.episode), ...named };
}

/**
 * Shows a transcript, and its session as what is looked at where nothing else is.
 * @param turn to be in sight; where the session stands when left out. The session is not moved.
 */
export async function showTranscript(
  { transcripts, sessions }: Surroundings,
  target: ReplayTarget,
  turn?: number,
): Promise<void> {
  const { directory, section, episode } = target;
  const document = await workspace.openTextDocument(transcripts.addressOf({ directory, section, episode }));
  const shows = transcripts.of(document);
  if (shows && !sessions.current) sessions.show(shows.session);
  await roomBesideStage();
  const editor = await window.showTextDocument(document, { preview: false });
  if (!shows) return;
  const named = turn === undefined ? undefined : shows.episode.positionOf(turn);
  const { call, part } = named === undefined ? shows.session.cursor.position : { call: named, part: 'call' as const };
  let line = shows.transcript?.lineOf(call, part);
  if (line === undefined && named !== undefined) {
    // Of a long episode only the first calls are there at once.
    line = (await shows.session.transcript(shows.thread)).lineOf(call, part);
    await grown(document, line ?? 0);
  }
  if (line === undefined) return;
  const start = new Range(line - 1, 0, line - 1, 0);
  if (named !== undefined) editor.selection = new Selection(start.start, start.start);
  if (named !== undefined) editor.revealRange(start, TextEditorRevealType.AtTop);
  else if (line > 20) editor.revealRange(start);
}

/** Waits until a document has so many lines, and no longer than one waits for a text. */
function grown(document: TextDocument, lines: number): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.lineCount < lines) return;
      clearTimeout(timer);
      listener.dispose();
      resolve();
    };
    const listener = workspace.onDidChangeTextDocument(look);
    const timer = setTimeout(() => {
      listener.dispose();
      resolve();
    }, LONGEST_WAIT);
    look();
  });
}

export async function goToCall(surroundings: Surroundings, argument?: unknown): Promise<void> {
  const { session, thread, call, part } = await placeOf(surroundings, argument);
  surroundings.sessions.show(session);
  await session.cursor.goto({ thread, call, part });
}

export async function nextCall(surroundings: Surroundings): Promise<void> {
  const { session, thread } = await placeOf(surroundings, undefined);
  surroundings.sessions.show(session);
  tellEnd(await session.cursor.stepForward(thread));
}

export async function previousCall(surroundings: Surroundings): Promise<void> {
  const { session, thread } = await placeOf(surroundings, undefined);
  surroundings.sessions.show(session);
  tellEnd(await session.cursor.stepBack(thread));
}

const SHORTLY = 3000;

function tellEnd({ reason }: Rest): void {
  if (reason === 'start') window.setStatusBarMessage(l10n.t('This is the first call.'), SHORTLY);
  if (reason === 'end') window.setStatusBarMessage(l10n.t('There is nothing further in this episode.'), SHORTLY);
}

export async function toggleContext(surroundings: Surroundings, argument?: unknown): Promise<void> {
  const { session, thread, call, target } = await placeOf(surroundings, argument);
  if (target.view || target.cell) throw new Error(l10n.t('this text shows all that it can'));
  session.showWhole(thread, call, !session.isWhole(thread, call));
}

export async function showFullTranscript(surroundings: Surroundings, argument?: unknown): Promise<void> {
  const { target } = await placeOf(surroundings, argument);
  const uri = surroundings.transcripts.addressOf({ ...target, cell: undefined, view: { mode: 'full' } });
  await window.showTextDocument(uri, { preview: false });
}

export async function showSampled(surroundings: Surroundings, argument?: unknown): Promise<void> {
  const { target, call } = await placeOf(surroundings, argument);
  const uri = surroundings.transcripts.addressOf({ ...target, cell: undefined, view: { mode: 'sampled', call } });
  await window.showTextDocument(uri, { preview: true });
}

export async function chooseTokenHeat(): Promise<void> {
  const words: Record<Heat, string> = {
    off: l10n.t('No colours'),
    logprob: l10n.t('How likely each token was when it was sampled (log b)'),
    ratio: l10n.t('How much likelier training made it (p / b)'),
  };
  const now = tokenHeat();
  const items = HEATS.map((heat) => ({ label: words[heat], description: heat === now ? l10n.t('now') : '', heat }));
  const title = l10n.t('Colours of Tokens');
  const chosen = await pick(items, { title, placeHolder: l10n.t('What shall colours tell?') });
  if (chosen) await setTokenHeat(chosen.heat);
}

/** Puts two attempts of a group beside each other, from the first call at which they differ. */
export async function compareAttempts(surroundings: Surroundings, argument?: unknown): Promise<void> {
  const { episode, target } = await placeOf(surroundings, argument);
  const others = episode.group.filter(({ id }) => id !== episode.id);
  if (others.length === 0) throw new Error(l10n.t('this episode has no other attempts'));
  const items = others.map((attempt): QuickPickItem & { id: string } => ({
    label: l10n.t('attempt {0}', attempt.attempt),
    description: outcomeWords({ ...attempt, reward: numberWords(attempt.reward) }),
    detail: attempt.id,
    id: attempt.id,
  }));
  const title = l10n.t('Compare with Another Attempt');
  const chosen = await pick(items, { title, placeHolder: l10n.t('Which attempt?') });
  if (!chosen) return;
  const other = await openReplayEpisode(episode.recording, target.section, chosen.id);
  const call = await firstDifference(episode, other);
  if (call === undefined) {
    void tell(l10n.t('Both attempts are alike, call by call.'));
    return;
  }
  const place = { directory: target.directory, section: target.section, view: { mode: 'from' as const, call } };
  const [left, right] = [episode.id, chosen.id].map((id) =>
    surroundings.transcripts.addressOf({ ...place, episode: id }),
  );
  const own = episode.group.find(({ id }) => id === episode.id)?.attempt ?? '?';
  const name = l10n.t('attempt {0} and {1}, from call {2}', own, chosen.label.replace(/\D+/g, ''), call);
  await commands.executeCommand('vscode.diff', left, right, name);
}

/** The prompt of a call as it was recorded beside the one that the trainer renders from its messages. */
export async function comparePrompts(surroundings: Surroundings, argument?: unknown): Promise<void> {
  const { episode, target, call } = await placeOf(surroundings, argument);
  const told = await episode.call(call);
  if (isDamaged(told.call)) throw new Error(told.call.damaged);
  if (told.contextDamaged !== null) throw new Error(told.contextDamaged);
  const [left, right] = [false, true].map((again) =>
    surroundings.transcripts.addressOf({ ...target, cell: undefined, view: { mode: 'prompt', call, again } }),
  );
  const name = l10n.t('prompt of call {0}: recorded, and rendered again', call);
  await commands.executeCommand('vscode.diff', left, right, name);
}
