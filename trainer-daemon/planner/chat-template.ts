/**
 * From messages to token ids, for serving and for the trainer's check of recorded prompts alike. A checkpoint's own
 * template is used as it is (through Jinja); text of messages can never become a control token.
 */
import { Template } from '@huggingface/jinja';
import type { Message, ResponseMessage, Tool } from '../../protocol/chat.ts';
import { isCompact } from './compact-template.ts';
import { failingLine } from './template-lines.ts';
import type { PlannerTokenizer } from './tokenizer.ts';

export { COMPACT_TEMPLATE } from './compact-template.ts';
export { opensReasoning, type ParsedResponse, parseResponse } from './response-parsing.ts';

/** What a prompt is made of. */
export interface PromptRequest {
  messages: Message[];
  tools?: Tool[] | null;
  /** Further values for the template, for example `{ enable_thinking: false }` (vLLM's chat_template_kwargs). */
  chat_template_kwargs?: Record<string, unknown> | null;
}

/** The chat template refused the messages, or they cannot be rendered. */
export class PromptError extends Error {
  /** What went wrong, without saying whose template it is. */
  readonly reason: string;
  /** Line of the template, from 1, when its rendering failed. */
  readonly line: number | undefined;

  constructor(message: string, reason = message, line?: number) {
    super(message);
    this.name = 'PromptError';
    this.reason = reason;
    this.line = line;
  }
}

/** What an image becomes for a planner that reads text. */
export const IMAGE_PLACEHOLDER = '[image]';

const compiled = new Map<string, Template>();

/**
 * Token ids of a prompt, up to and including the opening of the assistant's answer.
 * @throws PromptError when the template refuses the messages.
 */
export function renderPrompt(tokenizer: PlannerTokenizer, request: PromptRequest): number[] {
  return render(tokenizer, request, true);
}

/**
 * Token ids of an assistant's message as the response to a prompt, its end token included: what the planner is to
 * write (an SFT target).
 * @param request the prompt it answers, where the template treats messages by their place; default: one user message.
 * @throws PromptError when the template does not render the message as a continuation of the prompt.
 */
export function renderResponse(
  tokenizer: PlannerTokenizer,
  message: ResponseMessage,
  request: PromptRequest = { messages: [{ role: 'user', content: '.' }] },
): number[] {
  const prompt = render(tokenizer, request, true);
  const whole = render(tokenizer, { ...request, messages: [...request.messages, message as Message] }, false);
  if (prompt.some((id, i) => whole[i] !== id)) {
    throw new PromptError(
      `the chat template of ${tokenizer.folder} renders an answered prompt differently from the prompt itself; answers cannot be made targets with it`,
      'an answered prompt is rendered differently from the prompt itself',
    );
  }
  const response = whole.slice(prompt.length);
  const end = response.indexOf(tokenizer.endTokenId);
  if (end < 0)
    throw new PromptError(
      `the chat template of ${tokenizer.folder} does not close an answer with eos_token`,
      'an answer is not closed with eos_token',
    );
  return response.slice(0, end + 1);
}

function render(tokenizer: PlannerTokenizer, request: PromptRequest, open: boolean): number[] {
  const compact = isCompact(tokenizer.chatTemplate);
  const mark = unusedCharacter(request);
  const protect = (text: string, role: string) =>
    // Other templates look for `<think>` in an assistant's text themselves; no template looks for special tokens.
    tokenizer.protect(text, mark, !compact && role === 'assistant');
  let values: Record<string, unknown>;
  try {
    values = {
      ...tokenizer.templateValues,
      ...(request.chat_template_kwargs ?? {}),
      messages: request.messages.map((message) => plainMessage(message, compact, protect)),
      tools: request.tools?.length ? deepMap(request.tools, (text) => protect(text, 'tools')) : null,
      add_generation_prompt: open,
    };
  } catch (error) {
    // Recorded messages may have any shape.
    throw error instanceof PromptError
      ? error
      : new PromptError(`the messages cannot be read: ${(error as Error).message}`);
  }
  let output: string;
  try {
    output = compile(tokenizer.chatTemplate).render(values);
  } catch (error) {
    const { message } = error as Error;
    const line = failingLine(tokenizer.chatTemplate, values);
    const where = line === undefined ? '' : ` at its line ${line}`;
    throw new PromptError(`the chat template refused the messages${where}: ${message}`, message, line);
  }
  return tokenizer.encodeTemplateOutput(output, mark);
}

function compile(template: string): Template {
  let ready = compiled.get(template);
  if (ready === undefined) {
    ready = new Template(template);
    compiled.set(template, ready);
  }
  return ready;
}

/** A private-use character that occurs nowhere in the request. */
function unusedCharacter(request: PromptRequest): string {
  const text = JSON.stringify(request);
  for (let code = 0xe000; code < 0xf900; code++) {
    const character = String.fromCharCode(code);
    if (!text.includes(character)) return character;
  }
  throw new PromptError('the messages use every private-use character of Unicode');
}

/** A message as templates expect it: flat text, reasoning under one name, only known fields. */
function plainMessage(message: Message, compact: boolean, protect: (text: string, role: string) => string): object {
  const role = message.role === 'developer' ? 'system' : message.role;
  const text = (value: string) => protect(value, role);
  const plain: Record<string, unknown> = { role, content: text(flatten(message.content)) };
  const reasoning = message.reasoning_content ?? message.reasoning;
  if (typeof reasoning === 'string' && reasoning !== '') plain.reasoning_content = text(reasoning);
  if (message.tool_calls?.length) {
    plain.tool_calls = message.tool_calls.map((call) => ({
      id: call.id,
      type: 'function',
      function: {
        name: text(call.function.name),
        // The compact template repeats the text the planner wrote; others expect an object, as vLLM gives them.
        arguments: compact ? text(call.function.arguments) : deepMap(parseArguments(call.function.arguments), text),
      },
    }));
  }
  if (message.tool_call_id !== undefined) plain.tool_call_id = message.tool_call_id;
  if (typeof message.name === 'string') plain.name = text(message.name);
  return plain;
}

function flatten(content: Message['content']): string {
  if (content === null || content === undefined) return '';
  if (typeof content === 'string') return content;
  return content
    .map((part) => {
      if (part.type === 'text' || part.type === 'input_text' || part.type === 'output_text') return part.text ?? '';
      if (part.type.includes('image')) return IMAGE_PLACEHOLDER;
      throw new PromptError(
        `a message has a part of type ${JSON.stringify(part.type)}; the planner reads text and images`,
      );
    })
    .join('\n');
}

function parseArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A copy of a JSON value with every string, keys included, mapped. */
function deepMap(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => deepMap(item, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [map(key), deepMap(item, map)]));
}
