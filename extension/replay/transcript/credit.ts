/** What became of the calls of an episode: reward, advantage, and whether they were trained on, in words. Knows nothing of VS Code. */
import type { SampleRecord, TargetRecord } from '../../../protocol/records.ts';
import { isDamaged } from '../../../recordings/index.ts';
import { type EpisodeOutcome, type ReplayEpisode, roundOf } from '../../../recordings/replay/index.ts';
import type { Language } from '../../panel/words.ts';
import { pageWords } from '../../run-page/wording.ts';

/** Samples and targets of an episode, by call. */
export interface Credits {
  samples: ReadonlyMap<string, SampleRecord>;
  targets: ReadonlyMap<string, TargetRecord>;
}

/** Reads them; those that are damaged are left out (the transcript tells of them). */
export async function creditsOf({ recording, section, id }: ReplayEpisode): Promise<Credits> {
  const round = roundOf(section);
  const samples = round === undefined ? [] : await (await recording.samples(round)).forEpisode(id);
  const targets = section === 'teacher' ? await (await recording.targets()).forEpisode(id) : [];
  const byCall = <T extends { call: string }>(records: readonly (T | object)[]): Map<string, T> =>
    new Map(records.flatMap((record) => (isDamaged(record) ? [] : [[(record as T).call, record as T] as const])));
  return { samples: byCall<SampleRecord>(samples), targets: byCall<TargetRecord>(targets) };
}

/** A number with at most six digits that say something. */
export function numberWords(value: number): string {
  return String(Number(value.toPrecision(6)));
}

export function signed(value: number): string {
  return `${value > 0 ? '+' : ''}${numberWords(value)}`;
}

/** Further words of this part of the editor. */
export interface CreditWords {
  reward: string;
  invalid: string;
  advantage: string;
  used: string;
  unused: string;
  target: string;
  historyOnly: string;
  dropped: string;
}

/** `reward 1 · advantage +0.5 · trained on, u 0.333333`; nothing of what is not known. */
export function creditText(
  { record }: EpisodeOutcome,
  sample: SampleRecord | undefined,
  target: TargetRecord | undefined,
  words: CreditWords,
  language: Language,
): string {
  const parts: string[] = [];
  const put = (text: string, value: string) => parts.push(text.replace('{0}', () => value));
  if (record) {
    if (record.valid) put(words.reward, numberWords(record.reward));
    else put(words.invalid, record.invalidReason ?? '');
  }
  if (sample) {
    if (sample.advantage !== null) put(words.advantage, signed(sample.advantage));
    if (sample.status === 'selected') put(words.used, sample.u === null ? '-' : numberWords(sample.u));
    else put(words.unused, reasonWords(sample.status, language));
  }
  if (target) {
    if (target.status === 'target') parts.push(words.target);
    else if (target.status === 'history-only') parts.push(words.historyOnly);
    else put(words.dropped, target.status.replace(/^dropped:/, ''));
  }
  return parts.join(' · ');
}

/** Why a call was not trained on, in words where the reason is known. */
export function reasonWords(status: string, language: Language): string {
  const words: Record<string, string> = pageWords(language);
  return Object.hasOwn(words, status) ? words[status] : status;
}
