/**
 * How long a prompt is, without a call: Claude Code asks before it shortens a conversation, and makes real calls in
 * order to find out where nobody answers.
 */
import type { Upstream } from '../contract.ts';
import { serverRoot } from '../upstreams/create.ts';
import { askJson } from '../upstreams/request.ts';
import { object } from './chat-reply.ts';

/** A server that is busy may take its time; the client is not to wait for long. */
const PATIENCE_MS = 10_000;

/** Where no server counts: bytes of English text and JSON a token, and what a picture about costs. */
const BYTES_PER_TOKEN = 4;
const TOKENS_PER_IMAGE = 1000;

export interface TokenCount {
  count: number;
  /** True when no server counted. */
  estimated: boolean;
}

/** Counts the prompt of a request in the chat form, by the upstream's own template and tokenizer where it tells. */
export async function countTokens(chat: Record<string, unknown>, upstream: Upstream): Promise<TokenCount> {
  const { messages, tools, chat_template_kwargs } = chat;
  const ask = (path: string, body: unknown) =>
    askJson(serverRoot(upstream.url) + path, body, upstream.apiKey, AbortSignal.timeout(PATIENCE_MS));
  try {
    if (upstream.client.promptTokens) {
      const ids = await upstream.client.promptTokens(chat, ask);
      return { count: ids.length, estimated: false };
    }
    const { count } = object(await ask('/tokenize', { model: upstream.model, messages, tools, chat_template_kwargs }));
    if (Number.isSafeInteger(count)) return { count: count as number, estimated: false };
  } catch {
    // No such endpoint, or not for messages: estimated then.
  }
  return { count: estimate(messages, tools), estimated: true };
}

function estimate(messages: unknown, tools: unknown): number {
  let images = 0;
  const text = JSON.stringify([messages, tools ?? []], (_, value: unknown) => {
    if (object(value).type !== 'image_url') return value;
    images++;
    return null;
  });
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN) + images * TOKENS_PER_IMAGE;
}
