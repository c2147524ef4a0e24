/** A request of OpenAI's Responses API in the chat form. */
import { type ChatMessage, effortIn, joinSystem, withoutUndefined } from '../chat-parts.ts';
import { RefusedRequest, type Translation, type TranslationContext } from '../contract.ts';
import { RequestPart, Untranslated } from '../request-part.ts';
import { messagesFrom } from './input-items.ts';
import { toolChoice, toolsOf } from './tools.ts';

const READ_INCLUDES = ['reasoning.encrypted_content', 'message.output_text.logprobs'];

/** @throws RefusedRequest */
export function toChat(body: unknown, context: TranslationContext): Translation {
  const untranslated = new Untranslated();
  const request = new RequestPart(body, '', untranslated);
  refuseServerState(request);
  const messages: ChatMessage[] = [];
  const instructions = request.textIfAny('instructions');
  if (instructions !== undefined) messages.push({ role: 'system', content: instructions });
  messages.push(...messagesFrom(request, context.toolCalls));
  if (messages.length === 0) throw request.refuse('input', 'must hold at least one item');
  const tools = toolsOf(request);
  const stream = request.truthIfAny('stream');
  const includes = request.textsIfAny('include') ?? [];
  for (const each of includes) if (!READ_INCLUDES.includes(each)) request.keepAndTell(`include[${each}]`, true);
  const topLogprobs = request.numberIfAny('top_logprobs');
  const logprobs = includes.includes('message.output_text.logprobs') || topLogprobs !== undefined;
  const parallel = request.truthIfAny('parallel_tool_calls');
  const chat = withoutUndefined({
    model: request.textIfAny('model'),
    messages: joinSystem(messages),
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: toolChoice(request, tools),
    parallel_tool_calls: tools.length > 0 ? parallel : undefined,
    max_tokens: request.countIfAny('max_output_tokens'),
    temperature: request.numberIfAny('temperature'),
    top_p: request.numberIfAny('top_p'),
    reasoning_effort: effortOf(request),
    ...textOf(request),
    ...(logprobs ? { logprobs: true, top_logprobs: topLogprobs ?? 0 } : {}),
    stream,
    stream_options: stream === true ? { include_usage: true } : undefined,
  });
  request.ignore('stream_options');
  request.keep('store', 'truncation', 'metadata', 'client_metadata', 'user', 'safety_identifier', 'service_tier');
  request.keep('prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention');
  request.end();
  return { chat, untranslated };
}

/** What would need replies that are kept on a server. */
function refuseServerState(request: RequestPart): void {
  for (const field of ['previous_response_id', 'conversation'])
    if (request.value(field) !== undefined)
      throw new RefusedRequest(
        'unsupported_parameter',
        `${field} is not supported: replies are not kept here, so send the whole conversation in input (with store: false)`,
      );
  if (request.value('prompt') !== undefined)
    throw new RefusedRequest('unsupported_parameter', 'prompt is not supported: send the prompt itself in input');
  if (request.truthIfAny('background') === true)
    throw new RefusedRequest('unsupported_parameter', 'background is not supported: wait for the reply or stream it');
}

function effortOf(request: RequestPart): string | undefined {
  const reasoning = request.partIfAny('reasoning');
  const effort = effortIn(reasoning);
  // Reasoning comes back whole; there is nobody to sum it up.
  reasoning?.ignore('summary', 'generate_summary', 'context');
  reasoning?.end();
  return effort;
}

function textOf(request: RequestPart): Record<string, unknown> {
  const text = request.partIfAny('text');
  if (text === undefined) return {};
  const format = text.partIfAny('format');
  const verbosity = text.textIfAny('verbosity');
  text.end();
  return { ...(verbosity === undefined ? {} : { verbosity }), ...formatOf(format) };
}

function formatOf(format: RequestPart | undefined): Record<string, unknown> {
  if (format === undefined) return {};
  const type = format.text('type');
  if (type === 'text') return {};
  if (type === 'json_object') return { response_format: { type } };
  if (type !== 'json_schema') throw format.refuse('type', 'must be "text", "json_schema" or "json_object"');
  const json_schema = withoutUndefined({
    name: format.text('name'),
    description: format.textIfAny('description'),
    schema: format.value('schema'),
    strict: format.truthIfAny('strict'),
  });
  format.end();
  return { response_format: { type, json_schema } };
}
