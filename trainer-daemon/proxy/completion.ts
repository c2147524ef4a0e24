/**
 * What is recorded of a chat completion, from a whole reply or put together from a stream's chunks. Token ids and
 * log-probs are taken as they came: nothing is re-encoded, cut to length or filled in; what is missing stays null.
 */
import { type ToolCall, toolCallSchema } from '../../protocol/chat.ts';
import type { ResolvedCall } from '../../protocol/records.ts';
import { type CaptureWishes, record } from './sampling.ts';

export type Completion = Pick<
  ResolvedCall,
  'promptTokenIds' | 'responseTokenIds' | 'logprobs' | 'response' | 'finishReason' | 'usage'
> & {
  /** Version the server says it answered with; undefined when it says nothing. */
  policyVersion: number | undefined;
  /** What is odd about the capture; goes into the record's `error`. */
  notes: string[];
};

/** A reply that is no chat completion. */
export class ReplyError extends Error {}

export class CompletionCollector {
  private content: string | null = null;
  private reasoning: string | null = null;
  private readonly toolCalls: Record<string, unknown>[] = [];
  private promptTokenIds: number[] | null = null;
  private tokenIds: number[] | null = null;
  private tokenIdsBroken = false;
  private logprobs: (number | null)[] | null = null;
  private tokenTexts: string[] = [];
  private usage: Completion['usage'] = null;
  private readonly notes: string[] = [];
  finishReason: string | null = null;
  policyVersion: number | undefined;
  private sawChoice = false;

  /** Takes a whole reply (`object: "chat.completion"`). @throws ReplyError */
  addReply(reply: unknown): void {
    const choice = record(list(record(reply).choices)[0]);
    if (typeof choice.message !== 'object' || choice.message === null)
      throw new ReplyError('the reply has no choices[0].message');
    this.root(record(reply));
    this.add(choice, record(choice.message));
  }

  /** Takes one chunk of a stream. @throws ReplyError */
  addChunk(chunk: unknown): void {
    const root = record(chunk);
    if (root.error) throw new ReplyError(errorMessage(root.error));
    this.root(root);
    for (const each of list(root.choices)) {
      const choice = record(each);
      if ((choice.index ?? 0) === 0) this.add(choice, record(choice.delta));
    }
  }

  /** What has come so far. @throws ReplyError when a tool call is malformed. */
  completion(): Completion {
    const toolCalls: ToolCall[] = [];
    for (const call of this.toolCalls.filter((each) => each !== undefined)) {
      const parsed = toolCallSchema.safeParse(call);
      if (!parsed.success) throw new ReplyError('the reply has a tool call without id, name or arguments');
      toolCalls.push(parsed.data);
    }
    const notes = [...this.notes];
    let responseTokenIds = this.tokenIdsBroken ? null : this.tokenIds;
    if (this.tokenIds === null && this.tokenTexts.length > 0) responseTokenIds = idsFromTexts(this.tokenTexts);
    let logprobs: number[] | null = null;
    if (this.logprobs !== null) {
      const missing = this.logprobs.filter((value) => value === null).length;
      if (missing === 0) logprobs = this.logprobs as number[];
      else notes.push(`the log-probs of ${missing} of ${this.logprobs.length} tokens are missing`);
    }
    if (responseTokenIds !== null && logprobs !== null && responseTokenIds.length !== logprobs.length)
      notes.push(`${responseTokenIds.length} token ids came with ${logprobs.length} log-probs`);
    return {
      promptTokenIds: this.promptTokenIds,
      responseTokenIds,
      logprobs,
      response: this.sawChoice ? { content: this.content, reasoning: this.reasoning, toolCalls } : null,
      finishReason: this.finishReason,
      usage: this.usage,
      policyVersion: this.policyVersion,
      notes,
    };
  }

  private root(root: Record<string, unknown>): void {
    if (root.prompt_token_ids !== undefined && root.prompt_token_ids !== null)
      this.promptTokenIds = this.ids(root.prompt_token_ids, 'prompt token ids');
    if (Number.isInteger(root.policy_version)) this.policyVersion = root.policy_version as number;
    const usage = record(root.usage);
    if ([usage.prompt_tokens, usage.completion_tokens, usage.total_tokens].every(Number.isFinite))
      this.usage = usage as Completion['usage'];
  }

