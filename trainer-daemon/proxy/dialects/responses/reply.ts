/** A chat completion as a response object of OpenAI's Responses API. */
import { idOfNameless } from '../../reply-shapes.ts';
import {
  addToolCall,
  inOrder,
  object,
  type ReplyPiece,
  type ReplyUsage,
  readPiece,
  type TokenLogprob,
  type ToolCallSoFar,
} from '../chat-reply.ts';
import type { ReplyContext } from '../contract.ts';
import { itemId, sealReasoning } from './reply-ids.ts';
import { type OfferedTool, offeredTools } from './tools.ts';

export type Item = Record<string, unknown>;

export function reply(completion: Record<string, unknown>, context: ReplyContext): string {
  const piece = readPiece(completion);
  const calls = new Map<number, ToolCallSoFar>();
  for (const each of piece.toolCalls) addToolCall(calls, each);
  const items = new ItemMaker(context);
  const output: Item[] = [];
  if (piece.reasoning !== '') output.push(items.reasoning(output.length, piece.reasoning));
  if (piece.content !== '' || (calls.size === 0 && output.length === 0 && piece.refusal === ''))
    output.push(items.message(output.length, piece.content, piece.logprobs));
  if (piece.refusal !== '') output.push(items.refusal(output.length, piece.refusal));
  for (const call of inOrder(calls)) output.push(items.call(output.length, call));
  return JSON.stringify(finished(context, piece, output));
}

/** Makes the items of one reply. */
export class ItemMaker {
  private readonly context: ReplyContext;
  private readonly offered: Map<string, OfferedTool>;

  constructor(context: ReplyContext) {
    this.context = context;
    this.offered = offeredTools(context.received);
  }

  reasoning(index: number, text: string): Item {
    return {
      id: itemId('rs', this.context.replyId, index),
      type: 'reasoning',
      summary: [],
      content: [{ type: 'reasoning_text', text }],
      encrypted_content: sealReasoning(text),
      status: 'completed',
    };
  }

  message(index: number, text: string, logprobs: TokenLogprob[]): Item {
    return {
      id: itemId('msg', this.context.replyId, index),
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text, annotations: [], logprobs }],
    };
  }

  refusal(index: number, text: string): Item {
    return { ...this.message(index, '', []), content: [{ type: 'refusal', refusal: text }] };
  }

  isCustom(name: string): boolean {
    return this.offered.get(name)?.custom === true;
  }

  call(index: number, call: ToolCallSoFar): Item {
    const { replyId, toolCalls } = this.context;
    const id = call.id || idOfNameless(replyId, call.index);
    const namespace = this.offered.get(call.name)?.namespace;
    const place = namespace === undefined ? {} : { namespace };
    if (!this.isCustom(call.name))
      return {
        id: itemId('fc', replyId, index),
        type: 'function_call',
        call_id: id,
        name: call.name,
        arguments: call.arguments,
        ...place,
        status: 'completed',
      };
    const input = inputIn(call.arguments);
    toolCalls.remember(id, call.arguments, { input });
    return {
      id: itemId('ctc', replyId, index),
      type: 'custom_tool_call',
      call_id: id,
      name: call.name,
      ...place,
      input,
    };
  }
}

/** The free text inside the arguments of a custom tool's function; arguments of another form are text themselves. */
function inputIn(text: string): string {
  try {
    const { input } = object(JSON.parse(text));
    if (typeof input === 'string') return input;
  } catch {
    // As the planner wrote it.
  }
  return text;
}

/** What of a whole reply decides how it ended. */
type Ending = Pick<ReplyPiece, 'finishReason' | 'usage' | 'model' | 'created'>;

export function finished(context: ReplyContext, ending: Ending, output: Item[]): Record<string, unknown> {
  const reason = { length: 'max_output_tokens', content_filter: 'content_filter' }[ending.finishReason ?? ''];
  if (reason !== undefined) {
    const last = output.at(-1);
    if (last !== undefined && 'status' in last) last.status = 'incomplete';
  }
  return {
    ...opened(context, ending.model, ending.created),
    status: reason === undefined ? 'completed' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    output,
    usage: ending.usage ? usageOf(ending.usage) : null,
  };
}

/** A response that has only begun. */
export function opened(
  { received, replyId }: ReplyContext,
  model: string | undefined,
  created: number | undefined,
): Record<string, unknown> {
  const asked = (key: string, otherwise: unknown) => received[key] ?? otherwise;
  return {
    id: `resp_${replyId}`,
    object: 'response',
    created_at: created ?? 0,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: asked('instructions', null),
    max_output_tokens: asked('max_output_tokens', null),
    model: model ?? '',
    output: [],
    parallel_tool_calls: asked('parallel_tool_calls', true),
    previous_response_id: null,
    reasoning: { effort: null, summary: null, ...object(received.reasoning) },
    store: false,
    temperature: asked('temperature', null),
    text: asked('text', { format: { type: 'text' } }),
    tool_choice: asked('tool_choice', 'auto'),
    tools: asked('tools', []),
    top_p: asked('top_p', null),
    truncation: asked('truncation', 'disabled'),
    usage: null,
    user: asked('user', null),
    metadata: asked('metadata', {}),
  };
}

function usageOf(usage: ReplyUsage) {
  return {
    input_tokens: usage.prompt,
    input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: 0 },
    output_tokens: usage.completion,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.total,
  };
}
