/** A streamed chat completion as the events of OpenAI's Responses API. */
import {
  addToolCall,
  inOrder,
  namedEvent,
  type ReplyUsage,
  readPiece,
  type TokenLogprob,
  type ToolCallSoFar,
} from '../chat-reply.ts';
import type { ClientStream, ReplyContext, StreamSoFar } from '../contract.ts';
import { finished, type Item, ItemMaker, opened } from './reply.ts';

/** The item that text or reasoning goes into now. */
interface OpenText {
  kind: 'text' | 'reasoning' | 'refusal';
  index: number;
  id: unknown;
  text: string;
}

interface OpenCall {
  call: ToolCallSoFar;
  index: number;
  /** Characters of the arguments that the client has. */
  sent: number;
}

/**
 * Reasoning and text close when something else begins. Calls stay open to the end: their pieces may come interleaved.
 */
export class ResponseEvents implements ClientStream {
  private readonly context: ReplyContext;
  private readonly items: ItemMaker;
  private readonly output: Item[] = [];
  private readonly calls = new Map<number, ToolCallSoFar>();
  private readonly openCalls = new Map<number, OpenCall>();
  private openText: OpenText | undefined;
  private logprobs: TokenLogprob[] = [];
  private sequence = 0;
  private begun = false;
  private finishReason: string | undefined;
  private usage: ReplyUsage | undefined;
  private model: string | undefined;
  private created: number | undefined;
  /** Set with the finish chunk. */
  private soFar: StreamSoFar | undefined;

  constructor(context: ReplyContext) {
    this.context = context;
    context.soFar = () => this.soFar ?? this.told();
    this.items = new ItemMaker(context);
  }

  push(chunk: Record<string, unknown>): string[] {
    const piece = readPiece(chunk);
    const events: string[] = [];
    // What comes from here on is held until the call is recorded, and no failure may tell of it.
    if (piece.finishReason !== undefined && this.finishReason === undefined) this.soFar = this.told();
    if (!this.begun) {
      this.begun = true;
      this.model = piece.model;
      this.created = piece.created;
      const response = opened(this.context, this.model, this.created);
      events.push(this.event('response.created', { response }), this.event('response.in_progress', { response }));
    }
    if (piece.reasoning !== '') events.push(...this.write('reasoning', piece.reasoning));
    if (piece.content !== '') events.push(...this.write('text', piece.content));
    if (piece.refusal !== '') events.push(...this.write('refusal', piece.refusal));
    this.logprobs.push(...piece.logprobs);
    for (const each of piece.toolCalls) {
      const call = addToolCall(this.calls, each);
      events.push(...this.goOn(each.index, call));
    }
    this.finishReason = piece.finishReason ?? this.finishReason;
    this.usage = piece.usage ?? this.usage;
    return events;
  }

  end(): string[] {
    const events: string[] = [];
    if (this.output.length === 0 && this.calls.size === 0) events.push(...this.write('text', ''));
    events.push(...this.closeText());
    // Calls whose name came last, or never.
    for (const [index, call] of this.calls) if (!this.openCalls.has(index)) events.push(...this.openCall(index, call));
    for (const call of inOrder(this.calls)) events.push(...this.closeCall(call));
    const { finishReason, usage, model, created } = this;
    const response = finished(this.context, { finishReason, usage, model, created }, this.output);
    events.push(this.event(`response.${response.status}`, { response }));
    return events;
  }

  private told(): StreamSoFar {
    return { model: this.model, created: this.created, output: this.itemsSoFar() };
  }

  /** The items as far as they have come; those still open are marked so. */
  private itemsSoFar(): Item[] {
    const output = [...this.output];
    const { openText } = this;
    if (openText !== undefined) output[openText.index] = this.item(openText.kind, openText.index, openText.text, []);
    for (const { index, call } of this.openCalls.values()) output[index] = this.items.call(index, call);
    return output.map((item) => (this.output.includes(item) ? item : { ...item, status: 'incomplete' }));
  }

