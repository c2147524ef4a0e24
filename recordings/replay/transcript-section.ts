/**
 * The lines of one call, or of the outcome, in an episode's text. A section begins at the margin, the labels of its blocks are
 * indented by two, recorded text by four: no recorded text can pass for a heading, a label or a mark of ours.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Message, Tool } from '../../protocol/chat.ts';
import { plural } from '../../protocol/counting.ts';
import { imageRefSchema, type ResolvedCall } from '../../protocol/records.ts';
import { isDamaged } from '../documents.ts';
import { UNREAD_MESSAGE } from '../resolve.ts';
import type { ReplayAction } from './actions.ts';
import type { EpisodeOutcome, ReplayCall } from './episode.ts';
import { cutAt, shown, shownInLine } from './shown-text.ts';

/** Columns before recorded text. */
export const TEXT_COLUMN = 4;

/** A stretch of lines of a section, 0-based from the section's first line; `to` is the last one. */
export interface TranscriptBlock {
  kind: 'request' | 'tools' | 'message' | 'reasoning' | 'text' | 'action' | 'result' | 'other' | 'problem';
  /** Names it in its call, for example `message.3` or `result.0`. */
  key: string;
  /** Of an action or result: which. */
  index?: number;
  label: string;
  from: number;
  to: number;
  /** Of what the planner wrote itself: the text as recorded, as far as it is shown, and the line where it begins. */
  source?: { text: string; line: number };
  /** Lines that say how many characters are not shown. */
  cuts: { line: number; characters: number }[];
  images: TranscriptImage[];
}

/** An image's line; columns of what may be clicked. */
export interface TranscriptImage {
  line: number;
  start: number;
  end: number;
  sha256: string;
  mediaType: string;
  bytes: number;
}

/** The lines of one call or of the outcome. */
export interface TranscriptSection {
  part: 'call' | 'outcome';
  /** Position of the call; that of the last call for the outcome. */
  call: number;
  /** Id of the call; null for the outcome, and for a damaged one. */
  id: string | null;
  /** Null for the outcome, and for a damaged line whose turn is not known. */
  turn: number | null;
  lines: string[];
  /** Line of each action, from the section's first line. */
  actions: number[];
  blocks: TranscriptBlock[];
}

/** How much of each recorded text is shown. */
export interface Limits {
  characters: number;
  lines: number;
}
/** Enough for nearly every message; what is longer is cut, and can be opened by itself. */
export const USUAL: Limits = { characters: 20_000, lines: 1000 };
export const SHORT: Limits = { characters: 400, lines: 6 };
/** For a text that is looked at by itself. */
const LARGE: Limits = { characters: 10_000_000, lines: 500_000 };

/** What of a call is written out. */
export interface SectionOptions {
  /** The whole request; otherwise what is new since the call before. */
  whole: boolean;
  limits: Limits;
  /** The call before, whose response and results are not repeated. */
  before?: ReplayCall;
}

class Lines {
  readonly lines: string[] = [];
  readonly blocks: TranscriptBlock[] = [];
  private readonly limits: Limits;

  constructor(limits: Limits) {
    this.limits = limits;
  }

  open(kind: TranscriptBlock['kind'], key: string, label: string): TranscriptBlock {
    const at = this.lines.length;
    this.lines.push(`  ${label}`);
    const block: TranscriptBlock = { kind, key, label, from: at, to: at, cuts: [], images: [] };
    this.blocks.push(block);
    return block;
  }

  /** Adds recorded text to a block that is the last one. @returns the text as far as it is shown, and its first line. */
  text(block: TranscriptBlock, text: string): { text: string; line: number } {
    const line = this.lines.length;
    const kept = cutLines(cutAt(text, this.limits.characters), this.limits.lines);
    for (const one of shown(kept).split('\n')) this.lines.push(one === '' ? '' : `    ${one}`);
    if (kept.length < text.length) {
      const characters = text.length - kept.length;
      block.cuts.push({ line: this.lines.length, characters });
      this.lines.push(`  … ${characters} more characters of ${text.length}`);
    }
    block.to = this.lines.length - 1;
    return { text: kept, line };
  }

  image(block: TranscriptBlock, part: unknown): void {
    const { success, data } = imageRefSchema.safeParse(part);
    const words = success ? `[image ${shownInLine(data.mediaType, 60)}, ${data.bytes} bytes]` : '[image]';
    if (success) {
      const { sha256, mediaType, bytes } = data;
      const start = TEXT_COLUMN;
      block.images.push({ line: this.lines.length, start, end: start + words.length, sha256, mediaType, bytes });
    }
    this.lines.push(`    ${words}`);
    block.to = this.lines.length - 1;
  }

