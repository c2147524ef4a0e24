/** The body of a chat completion request, checked: what is asked, or an error that says which field is at fault. */
import { z } from 'zod';
import { type Message, messageSchema, type Tool, toolSchema } from '../../../protocol/chat.ts';
import { ApiError } from './api-error.ts';

const number = (low: number, high: number) => z.number().min(low).max(high).nullish();
const neutral = (value: number) => z.literal(value, `is not supported; leave it out or set it to ${value}`).nullish();
const absent = (what: string) => z.tuple([], `${what} not supported; leave it out`).nullish();

const bodySchema = z.looseObject({
  model: z.string().nullish(),
  messages: z.array(messageSchema).min(1, 'must hold at least one message'),
  tools: z.array(toolSchema).nullish(),
  tool_choice: z.enum(['auto', 'none'], 'must be "auto" or "none"; a call cannot be forced').nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.literal(1, 'must be 1: one response a request').nullish(),
  max_tokens: z.number().int().min(1).nullish(),
  max_completion_tokens: z.number().int().min(1).nullish(),
  temperature: number(0, 100),
  top_p: z.number().gt(0).max(1).nullish(),
  top_k: z
    .number()
    .int()
    .refine((k) => k >= -1, 'must be -1, 0 (all tokens) or a positive integer')
    .nullish(),
  presence_penalty: number(-2, 2),
  frequency_penalty: number(-2, 2),
  seed: z.number().int().nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.number().int().min(0).max(50).nullish(),
  return_token_ids: z.boolean().nullish(),
  return_tokens_as_token_ids: z.boolean().nullish(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
  // Fields that would change the result, and that this server does not have.
  min_p: neutral(0),
  min_tokens: neutral(0),
  repetition_penalty: neutral(1),
  stop: absent('stop sequences are'),
  stop_token_ids: absent('stop tokens are'),
  logit_bias: z.strictObject({}, 'is not supported; leave it out').nullish(),
  response_format: z
    .looseObject({ type: z.literal('text', 'must be "text"; guided decoding is not supported') })
    .nullish(),
});

/** A checked request. */
export interface ChatOrder {
  model: string | null;
  messages: Message[];
  tools: Tool[] | null;
  templateArguments: Record<string, unknown> | null;
  stream: boolean;
  includeUsage: boolean;
  /** Undefined: up to the end of the context. */
  maxTokens: number | undefined;
  temperature: number;
  topP: number;
  topK: number;
  presencePenalty: number;
  frequencyPenalty: number;
  seed: number | undefined;
  logprobs: boolean;
  topLogprobs: number;
  returnTokenIds: boolean;
  tokensAsIds: boolean;
}

/** @throws ApiError 400 naming the field at fault. */
export function parseChatRequest(body: unknown): ChatOrder {
  const parsed = bodySchema.safeParse(body);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const param = issue.path.join('.');
    const message = issue.path.length === 0 ? issue.message : `${param}: ${issue.message}`;
    throw new ApiError(400, message, { param, code: 'invalid_value' });
  }
  const value = parsed.data;
  checkToolMessages(value.messages);
  const tools = value.tool_choice === 'none' ? null : (value.tools ?? null);
  tools?.forEach((tool, i) => {
    if (tool.type !== 'function' || tool.function === undefined) {
      throw new ApiError(400, `tools.${i}: only tools of type "function" are supported`, {
        param: `tools.${i}.type`,
        code: 'invalid_value',
      });
    }
  });
  return {
    model: value.model ?? null,
    messages: value.messages,
    tools,
    templateArguments: value.chat_template_kwargs ?? null,
    stream: value.stream ?? false,
    includeUsage: value.stream_options?.include_usage ?? false,
    maxTokens: value.max_completion_tokens ?? value.max_tokens ?? undefined,
    temperature: value.temperature ?? 1,
    topP: value.top_p ?? 1,
    topK: value.top_k ?? -1,
    presencePenalty: value.presence_penalty ?? 0,
    frequencyPenalty: value.frequency_penalty ?? 0,
    seed: value.seed ?? undefined,
    logprobs: value.logprobs ?? false,
    topLogprobs: value.logprobs ? (value.top_logprobs ?? 0) : 0,
    returnTokenIds: value.return_token_ids ?? false,
    tokensAsIds: value.return_tokens_as_token_ids ?? false,
  };
}

/** A tool's result must answer a call of an earlier message. */
function checkToolMessages(messages: Message[]): void {
  const known = new Set<string>();
  messages.forEach((message, i) => {
    for (const call of message.tool_calls ?? []) known.add(call.id);
    if (message.role !== 'tool') return;
    const param = `messages.${i}.tool_call_id`;
    if (message.tool_call_id === undefined) {
      throw new ApiError(400, `${param}: a tool message must name the call it answers`, { param, code: 'missing' });
    }
    if (!known.has(message.tool_call_id)) {
      throw new ApiError(400, `${param}: no earlier message has a tool call ${JSON.stringify(message.tool_call_id)}`, {
        param,
        code: 'invalid_value',
      });
    }
  });
}
