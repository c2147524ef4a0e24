/** What a chat completion or a chunk of one says, in the terms that every dialect needs. Nothing here throws. */
import { choiceOf, contentIn, functionCallIn, reasoningIn, refusalIn } from '../reply-shapes.ts';

export interface ToolCallPiece {
  index: number;
  id: string | undefined;
  name: string | undefined;
  arguments: string;
}

export interface ReplyUsage {
  prompt: number;
  completion: number;
  total: number;
  /** Prompt tokens read from the server's cache. */
  cached: number;
  /** Completion tokens that were reasoning. */
  reasoning: number;
}

export interface TokenLogprob {
  token: string;
  logprob: number;
  bytes: unknown;
  top_logprobs: unknown[];
}

/** One message or delta. */
export interface ReplyPiece {
  content: string;
  reasoning: string;
  /** What the planner said in refusing, where the server tells it apart from the content. */
  refusal: string;
  toolCalls: ToolCallPiece[];
  finishReason: string | undefined;
  /** The stop sequence that ended the response, where the server tells it. */
  stopSequence: string | undefined;
  usage: ReplyUsage | undefined;
  logprobs: TokenLogprob[];
  model: string | undefined;
  created: number | undefined;
}

/** Reads `choices[0]` of a completion (its message) or chunk (its delta). */
export function readPiece(reply: Record<string, unknown>): ReplyPiece {
  const choice = choiceOf(reply);
  const message = object(choice?.message ?? choice?.delta);
  const { model, created } = reply;
  const legacy = functionCallIn(message);
  return {
    content: contentIn(message) ?? '',
    reasoning: reasoningIn(message) ?? '',
    refusal: refusalIn(message) ?? '',
    toolCalls: [...list(message.tool_calls).map(object), ...(legacy ? [legacy] : [])].map(toolCall),
    finishReason: string(choice?.finish_reason),
    stopSequence: string(choice?.stop_reason),
    usage: usageOf(reply.usage),
    logprobs: list(object(choice?.logprobs).content).map(object).map(logprobOf),
    model: string(model),
    created: typeof created === 'number' ? created : undefined,
  };
}

function toolCall(call: Record<string, unknown>, position: number): ToolCallPiece {
  const fn = object(call.function);
  return {
    index: Number.isInteger(call.index) ? (call.index as number) : position,
    id: string(call.id),
    name: string(fn.name),
    arguments: string(fn.arguments) ?? '',
  };
}

function usageOf(value: unknown): ReplyUsage | undefined {
  const usage = object(value);
  const count = (number: unknown) => (typeof number === 'number' && Number.isFinite(number) ? number : 0);
  if (typeof usage.prompt_tokens !== 'number') return undefined;
  const prompt = count(usage.prompt_tokens);
  const completion = count(usage.completion_tokens);
  return {
    prompt,
    completion,
    total: count(usage.total_tokens) || prompt + completion,
    cached: count(object(usage.prompt_tokens_details).cached_tokens),
    reasoning: count(object(usage.completion_tokens_details).reasoning_tokens),
  };
}

function logprobOf(entry: Record<string, unknown>): TokenLogprob {
  return {
    token: string(entry.token) ?? '',
    logprob: typeof entry.logprob === 'number' ? entry.logprob : -9999,
    bytes: entry.bytes ?? null,
    top_logprobs: list(entry.top_logprobs),
  };
}

function string(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function object(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** A tool call as far as it has come. */
export interface ToolCallSoFar {
  /** Its number in the reply. */
  index: number;
  id: string;
  name: string;
  arguments: string;
}

/** Adds a streamed piece to the calls, as the record does: names replace, arguments go on. */
export function addToolCall(calls: Map<number, ToolCallSoFar>, piece: ToolCallPiece): ToolCallSoFar {
  const known = calls.get(piece.index) ?? { index: piece.index, id: '', name: '', arguments: '' };
  calls.set(piece.index, known);
  known.id = piece.id || known.id;
  known.name = piece.name ?? known.name;
  known.arguments += piece.arguments;
  return known;
}

/** The calls in the order of the record. */
export function inOrder(calls: ReadonlyMap<number, ToolCallSoFar>): ToolCallSoFar[] {
  return [...calls].sort(([a], [b]) => a - b).map(([, call]) => call);
}

/** An event with a name, as Responses and Messages clients read it. */
export function namedEvent(type: string, fields: Record<string, unknown>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}
