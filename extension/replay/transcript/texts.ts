/** Texts about one call that are looked at by themselves. */
import { l10n } from 'vscode';
import { isDamaged } from '../../../recordings/index.ts';
import {
  type ReplayEpisode,
  readBlock,
  Transcript,
  type TranscriptView,
  textSection,
  type Vocabulary,
  vocabularyOf,
} from '../../../recordings/replay/index.ts';
import type { PromptRenderer } from './prompts.ts';

/** Lines and characters of a recorded text that are shown at once; an editor takes more, but not gladly. */
const PAGE = 4_000_000;

/** A recorded text as it is, a page at a time. */
export async function blockText(
  episode: ReplayEpisode,
  { call, key, page }: Extract<TranscriptView, { mode: 'block' }>,
): Promise<string> {
  const found = await readBlock(episode, call, key);
  if (!found) throw new Error(l10n.t('call {0} has no text "{1}"', call, key));
  const text = found.lines
    .slice(1)
    .map((line) => line.slice(4))
    .join('\n');
  const pages = Math.max(1, Math.ceil(text.length / PAGE));
  const part = text.slice(page * PAGE, (page + 1) * PAGE);
  return pages === 1 ? part : `${l10n.t('Part {0} of {1}', page + 1, pages)}\n${part}`;
}

/** How many pages a text of so many characters has. */
export function pagesOf(characters: number): number {
  return Math.max(1, Math.ceil(characters / PAGE));
}

/** A response as it was sampled, control tokens among it. */
export async function sampledText(episode: ReplayEpisode, position: number): Promise<Transcript> {
  const told = await episode.call(position);
  const { call } = told;
  if (isDamaged(call)) throw new Error(call.damaged);
  if (!call.responseTokenIds) throw new Error(l10n.t('the server told no token ids'));
  const vocabulary = await requireVocabulary(episode, call.policyVersion);
  const { text } = vocabulary.decode(call.responseTokenIds);
  return new Transcript([], [textSection(told, l10n.t('the response as it was sampled'), [[l10n.t('tokens'), text]])]);
}

/** Tokens shown around the first one that differs. */
const [BEFORE, AFTER] = [10, 20];

/** The prompt of a call as its token ids tell it: as the server had it, or as the trainer renders it. */
export async function promptText(
  episode: ReplayEpisode,
  position: number,
  again: boolean,
  renderer: PromptRenderer,
): Promise<Transcript> {
  const told = await episode.call(position);
  const { call } = told;
  if (isDamaged(call)) throw new Error(call.damaged);
  if (told.contextDamaged !== null) throw new Error(told.contextDamaged);
  const recorded = call.promptTokenIds;
  if (!recorded) throw new Error(l10n.t('the server told no token ids'));
  const vocabulary = await requireVocabulary(episode, call.policyVersion);
  const rendered = await renderer.render(episode.recording, call);
  const ids = again ? rendered : recorded;
  const first = ids.findIndex((id, k) => id !== (again ? recorded : rendered)[k]);
  const at = first < 0 && recorded.length !== rendered.length ? Math.min(recorded.length, rendered.length) : first;
  const tokens = ids
    .slice(Math.max(0, at - BEFORE), at + AFTER)
    .map((id) => `${id} ${JSON.stringify(vocabulary.text(id) ?? '')}`);
  const label = again ? l10n.t('the prompt rendered again') : l10n.t('the prompt as recorded');
  const texts: [string, string][] = [[l10n.t('prompt, {0} tokens', ids.length), vocabulary.decode(ids).text]];
  // The same text may be cut into other tokens.
  if (at >= 0) texts.push([l10n.t('tokens around number {0}, the first that differs', at), tokens.join('\n')]);
  return new Transcript([], [textSection(told, label, texts)]);
}

async function requireVocabulary(episode: ReplayEpisode, policyVersion: number | null): Promise<Vocabulary> {
  const vocabulary = await vocabularyOf(episode.recording, policyVersion);
  if (!vocabulary) throw new Error(l10n.t('the run holds no tokenizer for this call'));
  return vocabulary;
}
