/**
 * What an API dialect of the proxy is: a pure translation between a client's requests and replies and the chat form,
 * in which every call is sent on (chat completions) and recorded.
 */
import type { ResolvedCall } from '../../../protocol/records.ts';
import { type ApiError, apiError } from '../api-error.ts';
import type { UpstreamClient } from '../upstreams/client.ts';
import type { TokenCount } from './count-tokens.ts';
import type { Untranslated } from './request-part.ts';
import type { ToolCallTexts } from './tool-call-texts.ts';

/** A request in the chat form. */
export interface Translation {
  /** Chat-completions body: what goes to the upstream (sampling is set later) and is recorded. */
  chat: Record<string, unknown>;
  /** What the chat form has no place for; kept in the record. */
  untranslated: Untranslated;
}

/** What a translation may know besides the body. */
export interface TranslationContext {
  /** Texts of the tool calls that this episode's planner made. */
  toolCalls: ToolCallTexts;
  /** Whether the upstream takes `chat_template_kwargs`. */
  templateArguments: boolean;
}

/** What a reply is made from besides the upstream's. */
export interface ReplyContext {
  /** Letters and digits that no other reply has; ids in the reply derive from it. */
  replyId: string;
  /** The request as the client sent it. */
  received: Record<string, unknown>;
  toolCalls: ToolCallTexts;
  /** What a stream has told before its finish chunk, for the event that tells of its failure. */
  soFar?(): StreamSoFar;
}

export interface StreamSoFar {
  model: string | undefined;
  created: number | undefined;
  /** Items that have begun, as far as they have come. */
  output: Record<string, unknown>[];
}

/** A streamed reply in the making: chunks of chat completions in, events of the dialect (whole, as sent) out. */
export interface ClientStream {
  /** Events that a chunk brings. Those of the finish chunk and later are held until the call is recorded. */
  push(chunk: Record<string, unknown>): string[];
  /** The events that end the stream. */
  end(): string[];
}

export interface ErrorReply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** An upstream's endpoint that is not chat completions. */
export interface OwnEndpoint {
  /** Behind the upstream's base URL. */
  endpoint: '/completions';
  /** Why its calls are never trained on. */
  untrainable: string;
  /** The endpoint's body from the chat one. */
  toUpstream(chat: Record<string, unknown>): Record<string, unknown>;
  /** A reply or chunk of the endpoint in the chat form. */
  fromUpstream(reply: unknown): unknown;
}

/** How a call reaches its upstream. */
export type Way = OwnEndpoint | (Partial<Omit<OwnEndpoint, 'endpoint'>> & { endpoint: '/chat/completions' });

/** The way of a dialect's calls to this kind of server. */
export function wayOf({ own }: Dialect, client: UpstreamClient): Way {
  return own !== undefined && client.plainCompletions !== false ? own : { endpoint: '/chat/completions' };
}

export interface Dialect {
  surface: ResolvedCall['surface'];
  /** Paths it answers by POST. */
  paths: readonly string[];
  /** Its clients match results to tool calls by ids that must differ: empty ones are replaced (`idOfNameless`). */
  namesCalls?: boolean;
  /** Another endpoint than the upstream's chat completions; a server without it is sent the chat form. */
  own?: OwnEndpoint;
  /** How long a prompt is, asked without making a call. */
  count?: {
    path: string;
    /** As `toChat` of the dialect, for a conversation that may end anywhere. */
    toChat(body: unknown, context: TranslationContext): Translation;
    reply(count: TokenCount): string;
  };
  /**
   * @param body a parsed JSON value; left as it is.
   * @throws RefusedRequest for anything that cannot be translated without loss.
   */
  toChat(body: unknown, context: TranslationContext): Translation;
  /** The client's JSON text from a chat completion. */
  reply(completion: Record<string, unknown>, context: ReplyContext): string;
  stream(context: ReplyContext): ClientStream;
  error(error: ApiError): ErrorReply;
  /**
   * Events that tell of an error when the stream has begun already.
   * @param sent number of events sent before.
   */
  streamError(error: ApiError, context: ReplyContext, sent: number): string;
}

/** A call as its client speaks of it. */
export interface CallInDialect {
  dialect: Dialect;
  context: ReplyContext;
  /** Kept in the record beside the chat form; null when there is nothing. */
  untranslated: Record<string, unknown> | null;
  /** Told of fields of the reply that are not known: only clients of Chat Completions get them. */
  unknownInReply?(paths: readonly string[]): void;
}

/** A request that is answered with an error of status 4xx, before anything is sent on or recorded. */
export class RefusedRequest extends Error {
  readonly error: ApiError;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.error = apiError(status, code, message);
  }
}