  message(key: string, message: Message, label = shownInLine(message.role, 40)): TranscriptBlock {
    const { content, reasoning_content: reasoning, tool_calls: calls } = message;
    const block = this.open('message', key, `${label}:`);
    if (typeof reasoning === 'string' && reasoning !== '') this.text(block, `(reasoning) ${reasoning}`);
    if (typeof content === 'string' && content !== '') this.text(block, content);
    else
      for (const part of Array.isArray(content) ? content : []) {
        if (part.type === 'image_ref' || (part.text === undefined && part.type.includes('image')))
          this.image(block, part);
        else this.text(block, part.text ?? `[${part.type}]`);
      }
    for (const { function: tool } of calls ?? []) this.text(block, `-> ${tool.name} ${tool.arguments}`);
    return block;
  }
}

/** The section of a call. */
export function callSection(told: ReplayCall, options: SectionOptions): TranscriptSection {
  const { call, position, turn, toolCalls, problems } = told;
  const text = new Lines(options.limits);
  text.lines.push([turn === null ? 'a call' : `turn ${turn}`, ...headOf(told)].join(' · '));
  let actions: number[] = [];
  if (isDamaged(call)) text.text(text.open('problem', 'damaged', 'damaged:'), call.damaged);
  else {
    addRequest(text, told, call, options);
    if (call.error !== null) text.text(text.open('problem', 'error', `${call.status}:`), call.error);
    const { response } = call;
    if (response?.reasoning) {
      const block = text.open('reasoning', 'reasoning', 'reasoning:');
      block.source = text.text(block, response.reasoning);
    }
    if (response?.content) {
      const block = text.open('text', 'text', 'answer:');
      block.source = text.text(block, response.content);
    }
    actions = addActions(text, toolCalls);
    if (options.whole && call.responseOther)
      text.text(text.open('other', 'reply', 'other fields of the reply:'), jsonOf(call.responseOther.fields));
  }
  problems.forEach((problem, k) => {
    text.text(text.open('problem', `problem.${k}`, 'damaged:'), problem);
  });
  text.lines.push('');
  const id = isDamaged(call) ? null : call.id;
  return { part: 'call', call: position, id, turn, lines: text.lines, actions, blocks: text.blocks };
}

/** A section of recorded texts about a call, each under a label. */
export function textSection(
  told: ReplayCall,
  label: string,
  texts: readonly [label: string, text: string][],
): TranscriptSection {
  const { call, position, turn } = told;
  const text = new Lines(LARGE);
  text.lines.push([turn === null ? 'a call' : `turn ${turn}`, label].join(' · '));
  texts.forEach(([name, one], k) => {
    const block = text.open('text', `text.${k}`, `${name}:`);
    block.source = text.text(block, one);
  });
  text.lines.push('');
  const id = isDamaged(call) ? null : call.id;
  return { part: 'call', call: position, id, turn, lines: text.lines, actions: [], blocks: text.blocks };
}

function addRequest(text: Lines, told: ReplayCall, { request, samplingSent }: ResolvedCall, options: SectionOptions) {
  const { messages, tools, other } = request;
  const { before, whole } = options;
  const fresh = messages.length - told.newSince;
  const count =
    told.newSince === 0 ? `${messages.length} messages` : `${messages.length} messages, ${fresh} of them new`;
  text.open('request', 'request', `request: ${count}`);
  if (told.contextDamaged !== null)
    text.text(text.open('problem', 'context', 'damaged, what the request starts from:'), told.contextDamaged);
  if (whole) text.text(text.open('other', 'other', 'request, other fields:'), jsonOf({ ...other, samplingSent }));
  const same = before && !isDamaged(before.call) && isDeepStrictEqual(before.call.request.tools, tools);
  if (tools && tools.length > 0 && (whole || !same)) {
    const block = text.open('tools', 'tools', `tools (${tools.length}):`);
    text.text(block, whole ? jsonOf(tools) : tools.map(toolWords).join('\n'));
  }
  const echoes = whole || !before ? [] : echoesOf(before, messages.slice(told.newSince));
  for (let k = whole ? 0 : told.newSince; k < messages.length; k++) {
    if (messages[k] === UNREAD_MESSAGE) {
      const first = k;
      while (messages[k + 1] === UNREAD_MESSAGE) k++;
      const which = first === k ? `message ${k} cannot` : `messages ${first} to ${k} cannot`;
      text.open('problem', `unread.${first}`, `${which} be read`);
    } else if (!echoes.includes(messages[k])) text.message(`message.${k}`, messages[k]);
  }
}

/** A tool in a line: its name, what it takes, and what is said of it. */
function toolWords({ type, function: tool }: Tool): string {
  if (!tool) return shownInLine(type);
  const { properties } = (tool.parameters ?? {}) as { properties?: unknown };
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  const said = tool.description ? `: ${shownInLine(tool.description)}` : '';
  return `${shownInLine(tool.name, 100)}(${shownInLine(names.join(', '))})${said}`;
}

