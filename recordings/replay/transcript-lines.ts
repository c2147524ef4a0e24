/**
 * An episode as text to read, and where in it each call, tool call and the outcome stands. Of a request only what is new since
 * the call before is written out, and long texts are cut with a word about it, so that an episode of any size opens at once.
 */
import type { ResolvedCall } from '../../protocol/records.ts';
import { isDamaged } from '../documents.ts';
import type { ReplayAction } from './actions.ts';
import type { Part } from './cursor.ts';
import type { ReplayCall, ReplayEpisode } from './episode.ts';
import { shownInLine } from './shown-text.ts';
import {
  callSection,
  type Limits,
  outcomeSection,
  SHORT,
  type TranscriptBlock,
  type TranscriptSection,
  USUAL,
} from './transcript-section.ts';

export type { TranscriptBlock, TranscriptImage, TranscriptSection } from './transcript-section.ts';

/** Which calls of an episode are written out; without any, all. */
export interface TranscriptRange {
  /** The first one. */
  from?: number;
  /** The only one. */
  only?: number;
}

/** An episode's text with the places of its parts. Lines are 1-based. */
export class Transcript {
  readonly lines: readonly string[];
  readonly sections: readonly (TranscriptSection & { line: number })[];

  constructor(head: readonly string[], sections: readonly TranscriptSection[]) {
    const lines = [...head];
    this.sections = sections.map((section) => {
      const line = lines.length + 1;
      for (const one of section.lines) lines.push(one);
      return { ...section, line };
    });
    this.lines = lines;
  }

  get text(): string {
    return this.lines.join('\n');
  }

  /** Line of a part; of its call, where the part has none. Undefined for a call that is not in the text. */
  lineOf(call: number, part: Part): number | undefined {
    const outcome = part === 'outcome' && this.sections.find((one) => one.part === 'outcome');
    const section = outcome || this.sections.find((one) => one.part === 'call' && one.call === call);
    if (!section) return undefined;
    return section.line + (typeof part === 'number' ? (section.actions[part] ?? 0) : 0);
  }

  /** The part that a line belongs to; the first one for lines above it. Undefined in a text without sections. */
  partAt(line: number): { call: number; part: Part } | undefined {
    const section = this.sectionAt(line) ?? this.sections[0];
    if (!section) return undefined;
    if (section.part === 'outcome') return { call: section.call, part: 'outcome' };
    const action = section.actions.findLastIndex((one) => section.line + one <= line);
    return { call: section.call, part: action < 0 ? 'call' : action };
  }

  /** The section that a line belongs to; undefined above the first one. */
  sectionAt(line: number): (TranscriptSection & { line: number }) | undefined {
    return this.sections.findLast((one) => one.line <= line);
  }

  /** The first and last line of a part. */
  linesOf(call: number, part: Part): { from: number; to: number } | undefined {
    const from = this.lineOf(call, part);
    if (from === undefined) return undefined;
    const section = this.sectionAt(from);
    if (!section) return undefined;
    if (typeof part !== 'number') return { from, to: section.line + section.lines.length - 1 };
    const blocks = section.blocks.filter(({ index }) => index === part);
    return { from, to: section.line + Math.max(from - section.line, ...blocks.map(({ to }) => to)) };
  }
}

/** Beyond this much text, further messages are cut shorter: the whole stays well below what an editor takes (50 MB). */
const MOST_CHARACTERS = 16_000_000;
const MOST_LINES = 200_000;

/**
 * Reads an episode call by call to its text.
 * @param whole calls whose request is written out whole, not only what is new in it.
 * @param progress is given each section as soon as it is read.
 * @throws RangeError when there is no such call.
 */
export async function readTranscript(
  episode: ReplayEpisode,
  whole?: ReadonlySet<number> | 'all',
  { from = 0, only }: TranscriptRange = {},
  progress?: (section: TranscriptSection) => void,
): Promise<Transcript> {
  const { length } = episode;
  const first = only ?? from;
  const end = only === undefined ? length : only + 1;
  const sections: TranscriptSection[] = [];
  let [characters, lines] = [0, 0];
  let before = first > 0 && first < length ? await episode.call(first - 1) : undefined;
  for (let position = first; position < end; position++) {
    const told = await episode.call(position);
    const limits: Limits = characters > MOST_CHARACTERS || lines > MOST_LINES ? SHORT : USUAL;
    const section = callSection(told, { whole: whole === 'all' || (whole?.has(position) ?? false), limits, before });
    sections.push(section);
    progress?.(section);
    for (const line of section.lines) characters += line.length;
    lines += section.lines.length;
    before = told;
  }
  if (only === undefined && !episode.open) sections.push(outcomeSection(episode.outcome, Math.max(0, length - 1)));
  return new Transcript(headOfTranscript(episode), sections);
}

/** The lines above the first call. */
export function headOfTranscript({
  outcome: { record, reason },
  id,
  section,
  recording,
  open,
}: ReplayEpisode): string[] {
  const what = record
    ? `${shownInLine(record.task)} · initial state ${record.init} · attempt ${record.attempt} · ${section}`
    : section;
  const state = record ? [] : [open ? 'being written' : shownInLine(reason ?? '', 2000)];
  return [`episode ${shownInLine(id, 300)}`, what, `run ${shownInLine(recording.info.name)}`, ...state, ''];
}

const NO_LIMITS: Limits = { characters: Number.POSITIVE_INFINITY, lines: Number.POSITIVE_INFINITY };

/** Reads one block of a call, however long. Undefined when the call has none of that key. */
export async function readBlock(
  episode: ReplayEpisode,
  position: number,
  key: string,
): Promise<{ block: TranscriptBlock; lines: string[] } | undefined> {
  const before = position > 0 ? await episode.call(position - 1) : undefined;
  const { blocks, lines } = callSection(await episode.call(position), { whole: true, limits: NO_LIMITS, before });
  const block = blocks.find((one) => one.key === key);
  return block && { block, lines: lines.slice(block.from, block.to + 1) };
}

/**
 * The first call at which two episodes differ, in what is new in the request or in the response; where one goes on longer, the
 * call that the other lacks. Undefined when all calls are alike.
 */
export async function firstDifference(one: ReplayEpisode, other: ReplayEpisode): Promise<number | undefined> {
  const shared = Math.min(one.length, other.length);
  for (let position = 0; position < shared; position++) {
    if (fingerprint(await one.call(position)) !== fingerprint(await other.call(position))) return position;
  }
  return one.length === other.length ? undefined : shared;
}

/** Ids of tool calls are a server's and say nothing. */
function fingerprint({ call, newSince, toolCalls }: ReplayCall): string {
  if (isDamaged(call)) return 'damaged';
  const { response, request }: ResolvedCall = call;
  const news = request.messages.slice(newSince).map(({ role, content }) => [role, content]);
  const actions = toolCalls.map(({ name, argumentText, result }) => [name, argumentText, result]);
  return JSON.stringify([response?.content, response?.reasoning, actions, news, call.status]);
}

/** One-line name of an action, such as `pick {"object":"red-cube"}`. */
export function actionWords({ kind, name, argumentText, code }: ReplayAction): string {
  const text = shownInLine(kind === 'cell' || code !== null ? (code ?? '') : argumentText, 100).replaceAll('␊', ' ');
  return `${shownInLine(name, 60)} ${text.trim()}`;
}