  private add(choice: Record<string, unknown>, message: Record<string, unknown>): void {
    this.sawChoice = true;
    const content = textOf(message.content);
    if (content !== null) this.content = (this.content ?? '') + content;
    const reasoning = textOf(message.reasoning_content) ?? textOf(message.reasoning);
    if (reasoning !== null) this.reasoning = (this.reasoning ?? '') + reasoning;
    list(message.tool_calls).forEach((call, position) => {
      this.addToolCall(record(call), position);
    });
    if (typeof choice.finish_reason === 'string') this.finishReason = choice.finish_reason;
    // Older vLLM builds put the prompt's ids into the choice.
    if (Array.isArray(choice.prompt_token_ids) && this.promptTokenIds === null)
      this.promptTokenIds = this.ids(choice.prompt_token_ids, 'prompt token ids');
    if (choice.token_ids !== undefined && choice.token_ids !== null) {
      const ids = this.ids(choice.token_ids, 'token ids');
      this.tokenIds ??= [];
      if (ids === null) this.tokenIdsBroken = true;
      else for (const id of ids) this.tokenIds.push(id);
    }
    const entries = record(choice.logprobs).content;
    if (!Array.isArray(entries)) return;
    this.logprobs ??= [];
    for (const entry of entries) {
      const { logprob, token } = record(entry);
      this.logprobs.push(Number.isFinite(logprob) ? (logprob as number) : null);
      this.tokenTexts.push(typeof token === 'string' ? token : '');
    }
  }

  private addToolCall(call: Record<string, unknown>, position: number): void {
    const index = Number.isInteger(call.index) ? (call.index as number) : position;
    if (index < 0 || index > 1000) throw new ReplyError(`the reply has a tool call with index ${index}`);
    const { function: fn, index: _, ...rest } = call;
    const part = record(fn);
    const known = this.toolCalls[index];
    if (known === undefined) {
      this.toolCalls[index] = {
        type: 'function',
        ...withoutNull(rest),
        function: { arguments: '', ...withoutNull(part) },
      };
      return;
    }
    Object.assign(known, withoutNull(rest));
    const target = known.function as Record<string, unknown>;
    if (typeof part.name === 'string') target.name = part.name;
    if (typeof part.arguments === 'string') target.arguments = String(target.arguments) + part.arguments;
  }

  private ids(value: unknown, what: string): number[] | null {
    if (Array.isArray(value) && value.every((id) => Number.isSafeInteger(id) && id >= 0)) return value as number[];
    this.notes.push(`the ${what} are not a list of token ids`);
    return null;
  }
}

/** `token_id:N` in place of the token's text, as some vLLM builds answer. */
function idsFromTexts(texts: string[]): number[] | null {
  const ids = texts.map((text) => /^token_id:(\d+)$/.exec(text)?.[1]);
  return ids.every((id) => id !== undefined) ? ids.map(Number) : null;
}

function withoutNull(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null && each !== undefined));
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Content as text; parts of type text are joined. Null when there is none. */
function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return null;
  const texts = value.map((part) => record(part).text).filter((text) => typeof text === 'string');
  return texts.length > 0 ? texts.join('') : null;
}

/** The message inside an OpenAI-shaped error of any age. */
export function errorMessage(error: unknown): string {
  if (typeof error === 'string') return error;
  const { message } = record(error);
  return typeof message === 'string' ? message : JSON.stringify(error);
}

/** Removes from a reply or chunk what only the proxy asked for. Changes the object given. */
export function removeCapture(reply: Record<string, unknown>, wishes: CaptureWishes): void {
  delete reply.policy_version;
  if (!wishes.tokenIds) delete reply.prompt_token_ids;
  for (const each of list(reply.choices)) {
    const choice = record(each);
    if (!wishes.tokenIds) {
      delete choice.token_ids;
      delete choice.prompt_token_ids;
    }
    if (!wishes.logprobs && 'logprobs' in choice) choice.logprobs = null;
  }
}
