/** A request of Anthropic's Messages API in the chat form. */
import { type ChatMessage, effortIn, joinSystem, namedTool, textPart, withoutUndefined } from '../chat-parts.ts';
import { RefusedRequest, type Translation, type TranslationContext } from '../contract.ts';
import { RequestPart, Untranslated } from '../request-part.ts';
import { messagesFrom } from './history.ts';

/** Tools that Anthropic's own servers carry out; a planner's server has none of them. */
const HOSTED_TOOLS = /^(web_search|web_fetch|code_execution|tool_search_tool|mcp_toolset)/;

/** By this code Anthropic's client knows to send whole conversations from then on. */
export const THREAD_UNSUPPORTED = 'thread_unsupported_request';

interface ChatTool {
  type: 'function';
  function: { name: string } & Record<string, unknown>;
}

/** @throws RefusedRequest */
export function toChat(body: unknown, context: TranslationContext): Translation {
  const translation = conversationToChat(body, context);
  if ((translation.chat.messages as ChatMessage[]).at(-1)?.role === 'assistant')
    throw new RefusedRequest(
      'invalid_request',
      "the last message is the assistant's: prefilling a response is not supported, end with a user message",
    );
  return translation;
}

/** The same for a conversation that may end with any message. @throws RefusedRequest */
export function conversationToChat(body: unknown, context: TranslationContext): Translation {
  const untranslated = new Untranslated();
  const request = new RequestPart(body, '', untranslated);
  if (request.value('thread') !== undefined)
    throw new RefusedRequest(
      THREAD_UNSUPPORTED,
      'thread is not supported: messages are not kept here, so send the whole conversation in messages',
    );
  const messages = [...systemMessages(request), ...messagesFrom(request, context.toolCalls)];
  const tools = toolsOf(request);
  const stream = request.truthIfAny('stream');
  const output = outputOf(request);
  const chat = withoutUndefined({
    model: request.textIfAny('model'),
    messages: joinSystem(messages),
    tools: tools.length > 0 ? tools : undefined,
    ...toolChoice(request, tools),
    max_tokens: request.countIfAny('max_tokens'),
    temperature: request.numberIfAny('temperature'),
    top_p: request.numberIfAny('top_p'),
    top_k: request.numberIfAny('top_k'),
    stop: request.textsIfAny('stop_sequences'),
    ...output,
    chat_template_kwargs: thinkingIsOff(request) && context.templateArguments ? { enable_thinking: false } : undefined,
    stream,
    stream_options: stream === true ? { include_usage: true } : undefined,
  });
  request.ignore('cache_control');
  request.keep('metadata', 'service_tier', 'inference_geo', 'speed', 'betas', 'user_profile_id', 'workspace_id');
  request.end();
  return { chat, untranslated };
}

function systemMessages(request: RequestPart): ChatMessage[] {
  const system = request.value('system');
  if (system === undefined) return [];
  if (typeof system === 'string') return [{ role: 'system', content: system }];
  if (!Array.isArray(system)) throw request.refuse('system', 'must be a string or a list of text blocks');
  const parts = request.parts('system').map((block) => {
    if (block.text('type') !== 'text') throw block.refuse('type', 'must be "text" in a system prompt');
    const part = textPart(block.text('text'));
    block.ignore('cache_control', 'citations');
    block.end();
    return part;
  });
  if (parts.length === 0) return [];
  return [{ role: 'system', content: parts.length === 1 ? parts[0].text : parts }];
}

function toolsOf(request: RequestPart): ChatTool[] {
  const tools: ChatTool[] = [];
  for (const tool of request.partsIfAny('tools') ?? []) {
    const type = tool.textIfAny('type') ?? 'custom';
    if (HOSTED_TOOLS.test(type)) {
      request.keepAndTell(`tools[${type}]`, tool.whole());
      continue;
    }
    if (type !== 'custom')
      throw tool.refuse(
        'type',
        `is "${type}", a tool that only Anthropic's models know: describe it by a name and an input_schema instead`,
      );
    const name = tool.text('name');
    const schema = tool.value('input_schema') ?? { type: 'object', properties: {} };
    if (typeof schema !== 'object' || Array.isArray(schema)) throw tool.refuse('input_schema', 'must be an object');
    const description = tool.textIfAny('description');
    const strict = tool.truthIfAny('strict');
    tools.push({
      type: 'function',
      function: { name, ...withoutUndefined({ description, parameters: schema, strict }) },
    });
    tool.ignore('cache_control');
    tool.keep('eager_input_streaming', 'defer_loading', 'allowed_callers', 'input_examples');
    tool.end();
  }
  return tools;
}

function toolChoice(request: RequestPart, tools: ChatTool[]): Record<string, unknown> {
  const choice = request.partIfAny('tool_choice');
  if (choice === undefined) return {};
  const type = choice.text('type');
  const single = choice.truthIfAny('disable_parallel_tool_use');
  let chosen: unknown;
  if (type === 'auto' || type === 'none') chosen = type;
  else if (type === 'any') chosen = 'required';
  else if (type === 'tool') chosen = namedTool(choice.text('name'), tools, choice.at('name'));
  else throw choice.refuse('type', 'must be "auto", "any", "tool" or "none"');
  choice.end();
  // Chat servers refuse a choice where there is nothing to choose.
  if (tools.length === 0) return {};
  return { tool_choice: chosen, ...(single === true ? { parallel_tool_calls: false } : {}) };
}

function thinkingIsOff(request: RequestPart): boolean {
  const thinking = request.partIfAny('thinking');
  if (thinking === undefined) return false;
  const type = thinking.text('type');
  if (!['enabled', 'disabled', 'adaptive'].includes(type))
    throw thinking.refuse('type', 'must be "enabled", "disabled" or "adaptive"');
  // How long a planner thinks is a matter of its training; the whole setting stays in the record.
  thinking.ignore('budget_tokens', 'display');
  thinking.end();
  request.keep('thinking');
  return type === 'disabled';
}

/** `output_config`: effort and the shape of the answer. */
function outputOf(request: RequestPart): Record<string, unknown> {
  const config = request.partIfAny('output_config');
  // The name it had before.
  const format = config?.partIfAny('format') ?? request.partIfAny('output_format');
  const fields: Record<string, unknown> = {};
  if (format !== undefined) {
    if (format.text('type') !== 'json_schema') throw format.refuse('type', 'must be "json_schema"');
    fields.response_format = {
      type: 'json_schema',
      json_schema: { name: 'output', schema: format.value('schema') ?? {}, strict: true },
    };
    format.end();
  }
  const effort = effortIn(config);
  if (effort !== undefined) fields.reasoning_effort = effort;
  config?.end();
  return fields;
}