/** Messages that only repeat what stands in the section before: the response, and what was told about its actions. */
function echoesOf({ call, toolCalls }: ReplayCall, news: readonly Message[]): Message[] {
  const answers = toolCalls.flatMap((action) => action.answers);
  const echoes = news.filter((message) => answers.some((answer) => isDeepStrictEqual(answer, message)));
  const [first] = news;
  if (first?.role !== 'assistant' || isDamaged(call) || !call.response) return echoes;
  const { content, toolCalls: written } = call.response;
  const calls = first.tool_calls ?? [];
  const told =
    written.length === calls.length && written.every((one, k) => isDeepStrictEqual(one.function, calls[k].function));
  return told && (first.content ?? '') === (content ?? '') ? [...echoes, first] : echoes;
}

/** What a planner did with its response, each with what came back. @returns the line of each. */
function addActions(text: Lines, actions: readonly ReplayAction[]): number[] {
  const lines: number[] = [];
  const written = text.blocks.find(({ kind }) => kind === 'text');
  let from = 0;
  for (const action of actions) {
    const { kind, index, name, argumentText, code } = action;
    const label = shownInLine(name, 100);
    if (kind === 'cell') {
      // It stands in the answer; only its place is noted.
      const found = cellLines(written, argumentText, from);
      from = found.next;
      lines.push(found.from);
      text.blocks.push({
        ...{ kind: 'action', key: `action.${index}`, index, label, from: found.from, to: found.to },
        ...{ cuts: [], images: [] },
      });
    } else {
      lines.push(text.lines.length);
      const block = text.open('action', `action.${index}`, `-> ${label}`);
      block.index = index;
      // A tool that takes code is shown with its code as it was written, not as JSON.
      const others = Object.entries(action.arguments ?? {}).filter(([, value]) => value !== code);
      if (code === null) block.source = text.text(block, argumentText);
      else if (others.length > 0) text.text(block, JSON.stringify(Object.fromEntries(others)));
      if (code !== null) text.text(block, code);
    }
    addResult(text, action);
  }
  return lines;
}

function addResult(text: Lines, { kind, index, name, failed, exception, answers }: ReplayAction): void {
  if (answers.length === 0) return;
  const of = kind === 'cell' ? `code ${index}` : shownInLine(name, 100);
  const how = exception ? ' raised an exception' : failed ? ' failed' : '';
  answers.forEach((answer, k) => {
    const block = text.message(k === 0 ? `result.${index}` : `result.${index}.${k}`, answer, `<- ${of}${how}`);
    block.kind = 'result';
    block.index = index;
  });
}

/** Lines of a cell in the answer; where the answer was cut before it, the line that says so. */
function cellLines(written: TranscriptBlock | undefined, code: string, from: number) {
  if (!written?.source) return { from: 0, to: 0, next: from };
  const { text, line } = written.source;
  const at = text.indexOf(code, from);
  const [cut] = written.cuts;
  if (at < 0) return { from: cut?.line ?? written.to, to: cut?.line ?? written.to, next: from };
  const first = line + count(text, at);
  const last = first + Math.max(0, count(code, code.length) - 1);
  return { from: first, to: last, next: at + code.length };
}

/** Ends of lines before an offset, as they are shown. */
function count(text: string, end: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

function cutLines(text: string, most: number): string {
  let at = -1;
  for (let lines = 0; lines < most; lines++) {
    at = text.indexOf('\n', at + 1);
    if (at < 0) return text;
  }
  return text.slice(0, at);
}

function headOf({ call, toolCalls }: ReplayCall): string[] {
  if (isDamaged(call)) return ['damaged'];
  const { status, retryOf, finishReason, policyVersion, durations, usage } = call;
  const head = toolCalls.length === 0 ? [] : [shownInLine(toolCalls.map(({ name }) => name).join(', '), 80)];
  head.push(policyVersion === null ? 'teacher' : `policy ${policyVersion}`, `${Math.round(durations.total)} ms`);
  const prompt = call.promptTokenIds?.length ?? usage?.prompt_tokens;
  const response = call.responseTokenIds?.length ?? usage?.completion_tokens;
  if (prompt !== undefined || response !== undefined) head.push(`${prompt ?? '?'} -> ${response ?? '?'} tokens`);
  if (status !== 'complete') head.push(status);
  else if (finishReason !== null) head.push(finishReason === 'length' ? 'truncated' : shownInLine(finishReason, 40));
  if (retryOf !== null) head.push('sent again');
  return head;
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? '';
}

/** The section of an episode's outcome. @param call the last call. */
export function outcomeSection({ record, reason }: EpisodeOutcome, call: number): TranscriptSection {
  const lines = record
    ? [
        `outcome · reward ${record.reward}`,
        record.valid ? '  valid' : `  invalid: ${shownInLine(record.invalidReason ?? 'no reason was given', 2000)}`,
        ...(record.successTurn === null ? [] : [`  success at turn ${record.successTurn}`]),
        `  ${plural(record.turns, 'turn')}, ended by ${record.end}`,
        '',
      ]
    : ['outcome', `  ${shownInLine(reason ?? '', 2000)}`, ''];
  return { part: 'outcome', call, id: null, turn: null, lines, actions: [], blocks: [] };
}
