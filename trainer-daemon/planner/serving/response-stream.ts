/**
 * A response told while it is sampled. Reasoning and text go out as they come; tool calls go out whole at the end,
 * because only then is it known that they parse. All pieces together are what the parser makes of the whole response.
 */
import { type ParsedResponse, parseResponse } from '../chat-template.ts';
import { isCompact } from '../compact-template.ts';
import type { PlannerTokenizer } from '../tokenizer.ts';

/** What is new in a response. */
export interface ResponseDelta {
  reasoning?: string;
  content?: string;
  toolCalls?: ParsedResponse['tool_calls'];
}

export class ResponseStream {
  private readonly tokenizer: PlannerTokenizer;
  private readonly compact: boolean;
  private readonly reasoningOpen: boolean;
  private readonly ids: number[] = [];
  /** 'held': behind a control token whose meaning only the end shows; the rest waits for it. */
  private part: 'start' | 'reasoning' | 'content' | 'held';
  private decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  private sentReasoning = '';
  private sentContent = '';
  /** Line breaks that may turn out to be the end of a part, where some templates leave them out. */
  private breaks = '';

  constructor(tokenizer: PlannerTokenizer, reasoningOpen: boolean) {
    this.tokenizer = tokenizer;
    this.compact = isCompact(tokenizer.chatTemplate);
    this.reasoningOpen = reasoningOpen;
    this.part = reasoningOpen ? 'reasoning' : 'start';
  }

  /** @param id a sampled token that is no end token. */
  push(id: number): ResponseDelta {
    const first = this.ids.length === 0;
    this.ids.push(id);
    if (this.part === 'held') return {};
    if (!this.tokenizer.isControl(id)) {
      if (this.part === 'start') this.part = 'content';
      return this.tell(this.decoder.decode(this.tokenizer.bytesOf(id), { stream: true }));
    }
    const delta = this.tell(this.decoder.decode());
    this.decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const name = this.tokenizer.decode([id]);
    if (this.part === 'reasoning' && name !== '</think>' && !(name === '<think>' && first)) {
      // The parser leaves an end token out at the end, and only the end shows whether this is one.
      if (id !== this.tokenizer.endTokenId) return joined(delta, this.tell(name));
      this.part = 'held';
      return delta;
    }
    this.breaks = '';
    if (name === '<think>' && first) this.part = 'reasoning';
    else this.part = this.part === 'reasoning' ? 'content' : 'held';
    return delta;
  }

  /** The rest, and the whole. */
  finish(): { delta: ResponseDelta; whole: ParsedResponse } {
    const whole = parseResponse(this.tokenizer, this.ids, this.reasoningOpen);
    const reasoning = (whole.reasoning_content ?? '').slice(this.sentReasoning.length);
    const content = (whole.content ?? '').slice(this.sentContent.length);
    const delta: ResponseDelta = {};
    if (reasoning !== '') delta.reasoning = reasoning;
    if (content !== '') delta.content = content;
    if (whole.tool_calls) delta.toolCalls = whole.tool_calls;
    return { delta, whole };
  }

  private tell(text: string): ResponseDelta {
    const reasoning = this.part === 'reasoning';
    let fresh = this.breaks + text;
    this.breaks = '';
    if (!this.compact) {
      if ((reasoning ? this.sentReasoning : this.sentContent) === '') fresh = fresh.replace(/^\n+/, '');
      this.breaks = /\n*$/.exec(fresh)![0];
      fresh = fresh.slice(0, fresh.length - this.breaks.length);
    }
    if (fresh === '') return {};
    if (reasoning) {
      this.sentReasoning += fresh;
      return { reasoning: fresh };
    }
    this.sentContent += fresh;
    return { content: fresh };
  }
}

function joined(a: ResponseDelta, b: ResponseDelta): ResponseDelta {
  const reasoning = (a.reasoning ?? '') + (b.reasoning ?? '');
  return reasoning === '' ? {} : { reasoning };
}
