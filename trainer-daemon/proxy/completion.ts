/**
 * What is recorded of a chat completion, from a whole reply or put together from a stream's chunks. Token ids and
 * log-probs are taken as they came: nothing is re-encoded, cut to length or filled in; what is missing stays null.
 */
import { type ToolCall, toolCallSchema } from '../../protocol/chat.ts';
import type { ResolvedCall } from '../../protocol/records.ts';
import { OtherFields } from './other-fields.ts';
import { choiceOf, contentIn, functionCallIn, reasoningIn, refusalIn } from './reply-shapes.ts';
import type { CaptureWishes } from './sampling.ts';
import type { ChoiceFacts, RootFacts, TokenFact, UpstreamClient } from './upstreams/client.ts';
import { list, record } from './upstreams/shapes.ts';

export type Completion = Pick<
  ResolvedCall,
  'promptTokenIds' | 'responseTokenIds' | 'logprobs' | 'response' | 'finishReason' | 'usage'
> & {
  /** Version the server says it answered with; undefined when it says nothing. */
  policyVersion: number | undefined;
  /** What is odd about the capture; goes into the record's `error`. */
  notes: string[];
  /** Why such a reply is no sample of the chat template's, whatever its ids say; null where it is. */
  unusual: string | null;
};

/** A reply that is no chat completion. */
export class ReplyError extends Error {}

export class CompletionCollector {
  private readonly client: UpstreamClient;
  private readonly idFor: ((index: number) => string) | undefined;
  private content: string | null = null;
  private reasoning: string | null = null;
  private readonly toolCalls: Record<string, unknown>[] = [];
  private promptTokenIds: number[] | null = null;
  private tokenIds: number[] | null = null;
  private tokenIdsBroken = false;
  private tokens: TokenFact[] | null = null;
  private usage: Completion['usage'] = null;
  private readonly notes = new Set<string>();
  private refusal: string | null = null;
  private unusual: string | null = null;
  readonly others = new OtherFields();
  finishReason: string | null = null;
  policyVersion: number | undefined;
  private sawChoice = false;

  /** @param idFor the id under which a client is handed a call that has an empty one; left out where it gets that. */
  constructor(client: UpstreamClient, idFor?: (index: number) => string) {
    this.client = client;
    this.idFor = idFor;
  }

  /** Takes a whole reply (`object: "chat.completion"`). @throws ReplyError */
  addReply(reply: unknown): void {
    const root = record(reply);
    const choice = choiceOf(root);
    if (typeof choice?.message !== 'object' || choice.message === null)
      throw new ReplyError('the reply has no choices[0].message');
    this.root(root);
    this.severalChoices(root);
    this.add(choice, record(choice.message));
  }

  /** Takes one chunk of a stream. @throws ReplyError */
  addChunk(chunk: unknown): void {
    const root = record(chunk);
    if (root.error) throw new ReplyError(errorMessage(root.error));
    this.root(root);
    this.severalChoices(root);
    const choice = choiceOf(root);
    if (choice !== undefined) this.add(choice, record(choice.delta));
  }

  /** The prompt's ids from elsewhere, where the reply told none. */
  addPrompt(ids: unknown): void {
    if (this.promptTokenIds === null) this.facts({ promptTokenIds: ids });
  }

  /** A word about the capture, for the record. */
  note(text: string): void {
    this.notes.add(text);
  }

  /** What has come so far. @throws ReplyError when a tool call is malformed. */
  completion(): Completion {
    const toolCalls: ToolCall[] = [];
    for (const [index, call] of this.toolCalls.entries()) {
      if (call === undefined) continue;
      const named = call.id === '' && this.idFor !== undefined ? { ...call, id: this.idFor(index) } : call;
      const parsed = toolCallSchema.safeParse(named);
      if (!parsed.success) throw new ReplyError('the reply has a tool call without id, name or arguments');
      toolCalls.push(parsed.data);
    }
    const notes = new Set(this.notes);
    if (this.refusal) notes.add(`the planner refused: ${this.refusal}`);
    const inEntries = idsOf(this.tokens);
    let responseTokenIds = this.tokenIds;
    if (this.tokenIdsBroken) responseTokenIds = null;
    else if (responseTokenIds === null) responseTokenIds = inEntries;
    else if (inEntries !== null && differ(inEntries, responseTokenIds))
      notes.add('the ids told with the log-probs are not the response token ids');
    let logprobs: number[] | null = null;
    if (this.tokens !== null) {
      const values = this.tokens.map(({ logprob }) => logprob);
      const missing = values.filter((value) => value === null).length;
      if (missing === 0) logprobs = values as number[];
      else notes.add(`the log-probs of ${missing} of ${values.length} tokens are missing`);
    }
    if (responseTokenIds !== null && logprobs !== null && responseTokenIds.length !== logprobs.length)
      notes.add(`${responseTokenIds.length} token ids came with ${logprobs.length} log-probs`);
    return {
      promptTokenIds: this.promptTokenIds,
      responseTokenIds,
      logprobs,
      response: this.sawChoice ? { content: this.content, reasoning: this.reasoning, toolCalls } : null,
      finishReason: this.finishReason,
      usage: this.usage,
      policyVersion: this.policyVersion,
      notes: [...notes],
      unusual: this.refusal ? 'the planner refused, in a field of its own' : this.unusual,
    };
  }

