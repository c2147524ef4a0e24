/** Responses in the shapes of OpenAI's chat completions, with the additions of vLLM (token ids). */
import type { ResponseMessage, ToolCall } from '../../../protocol/chat.ts';
import type { ParsedResponse } from '../chat-template.ts';
import type { PlannerTokenizer } from '../tokenizer.ts';
import type { ChatOrder } from './chat-request.ts';
import type { ResponseDelta } from './response-stream.ts';
import type { SampledToken } from './sampling.ts';
import type { FinishReason } from './scheduler.ts';

/** What every part of one response repeats. */
export interface ResponseFrame {
  id: string;
  created: number;
  model: string;
  order: ChatOrder;
  promptIds: number[];
  tokenizer: PlannerTokenizer;
}

interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: { cached_tokens: number };
}

export function usageOf(promptTokens: number, completionTokens: number, cachedTokens: number): Usage {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
}

/** A whole response. */
export function wholeResponse(
  frame: ResponseFrame,
  tokens: SampledToken[],
  parsed: ParsedResponse,
  finish: FinishReason,
  policyVersion: number,
  usage: Usage,
): object {
  const { order } = frame;
  return {
    ...head(frame, 'chat.completion', policyVersion),
    choices: [
      {
        index: 0,
        message: messageOf(parsed),
        logprobs: order.logprobs ? { content: logprobsOf(frame, tokens) } : null,
        finish_reason: finishReasonOf(parsed, finish),
        stop_reason: null,
        token_ids: order.returnTokenIds ? tokens.map(({ id }) => id) : null,
      },
    ],
    usage,
    prompt_token_ids: order.returnTokenIds ? frame.promptIds : null,
  };
}

/** The chunk that opens a stream; the prompt's ids are in it alone. */
export function firstChunk(frame: ResponseFrame, policyVersion: number): object {
  return {
    ...head(frame, 'chat.completion.chunk', policyVersion),
    choices: [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }],
    ...(frame.order.returnTokenIds ? { prompt_token_ids: frame.promptIds } : {}),
  };
}

/** New tokens and what they mean. */
export function deltaChunk(
  frame: ResponseFrame,
  tokens: SampledToken[],
  delta: ResponseDelta,
  policyVersion: number,
  finishReason: string | null,
): object {
  const { order } = frame;
  const fields: Record<string, unknown> = {};
  if (delta.content !== undefined) fields.content = delta.content;
  if (delta.reasoning !== undefined) {
    fields.reasoning_content = delta.reasoning;
    fields.reasoning = delta.reasoning;
  }
  if (delta.toolCalls !== undefined) {
    fields.tool_calls = delta.toolCalls.map((call: ToolCall, index) => ({ index, ...call }));
  }
  return {
    ...head(frame, 'chat.completion.chunk', policyVersion),
    choices: [
      {
        index: 0,
        delta: fields,
        logprobs: order.logprobs && tokens.length > 0 ? { content: logprobsOf(frame, tokens) } : null,
        finish_reason: finishReason,
        ...(order.returnTokenIds ? { token_ids: tokens.map(({ id }) => id) } : {}),
      },
    ],
  };
}

/** The chunk with the usage, which has no choices. */
export function usageChunk(frame: ResponseFrame, policyVersion: number, usage: Usage): object {
  return { ...head(frame, 'chat.completion.chunk', policyVersion), choices: [], usage };
}

export function finishReasonOf(parsed: ParsedResponse, finish: FinishReason): string {
  return finish === 'stop' && parsed.tool_calls !== undefined ? 'tool_calls' : finish;
}

function head(frame: ResponseFrame, object: string, policyVersion: number) {
  return { id: frame.id, object, created: frame.created, model: frame.model, policy_version: policyVersion };
}

function messageOf(parsed: ParsedResponse): ResponseMessage & { reasoning?: string } {
  const message: ResponseMessage & { reasoning?: string } = { role: 'assistant', content: parsed.content };
  if (parsed.reasoning_content) {
    message.reasoning_content = parsed.reasoning_content;
    message.reasoning = parsed.reasoning_content;
  }
  if (parsed.tool_calls) message.tool_calls = parsed.tool_calls;
  return message;
}

function logprobsOf({ tokenizer, order }: ResponseFrame, tokens: SampledToken[]) {
  const entry = (id: number, logprob: number) => {
    const bytes = tokenizer.bytesOf(id);
    const token = order.tokensAsIds ? `token_id:${id}` : tokenizer.decode([id]);
    return { token, logprob: Math.max(logprob, -9999), bytes: [...bytes] };
  };
  return tokens.map(({ id, logprob, top }) => ({
    ...entry(id, logprob),
    top_logprobs: top.map((other) => entry(other.id, other.logprob)),
  }));
}
