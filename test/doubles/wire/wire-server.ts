/** What the wire doubles share: an HTTP server with JSON routes, and how replies of one chat call are laid out. */
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { decode, encode, generate, render, type Sampled } from './letter-model.ts';

export interface Script {
  reasoning?: string;
  content?: string;
  toolCalls?: { id: string; name: string; arguments: string }[];
}

/** How a server departs from what its documentation says. */
export interface Lies {
  /** Log-probs of the model's own distribution, whatever the sampling. */
  raw?: boolean;
  /** Each token has the log-prob of the one after it. */
  shifted?: boolean;
  /** The ids are those of another text than the one sampled. */
  wrongIds?: boolean;
  /** The prompt is rendered with another template. */
  otherTemplate?: boolean;
  noIds?: boolean;
  noLogprobs?: boolean;
  /** A stream ends without its usage chunk. */
  noUsageChunk?: boolean;
  /** The token at this place has the value that stands for none. */
  floorAt?: number;
}

export interface WireOptions {
  version: string;
  script?: Script;
  lies?: Lies;
  model?: string;
  weightVersion?: string | number;
  /** Bytes a write. */
  pieces?: number;
  apiKey?: string;
}

export interface WireServer {
  url: string;
  requests: { path: string; body: Record<string, unknown> }[];
  options: WireOptions;
  close(): Promise<void>;
}

export type Answer =
  | { status?: number; json: unknown }
  /** Events of a stream; texts are sent as they are. */
  | { events: unknown[] };

export type Routes = Record<string, (body: Record<string, unknown>, options: WireOptions) => Answer>;

export async function startWire(routes: Routes, options: WireOptions): Promise<WireServer> {
  const requests: WireServer['requests'] = [];
  const server = http.createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    const path = request.url ?? '';
    if (request.method === 'POST') requests.push({ path, body });
    const json = (status: number, value: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    if (options.apiKey !== undefined && request.headers.authorization !== `Bearer ${options.apiKey}`) {
      json(401, { error: 'Unauthorized' });
      return;
    }
    const route = routes[`${request.method} ${path}`];
    if (!route) {
      json(404, { detail: 'Not Found' });
      return;
    }
    const answer = route(body, options);
    if ('json' in answer) {
      json(answer.status ?? 200, answer.json);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    const bytes = Buffer.from(streamText(answer.events));
    const size = options.pieces ?? bytes.length;
    for (let at = 0; at < bytes.length; at += size) {
      response.write(bytes.subarray(at, at + size));
      if (options.pieces) await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    options,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function streamText(events: unknown[]): string {
  const data = events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
  return `${data.join('')}data: [DONE]\n\n`;
}

/** One chat call as the model takes it. */
export interface Played {
  promptIds: number[];
  tokens: Sampled[];
  /** Ids as they are told. */
  ids: number[];
  script: Script;
  finish: string;
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

const textOf = ({ reasoning = '', content = '', toolCalls = [] }: Script) =>
  reasoning + content + toolCalls.map((call) => call.arguments).join('');

export function play(body: Record<string, unknown>, options: WireOptions, top: number): Played {
  const lies = options.lies ?? {};
  const promptIds = encode((lies.otherTemplate ? 'You are helpful. ' : '') + render(body));
  const most = (body.max_tokens ?? body.max_completion_tokens ?? 16) as number;
  const tokens = generate(promptIds, most, body as never, {
    script: options.script && textOf(options.script),
    raw: lies.raw,
    top: Math.max(top, lies.shifted ? 1 : 0),
  });
  const ids = tokens.map(({ id }) => id);
  const script = options.script ?? { content: decode(ids) };
  if (lies.shifted) {
    const told = tokens.map(({ logprob }, i) => tokens[i + 1]?.logprob ?? logprob);
    for (const [i, token] of tokens.entries()) token.logprob = told[i];
  }
  if (lies.floorAt !== undefined) tokens[lies.floorAt].logprob = Number.NEGATIVE_INFINITY;
  const finish = script.toolCalls?.length ? 'tool_calls' : tokens.at(-1)?.id === 3 ? 'stop' : 'length';
  return {
    promptIds,
    tokens,
    ids: lies.wrongIds ? ids.map((id) => (id === 3 ? id : 32 + ((id + 1) % 90))) : ids,
    script,
    finish,
    usage: {
      prompt_tokens: promptIds.length,
      completion_tokens: ids.length,
      total_tokens: promptIds.length + ids.length,
    },
  };
}

/** Deltas of a script, letter by letter, each with the number of tokens it stands for. */
export function deltasOf(script: Script, reasoningName: string): { delta: Record<string, unknown>; tokens: number }[] {
  const deltas: { delta: Record<string, unknown>; tokens: number }[] = [];
  for (const letter of script.reasoning ?? '') deltas.push({ delta: { [reasoningName]: letter }, tokens: 1 });
  for (const letter of script.content ?? '') deltas.push({ delta: { content: letter }, tokens: 1 });
  (script.toolCalls ?? []).forEach(({ id, name, arguments: text }, index) => {
    deltas.push({
      delta: { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
      tokens: 0,
    });
    for (const letter of text)
      deltas.push({ delta: { tool_calls: [{ index, function: { arguments: letter } }] }, tokens: 1 });
  });
  return deltas;
}