  /** One choice was asked for, so a second one is not the planner's as this run knows it. */
  private severalChoices({ choices }: Record<string, unknown>): void {
    const others = list(choices).filter((choice) => (record(choice).index ?? 0) !== 0).length;
    if (others === 0 && list(choices).length < 2) return;
    this.unusual = 'the reply has several choices where one was asked for';
    this.notes.add(`${this.unusual}; the one of index 0 is recorded`);
  }

  private root(root: Record<string, unknown>): void {
    this.facts(this.client.root(root));
    const usage = record(root.usage);
    if ([usage.prompt_tokens, usage.completion_tokens, usage.total_tokens].every(Number.isFinite))
      this.usage = usage as Completion['usage'];
  }

  private facts({ promptTokenIds, policyVersion }: RootFacts): void {
    if (promptTokenIds !== undefined && promptTokenIds !== null)
      this.promptTokenIds = this.ids(promptTokenIds, 'prompt token ids');
    if (policyVersion !== undefined) this.policyVersion = policyVersion;
  }

  private add(choice: Record<string, unknown>, message: Record<string, unknown>): void {
    this.sawChoice = true;
    const { role } = message;
    if (typeof role === 'string' && role !== '' && role !== 'assistant')
      this.unusual = `the reply is of the role "${role.slice(0, 40)}", not the assistant's`;
    const content = contentIn(message);
    if (content !== null) this.content = (this.content ?? '') + content;
    const reasoning = reasoningIn(message);
    if (reasoning !== null) this.reasoning = (this.reasoning ?? '') + reasoning;
    const refusal = refusalIn(message);
    if (refusal !== null) this.refusal = (this.refusal ?? '') + refusal;
    const call = functionCallIn(message);
    if (call !== undefined) {
      this.unusual =
        'the call of a function came in the form before tool calls, which the chat template does not write';
      this.addToolCall(call, 0);
    }
    list(message.tool_calls).forEach((call, position) => {
      this.addToolCall(record(call), position);
    });
    if (typeof choice.finish_reason === 'string') this.finishReason = choice.finish_reason;
    this.addTokens(this.client.choice(choice));
  }

  private addTokens(facts: ChoiceFacts): void {
    const { promptTokenIds, ...rest } = facts;
    this.facts(this.promptTokenIds === null ? { ...rest, promptTokenIds } : rest);
    if (facts.tokenIds !== undefined && facts.tokenIds !== null) {
      const ids = this.ids(facts.tokenIds, 'token ids');
      this.tokenIds ??= [];
      if (ids === null) this.tokenIdsBroken = true;
      else for (const id of ids) this.tokenIds.push(id);
    }
    if (facts.tokens === undefined) return;
    if (facts.cumulative || this.tokens === null) this.tokens = [...facts.tokens];
    else for (const token of facts.tokens) this.tokens.push(token);
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
    const { id, ...more } = withoutNull(rest);
    // Some servers repeat an empty id with each piece.
    Object.assign(known, more, id === undefined || id === '' ? {} : { id });
    const target = known.function as Record<string, unknown>;
    if (typeof part.name === 'string') target.name = part.name;
    if (typeof part.arguments === 'string') target.arguments = String(target.arguments) + part.arguments;
  }

  private ids(value: unknown, what: string): number[] | null {
    if (Array.isArray(value) && value.every(isId)) return value as number[];
    this.notes.add(`the ${what} are not a list of token ids`);
    return null;
  }
}

const isId = (id: unknown): id is number => Number.isSafeInteger(id) && (id as number) >= 0;

/** The ids told with the log-probs, if all entries tell one. */
function idsOf(tokens: TokenFact[] | null): number[] | null {
  if (tokens === null || tokens.length === 0) return null;
  const ids = tokens.map(({ id }) => id);
  return ids.every(isId) ? ids : null;
}

function differ(a: number[], b: number[]): boolean {
  return a.length !== b.length || a.some((id, i) => id !== b[i]);
}

function withoutNull(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null && each !== undefined));
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
    delete choice.meta_info;
    if (!wishes.tokenIds) {
      delete choice.token_ids;
      delete choice.prompt_token_ids;
    }
    if (!wishes.logprobs && 'logprobs' in choice) choice.logprobs = null;
  }
}
