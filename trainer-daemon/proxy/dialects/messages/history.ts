/** The messages of a Messages request as chat messages. */
import {
  assistantMessage,
  type ChatMessage,
  type ChatPart,
  contentOf,
  filePart,
  imagePart,
  textPart,
} from '../chat-parts.ts';
import type { RequestPart } from '../request-part.ts';
import type { ToolCallTexts } from '../tool-call-texts.ts';

/** @throws RefusedRequest */
export function messagesFrom(request: RequestPart, toolCalls: ToolCallTexts): ChatMessage[] {
  const messages = request.parts('messages');
  if (messages.length === 0) throw request.refuse('messages', 'must hold at least one message');
  return messages.flatMap((message) => {
    const role = message.text('role');
    if (role !== 'user' && role !== 'assistant' && role !== 'system')
      throw message.refuse('role', 'must be "user", "assistant" or "system"');
    const content = message.value('content');
    if (typeof content !== 'string' && !Array.isArray(content))
      throw message.refuse('content', 'must be a string or a list of blocks');
    message.ignore('cache_control');
    message.end();
    if (typeof content === 'string') return [{ role, content }];
    const blocks = message.parts('content');
    return role === 'assistant' ? [assistantFrom(blocks, toolCalls)] : userFrom(blocks, role);
  });
}

function assistantFrom(blocks: RequestPart[], toolCalls: ToolCallTexts): ChatMessage {
  const texts: string[] = [];
  const thoughts: string[] = [];
  const calls: { id: string; name: string; arguments: string }[] = [];
  for (const block of blocks) {
    const type = block.text('type');
    if (type === 'text') texts.push(block.text('text'));
    else if (type === 'thinking') thoughts.push(block.text('thinking'));
    else if (type === 'tool_use') {
      const id = block.text('id');
      const name = block.text('name');
      const input = block.value('input') ?? {};
      if (typeof input !== 'object' || Array.isArray(input)) throw block.refuse('input', 'must be an object');
      calls.push({ id, name, arguments: toolCalls.textOf(id, input) });
    } else if (type === 'redacted_thinking') block.keepAndTell('data');
    else throw block.refuse('type', `is "${type}", which a planner cannot have written here`);
    // The last is the client's own.
    block.ignore('cache_control', 'citations', 'signature', 'caller', 'parsed_output');
    block.end();
  }
  return assistantMessage(texts.join(''), thoughts.join(''), calls);
}

/** Tool results become messages of their own; what stands between them stays in its place. */
function userFrom(blocks: RequestPart[], role: string): ChatMessage[] {
  const messages: ChatMessage[] = [];
  let parts: ChatPart[] = [];
  const flush = () => {
    if (parts.length > 0) messages.push({ role, content: contentOf(parts) });
    parts = [];
  };
  for (const block of blocks) {
    if (block.text('type') === 'tool_result') {
      flush();
      messages.push(toolMessage(block));
    } else parts.push(...partsFrom(block));
  }
  flush();
  return messages.length > 0 ? messages : [{ role, content: '' }];
}

function toolMessage(block: RequestPart): ChatMessage {
  const id = block.text('tool_use_id');
  const content = block.value('content');
  let parts: ChatPart[] = [];
  if (typeof content === 'string') parts = [textPart(content)];
  else if (Array.isArray(content)) parts = block.parts('content').flatMap(partsFrom);
  else if (content !== undefined) throw block.refuse('content', 'must be a string or a list of blocks');
  if (block.truthIfAny('is_error') === true) parts = asError(parts);
  block.ignore('cache_control');
  block.end();
  return { role: 'tool', tool_call_id: id, content: contentOf(parts) };
}

/** Chat has no mark for failed tools; the planner must read it in the text. */
function asError(parts: ChatPart[]): ChatPart[] {
  const first = parts.find((part) => part.type === 'text');
  if (typeof first?.text === 'string' && /^\s*(<tool_use_error>|\[?error)/i.test(first.text)) return parts;
  if (first === undefined) return [textPart('Error'), ...parts];
  return parts.map((part) => (part === first ? textPart(`Error: ${first.text}`) : part));
}

/** A block of a user's message or a tool's result. */
function partsFrom(block: RequestPart): ChatPart[] {
  const type = block.text('type');
  let parts: ChatPart[];
  if (type === 'text') parts = [textPart(block.text('text'))];
  else if (type === 'image') parts = [imageFrom(block.part('source'))];
  else if (type === 'document') parts = documentFrom(block);
  else if (type === 'search_result')
    parts = [
      textPart(`${block.text('title')} (${block.text('source')})`),
      ...block.parts('content').flatMap(partsFrom),
    ];
  else
    throw block.refuse('type', `is "${type}": only text, images, documents, search results and tool results are read`);
  block.ignore('cache_control', 'citations');
  block.end();
  return parts;
}

function imageFrom(source: RequestPart): ChatPart {
  const type = source.text('type');
  if (type !== 'base64' && type !== 'url')
    throw source.refuse('type', `is "${type}": images come as base64 or url; files kept elsewhere cannot be read here`);
  const part = imagePart(
    type === 'url' ? source.text('url') : `data:${source.text('media_type')};base64,${source.text('data')}`,
  );
  source.end();
  return part;
}

function documentFrom(block: RequestPart): ChatPart[] {
  const source = block.part('source');
  const type = source.text('type');
  const title = block.textIfAny('title');
  const context = block.textIfAny('context');
  const head = [title, context].filter((text) => text !== undefined).map(textPart);
  if (type === 'text') {
    source.ignore('media_type');
    return [...head, textPart(source.text('data'))];
  }
  if (type === 'content') {
    const content = source.value('content');
    if (typeof content === 'string') return [...head, textPart(content)];
    return [...head, ...source.parts('content').flatMap(partsFrom)];
  }
  if (type === 'base64') {
    const data = `data:${source.text('media_type')};base64,${source.text('data')}`;
    return [
      ...head.slice(title === undefined ? 0 : 1),
      filePart({ filename: title ?? 'document.pdf', file_data: data }),
    ];
  }
  throw source.refuse('type', `is "${type}": documents come as text, content or base64`);
}