  private write(kind: OpenText['kind'], delta: string): string[] {
    const events: string[] = [];
    if (this.openText?.kind !== kind) {
      events.push(...this.closeText());
      const index = this.output.length;
      const whole = this.item(kind, index, '', []);
      const item = {
        ...whole,
        content: [],
        status: 'in_progress',
        ...(kind === 'reasoning' ? { encrypted_content: null } : {}),
      };
      this.output.push(item);
      this.openText = { kind, index, id: whole.id, text: '' };
      events.push(
        this.event('response.output_item.added', { output_index: index, item }),
        this.event('response.content_part.added', { ...this.place(this.openText), part: partOf(kind, '', []) }),
      );
    }
    this.openText.text += delta;
    const place = this.place(this.openText);
    if (delta === '') return events;
    if (kind === 'text') events.push(this.event('response.output_text.delta', { ...place, delta, logprobs: [] }));
    else if (kind === 'refusal') events.push(this.event('response.refusal.delta', { ...place, delta }));
    else events.push(this.event('response.reasoning_text.delta', { ...place, delta }));
    return events;
  }

  private item(kind: OpenText['kind'], index: number, text: string, logprobs: TokenLogprob[]): Item {
    if (kind === 'text') return this.items.message(index, text, logprobs);
    return kind === 'refusal' ? this.items.refusal(index, text) : this.items.reasoning(index, text);
  }

  private closeText(): string[] {
    const open = this.openText;
    if (open === undefined) return [];
    this.openText = undefined;
    const { kind, index, text } = open;
    const logprobs = kind === 'text' ? this.logprobs : [];
    const item = this.item(kind, index, text, logprobs);
    this.output[index] = item;
    const place = this.place(open);
    const done = {
      text: () => this.event('response.output_text.done', { ...place, text, logprobs }),
      reasoning: () => this.event('response.reasoning_text.done', { ...place, text }),
      refusal: () => this.event('response.refusal.done', { ...place, refusal: text }),
    };
    return [
      done[kind](),
      this.event('response.content_part.done', { ...place, part: partOf(kind, text, logprobs) }),
      this.event('response.output_item.done', { output_index: index, item }),
    ];
  }

  /** A call's new piece. It opens when its name is known, because the name decides what kind of item it is. */
  private goOn(index: number, call: ToolCallSoFar): string[] {
    if (call.name === '') return [];
    const events = this.openCalls.has(index) ? [] : this.openCall(index, call);
    const open = this.openCalls.get(index);
    if (open === undefined || this.items.isCustom(call.name)) return events;
    const delta = call.arguments.slice(open.sent);
    open.sent = call.arguments.length;
    if (delta !== '')
      events.push(
        this.event('response.function_call_arguments.delta', {
          item_id: this.output[open.index].id,
          output_index: open.index,
          delta,
        }),
      );
    return events;
  }

  private openCall(at: number, call: ToolCallSoFar): string[] {
    const events = this.closeText();
    const index = this.output.length;
    const item = this.items.call(index, { ...call, arguments: '' });
    if ('status' in item) item.status = 'in_progress';
    this.output.push(item);
    this.openCalls.set(at, { call, index, sent: 0 });
    events.push(this.event('response.output_item.added', { output_index: index, item }));
    return events;
  }

  private closeCall(call: ToolCallSoFar): string[] {
    const open = [...this.openCalls.values()].find((each) => each.call === call);
    if (open === undefined) return [];
    const { index, sent } = open;
    const item = this.items.call(index, call);
    this.output[index] = item;
    const place = { item_id: item.id, output_index: index };
    const events: string[] = [];
    if (item.type === 'function_call') {
      const rest = call.arguments.slice(sent);
      if (rest !== '') events.push(this.event('response.function_call_arguments.delta', { ...place, delta: rest }));
      const { arguments: text, name } = call;
      events.push(this.event('response.function_call_arguments.done', { ...place, name, arguments: text }));
    } else {
      events.push(
        this.event('response.custom_tool_call_input.delta', { ...place, delta: item.input }),
        this.event('response.custom_tool_call_input.done', { ...place, input: item.input }),
      );
    }
    events.push(this.event('response.output_item.done', { output_index: index, item }));
    return events;
  }

  private place({ id, index }: OpenText) {
    return { item_id: id, output_index: index, content_index: 0 };
  }

  private event(type: string, fields: Record<string, unknown>): string {
    return namedEvent(type, { ...fields, sequence_number: this.sequence++ });
  }
}

function partOf(kind: OpenText['kind'], text: string, logprobs: TokenLogprob[]) {
  if (kind === 'refusal') return { type: 'refusal', refusal: text };
  return kind === 'text' ? { type: 'output_text', text, annotations: [], logprobs } : { type: 'reasoning_text', text };
}
