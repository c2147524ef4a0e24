/** One chat call to a server under examination, read as the proxy would read it. */
import { type Completion, CompletionCollector } from '../completion.ts';
import { EventStreamReader } from '../event-stream.ts';
import { jsonParts } from '../large-texts.ts';
import type { UpstreamClient } from '../upstreams/client.ts';
import { askJson, postJson, readBody } from '../upstreams/request.ts';
import { list, numberOrNull, record } from '../upstreams/shapes.ts';

const MOST_MILLISECONDS = 120_000;
const LARGEST_REPLY = 16 * 1024 * 1024;

export interface Server {
  client: UpstreamClient;
  /** Ends in /v1. */
  base: string;
  /** Where its other endpoints start. */
  root: string;
  model: string;
  apiKey: string | null;
}

export interface Candidate {
  /** Its id where the server tells it, else its text. */
  token: string;
  logprob: number;
}

export interface ProbeAnswer {
  completion: Completion;
  /** For each response token, as told in the log-probs: the token itself and the most probable ones. */
  positions: { token: string; logprob: number | null; top: Candidate[] }[];
}

export interface ProbeRequest {
  messages: Record<string, unknown>[];
  tools?: Record<string, unknown>[];
  maxTokens: number;
  temperature: number;
  /** Only so many most probable tokens may be sampled. */
  topK?: number;
  /** Most probable tokens wanted for each position. */
  top?: number;
  stream?: boolean;
  /** Ids written into the texts of the log-probs, where the server can. */
  idsInTexts?: boolean;
}

/** @throws Error when the server refuses or what it answers is no chat completion. */
export async function probeChat(server: Server, request: ProbeRequest): Promise<ProbeAnswer> {
  const { client } = server;
  const body: Record<string, unknown> = {
    model: server.model,
    messages: request.messages,
    ...(request.tools ? { tools: request.tools } : {}),
    ...client.neutral,
    temperature: request.temperature,
    top_p: 1,
    ...(client.supports.topK ? { top_k: request.topK ?? -1 } : {}),
    ...(client.supports.seed ? { seed: 1 } : {}),
    presence_penalty: 0,
    frequency_penalty: 0,
    max_tokens: request.maxTokens,
    ...client.capture(request.top === undefined ? undefined : { topLogprobs: request.top }),
    ...(request.idsInTexts ? { return_tokens_as_token_ids: true } : {}),
    ...(request.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
  const signal = AbortSignal.timeout(MOST_MILLISECONDS);
  const reply = await postJson(`${server.base}/chat/completions`, jsonParts(body), server.apiKey, signal);
  const text = await readBody(reply.body, LARGEST_REPLY, () => undefined);
  if (reply.status !== 200) throw new Error(`/chat/completions answered HTTP ${reply.status}: ${text.slice(0, 300)}`);
  const collector = new CompletionCollector(client);
  if (request.stream) {
    for (const data of new EventStreamReader().push(Buffer.from(text)))
      if (data.trim() !== '[DONE]') collector.addChunk(JSON.parse(data));
    return { completion: collector.completion(), positions: [] };
  }
  const whole = JSON.parse(text) as unknown;
  collector.addReply(whole);
  const completion = collector.completion();
  if (completion.promptTokenIds === null && client.promptTokens)
    collector.addPrompt(await client.promptTokens(body, (path, asked) => ask(server, path, asked)));
  return { completion: collector.completion(), positions: positionsOf(whole) };
}

/** Asks another endpoint of the server. @throws Error when it does not answer 200 with JSON. */
export function ask(server: Server, path: string, body?: unknown): Promise<unknown> {
  return askJson(server.root + path, body, server.apiKey, AbortSignal.timeout(MOST_MILLISECONDS));
}

function positionsOf(reply: unknown): ProbeAnswer['positions'] {
  const choice = record(list(record(reply).choices)[0]);
  return list(record(choice.logprobs).content).map((entry) => ({
    ...candidateOf(record(entry)),
    top: list(record(entry).top_logprobs ?? record(entry).top_probs).flatMap((each) => {
      const { token, logprob } = candidateOf(record(each));
      return logprob === null ? [] : [{ token, logprob }];
    }),
  }));
}

function candidateOf(entry: Record<string, unknown>): { token: string; logprob: number | null } {
  const probability = numberOrNull(entry.prob);
  return {
    token: entry.id === undefined ? String(entry.token) : `token_id:${entry.id}`,
    logprob: probability !== null && probability > 0 ? Math.log(probability) : numberOrNull(entry.logprob),
  };
}
