/** A chat completion as a message of Anthropic's API, whole or as a stream of events. */

import { idOfNameless } from '../../reply-shapes.ts';
import {
  addToolCall,
  inOrder,
  namedEvent,
  type ReplyPiece,
  type ReplyUsage,
  readPiece,
  type ToolCallSoFar,
} from '../chat-reply.ts';
import type { ClientStream, ReplyContext } from '../contract.ts';

/** Clients send it back with the thinking; nothing is signed here. */
const SIGNATURE = 'agentic-robo-rl';

/** Clients take silence for a lost connection; while a tool call is put together, they hear of it this often. */
const PIECES_PER_PING = 32;

/** The finish reason that stands for a refusal. */
const REFUSED = 'content_filter';

export function reply(completion: Record<string, unknown>, context: ReplyContext): string {
  const piece = readPiece(completion);
  const calls = new Map<number, ToolCallSoFar>();
  for (const each of piece.toolCalls) addToolCall(calls, each);
  const content: object[] = [];
  if (piece.reasoning !== '') content.push({ type: 'thinking', thinking: piece.reasoning, signature: SIGNATURE });
  // A refusal is text in this dialect; the stop reason tells that it is one.
  const text = piece.content + piece.refusal;
  if (text !== '') content.push({ type: 'text', text });
  for (const call of inOrder(calls)) content.push(toolUse(call, context));
  if (content.length === 0) content.push({ type: 'text', text: '' });
  return JSON.stringify({
    ...opening(context, piece.model),
    content,
    ...ending(piece.refusal === '' ? piece.finishReason : REFUSED, piece.stopSequence, calls.size > 0, context),
    usage: usageOf(piece.usage),
  });
}

export class MessageStream implements ClientStream {
  private readonly context: ReplyContext;
  private readonly calls = new Map<number, ToolCallSoFar>();
  private begun = false;
  /** The block that text or thinking goes into now. */
  private open: 'text' | 'thinking' | undefined;
  private blocks = 0;
  private pieces = 0;
  private refused = false;
  private finishReason: string | undefined;
  private stopSequence: string | undefined;
  private usage: ReplyUsage | undefined;

  constructor(context: ReplyContext) {
    this.context = context;
  }

  push(chunk: Record<string, unknown>): string[] {
    const piece = readPiece(chunk);
    const events: string[] = [];
    if (!this.begun) {
      this.begun = true;
      const message = { ...opening(this.context, piece.model), content: [], stop_reason: null, stop_sequence: null };
      events.push(namedEvent('message_start', { message: { ...message, usage: usageOf(undefined) } }));
      events.push(namedEvent('ping', {}));
    }
    if (piece.reasoning !== '') events.push(...this.write('thinking', piece.reasoning));
    const text = piece.content + piece.refusal;
    if (text !== '') events.push(...this.write('text', text));
    for (const each of piece.toolCalls) {
      addToolCall(this.calls, each);
      if (++this.pieces % PIECES_PER_PING === 0) events.push(namedEvent('ping', {}));
    }
    this.note(piece);
    return events;
  }

  /**
   * Tool calls come here, whole: only now is it known that their arguments are JSON, and that none of them goes on.
   */
  end(): string[] {
    const events = this.close();
    if (this.blocks === 0 && this.calls.size === 0) events.push(...this.write('text', ''), ...this.close());
    for (const call of inOrder(this.calls)) {
      const { input, ...block } = toolUse(call, this.context);
      const index = this.blocks++;
      events.push(namedEvent('content_block_start', { index, content_block: { ...block, input: {} } }));
      const partial_json = isObject(parsed(call.arguments)) ? call.arguments : JSON.stringify(input);
      events.push(
        namedEvent('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json } }),
        namedEvent('content_block_stop', { index }),
      );
    }
    const delta = ending(
      this.refused ? REFUSED : this.finishReason,
      this.stopSequence,
      this.calls.size > 0,
      this.context,
    );
    events.push(namedEvent('message_delta', { delta, usage: usageOf(this.usage) }), namedEvent('message_stop', {}));
    return events;
  }

  private note(piece: ReplyPiece): void {
    if (piece.refusal !== '') this.refused = true;
    this.finishReason = piece.finishReason ?? this.finishReason;
    this.stopSequence = piece.stopSequence ?? this.stopSequence;
    this.usage = piece.usage ?? this.usage;
  }

  private write(kind: 'text' | 'thinking', text: string): string[] {
    const events: string[] = [];
    if (this.open !== kind) {
      events.push(...this.close());
      this.open = kind;
      const content_block =
        kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' };
      events.push(namedEvent('content_block_start', { index: this.blocks, content_block }));
    }
    const delta = kind === 'text' ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: text };
    if (text !== '') events.push(namedEvent('content_block_delta', { index: this.blocks, delta }));
    return events;
  }

  private close(): string[] {
    if (this.open === undefined) return [];
    const index = this.blocks++;
    const events = [namedEvent('content_block_stop', { index })];
    if (this.open === 'thinking')
      events.unshift(
        namedEvent('content_block_delta', { index, delta: { type: 'signature_delta', signature: SIGNATURE } }),
      );
    this.open = undefined;
    return events;
  }
}

function opening(context: ReplyContext, model: string | undefined) {
  return { id: `msg_${context.replyId}`, type: 'message', role: 'assistant', model: model ?? '' };
}

/** Arguments that are no JSON object are handed on as Anthropic advises for its own unchecked streams. */
function toolUse({ name, arguments: text, ...call }: ToolCallSoFar, { replyId, toolCalls }: ReplyContext) {
  const id = call.id || idOfNameless(replyId, call.index);
  // Many models write nothing where a function has no parameters.
  const value = text.trim() === '' ? {} : parsed(text);
  const input = isObject(value) ? value : { INVALID_JSON: text };
  toolCalls.remember(id, text, input);
  return { type: 'tool_use', id, name, input };
}

function ending(
  finishReason: string | undefined,
  stopSequence: string | undefined,
  calls: boolean,
  context: ReplyContext,
): { stop_reason: string; stop_sequence: string | null } {
  const asked = context.received.stop_sequences;
  const stopped = stopSequence !== undefined && Array.isArray(asked) && asked.includes(stopSequence);
  let stop_reason = 'end_turn';
  if (finishReason === 'length') stop_reason = 'max_tokens';
  else if (finishReason === 'content_filter') stop_reason = 'refusal';
  else if (calls) stop_reason = 'tool_use';
  else if (stopped) stop_reason = 'stop_sequence';
  return { stop_reason, stop_sequence: stop_reason === 'stop_sequence' ? (stopSequence ?? null) : null };
}

function usageOf(usage: ReplyUsage | undefined) {
  const { prompt, completion, cached } = usage ?? { prompt: 0, completion: 0, cached: 0 };
  return {
    input_tokens: Math.max(0, prompt - cached),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: completion,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
