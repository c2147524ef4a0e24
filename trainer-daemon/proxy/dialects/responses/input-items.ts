/** The input items of a Responses request as chat messages. */
import {
  assistantMessage,
  type ChatMessage,
  type ChatPart,
  contentOf,
  filePart,
  imagePart,
  textPart,
  withoutUndefined,
} from '../chat-parts.ts';
import type { RequestPart } from '../request-part.ts';
import type { ToolCallTexts } from '../tool-call-texts.ts';
import { openReasoning, replyIn } from './reply-ids.ts';

/** @throws RefusedRequest */
export function messagesFrom(request: RequestPart, toolCalls: ToolCallTexts): ChatMessage[] {
  const input = request.value('input');
  if (input === undefined) return [];
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  if (!Array.isArray(input)) throw request.refuse('input', 'must be a string or a list of items');
  const history = new History(toolCalls);
  for (const item of request.parts('input')) history.add(item);
  return history.end();
}

/** What one reply of the planner consists of: reasoning, text and calls are items of their own in this dialect. */
class AssistantTurn {
  /** Which reply the items come from, where their ids tell. */
  reply: string | undefined;
  readonly texts: string[] = [];
  readonly thoughts: string[] = [];
  readonly calls: { id: string; name: string; arguments: string }[] = [];

  /** Whether an item belongs to this reply: items of a reply come in the order reasoning, text, calls. */
  takes(kind: 'reasoning' | 'text' | 'call', reply: string | undefined): boolean {
    if (reply !== undefined && this.reply !== undefined) return reply === this.reply;
    if (kind === 'call') return true;
    if (this.texts.length > 0 || this.calls.length > 0) return false;
    return kind === 'text' || this.thoughts.length === 0;
  }
}

class History {
  private readonly toolCalls: ToolCallTexts;
  private readonly messages: ChatMessage[] = [];
  private turn: AssistantTurn | undefined;

  constructor(toolCalls: ToolCallTexts) {
    this.toolCalls = toolCalls;
  }

  add(item: RequestPart): void {
    const type = item.textIfAny('type') ?? 'message';
    if (type === 'message') this.addMessage(item);
    else if (type === 'reasoning') this.assistant('reasoning', item).thoughts.push(reasoningIn(item));
    else if (type === 'function_call' || type === 'custom_tool_call') this.addCall(item, type);
    else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      this.closeTurn();
      const id = item.text('call_id');
      this.messages.push({ role: 'tool', tool_call_id: id, content: contentOf(outputOf(item)) });
      item.ignore('id', 'status', 'name');
    } else if (type === 'item_reference')
      throw item.refuse('type', 'is "item_reference": replies are not kept here, so send the item itself');
    else throw item.refuse('type', `is "${type}", which has no counterpart in a chat`);
    item.end();
  }

  end(): ChatMessage[] {
    this.closeTurn();
    return this.messages;
  }

  private addMessage(item: RequestPart): void {
    const role = item.text('role');
    if (role === 'assistant') {
      this.assistant('text', item).texts.push(textIn(item));
      item.ignore('phase');
      return;
    }
    if (role !== 'user' && role !== 'system' && role !== 'developer')
      throw item.refuse('role', 'must be "user", "assistant", "system" or "developer"');
    this.closeTurn();
    item.ignore('id', 'status');
    const content = contentIn(item, 'content');
    this.messages.push({ role: role === 'user' ? 'user' : 'system', content: contentOf(content) });
  }

  private addCall(item: RequestPart, type: 'function_call' | 'custom_tool_call'): void {
    const id = item.text('call_id');
    const name = item.text('name');
    const text =
      type === 'function_call' ? item.text('arguments') : this.toolCalls.textOf(id, { input: item.text('input') });
    // The last is the client's own.
    item.ignore('namespace', 'caller', 'parsed_arguments');
    this.assistant('call', item).calls.push({ id, name, arguments: text });
  }

  private assistant(kind: 'reasoning' | 'text' | 'call', item: RequestPart): AssistantTurn {
    const reply = replyIn(item.textIfAny('id'));
    item.ignore('status');
    if (this.turn === undefined || !this.turn.takes(kind, reply)) {
      this.closeTurn();
      this.turn = new AssistantTurn();
    }
    this.turn.reply ??= reply;
    return this.turn;
  }

  private closeTurn(): void {
    if (this.turn === undefined) return;
    const { texts, thoughts, calls } = this.turn;
    this.messages.push(assistantMessage(texts.join(''), thoughts.join(''), calls));
    this.turn = undefined;
  }
}

/** Reasoning as the planner wrote it: in the content, else in what was handed out sealed, else a summary of others. */
function reasoningIn(item: RequestPart): string {
  const read = (key: string) =>
    (item.partsIfAny(key) ?? []).map((part) => {
      const text = part.text('text');
      part.ignore('type');
      part.end();
      return text;
    });
  const content = read('content');
  const summary = read('summary');
  const sealed = item.textIfAny('encrypted_content');
  if (content.length > 0) return content.join('');
  const opened = sealed === undefined ? undefined : openReasoning(sealed);
  if (opened !== undefined) return opened;
  if (sealed !== undefined) item.keepAndTell('encrypted_content', sealed);
  return summary.join('\n\n');
}

/** The text of an assistant's message; parts are joined. */
function textIn(item: RequestPart): string {
  return contentIn(item, 'content')
    .map((part) => {
      if (part.type !== 'text') throw item.refuse('content', 'must be text in an assistant message');
      return part.text as string;
    })
    .join('');
}

function outputOf(item: RequestPart): ChatPart[] {
  return contentIn(item, 'output');
}

function contentIn(item: RequestPart, key: string): ChatPart[] {
  const content = item.value(key);
  if (typeof content === 'string') return [textPart(content)];
  if (!Array.isArray(content)) throw item.refuse(key, 'must be a string or a list of parts');
  return item.parts(key).map((part) => {
    const made = partFrom(part);
    part.ignore('annotations', 'logprobs', 'parsed');
    part.end();
    return made;
  });
}

function partFrom(part: RequestPart): ChatPart {
  const type = part.text('type');
  if (type === 'input_text' || type === 'output_text' || type === 'text' || type === 'summary_text')
    return textPart(part.text('text'));
  if (type === 'refusal') return textPart(part.text('refusal'));
  if (type === 'input_image') {
    if (part.value('file_id') !== undefined)
      throw part.refuse('file_id', 'is not supported: send the image in image_url');
    return imagePart(part.text('image_url'), part.textIfAny('detail'));
  }
  if (type === 'input_file') {
    if (part.value('file_id') !== undefined || part.value('file_url') !== undefined)
      throw part.refuse('file_data', 'must hold the file: files kept elsewhere cannot be read here');
    return filePart(withoutUndefined({ filename: part.textIfAny('filename'), file_data: part.text('file_data') }));
  }
  if (type === 'input_audio') return { type, input_audio: part.value('input_audio') };
  throw part.refuse('type', `is "${type}", which has no counterpart in a chat`);
}
