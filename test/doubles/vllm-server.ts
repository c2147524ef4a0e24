/**
 * A wire double of a foreign server: chat completions in vLLM's shape, whole and streamed, with the faults a real one
 * shows. Token ids are the UTF-16 codes of the text, log-probs are -0.25 * (position + 1).
 */
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { asChat, asPlain } from './plain-completions.ts';

export interface Turn {
  content?: string | null;
  reasoning?: string;
  toolCalls?: { id: string; name: string; arguments: string }[];
  finishReason?: string | null;
  policyVersion?: number;
  /** Changes the whole reply before it is sent. */
  mutate?: (reply: Record<string, unknown>) => unknown;
  /** Changes the chunks before they are sent. */
  mutateChunks?: (chunks: unknown[]) => unknown[];
  /** Milliseconds before the head, and between chunks. */
  delay?: number;
  /** Takes over the reply entirely. */
  raw?: (response: http.ServerResponse, request: http.IncomingMessage) => void;
}

export interface SeenRequest {
  body: Record<string, unknown>;
  headers: http.IncomingHttpHeaders;
  /** Set when the client hung up before the reply ended. */
  aborted: boolean;
}

export interface VllmServer {
  url: string;
  requests: SeenRequest[];
  /** Answers, one a request; the last one repeats. */
  turns: Turn[];
  close(): Promise<void>;
}

export const idsOf = (text: string) => [...text].map((letter) => letter.codePointAt(0) as number);
export const logprobsOf = (ids: number[]) => ids.map((_, i) => -0.25 * (i + 1));

export async function startVllmServer(turns: Turn[] = [{ content: 'hello' }]): Promise<VllmServer> {
  const requests: SeenRequest[] = [];
  const state = { turns };
  const server = http.createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>;
    const seen: SeenRequest = { body, headers: request.headers, aborted: false };
    response.on('close', () => {
      seen.aborted = !response.writableFinished;
    });
    const turn = state.turns[Math.min(requests.length, state.turns.length - 1)];
    requests.push(seen);
    if (turn.delay) await sleep(turn.delay);
    if (turn.raw) return turn.raw(response, request);
    const plain = request.url?.endsWith('/v1/completions') === true;
    const chat = plain ? asChat(body) : body;
    const shape = plain ? asPlain : (reply: unknown) => reply;
    if (body.stream === true) await answerStream(response, streamChunks(chat, turn).map(shape), turn);
    else {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(shape(wholeReply(chat, turn))));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get turns() {
      return state.turns;
    },
    set turns(next) {
      state.turns = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const promptIds = (body: Record<string, unknown>) => idsOf(JSON.stringify(body.messages)).slice(0, 50);
const textIn = (turn: Turn) =>
  (turn.reasoning ?? '') + (turn.content ?? '') + (turn.toolCalls ?? []).map((call) => call.arguments).join('');

function wholeReply(body: Record<string, unknown>, turn: Turn): unknown {
  const ids = idsOf(textIn(turn));
  const logprobs = logprobsOf(ids);
  const wantsIds = body.return_token_ids === true;
  const reply: Record<string, unknown> = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: body.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: turn.content ?? null,
          reasoning: turn.reasoning ?? null,
          tool_calls: (turn.toolCalls ?? []).map(({ id, ...fn }) => ({ id, type: 'function', function: fn })),
        },
        logprobs:
          body.logprobs === true
            ? {
                content: ids.map((id, i) => ({
                  token: String.fromCodePoint(id),
                  logprob: logprobs[i],
                  bytes: [id],
                  top_logprobs: [],
                })),
              }
            : null,
        finish_reason: turn.finishReason === undefined ? 'stop' : turn.finishReason,
        stop_reason: null,
        token_ids: wantsIds ? ids : null,
      },
    ],
    usage: { prompt_tokens: 50, completion_tokens: ids.length, total_tokens: 50 + ids.length },
    prompt_token_ids: wantsIds ? promptIds(body) : null,
  };
  if (turn.policyVersion !== undefined) reply.policy_version = turn.policyVersion;
  return turn.mutate ? turn.mutate(reply) : reply;
}

export function streamChunks(body: Record<string, unknown>, turn: Turn): unknown[] {
  const root = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: body.model };
  const version = turn.policyVersion === undefined ? {} : { policy_version: turn.policyVersion };
  const wantsIds = body.return_token_ids === true;
  let position = 0;
  const piece = (text: string, delta: Record<string, unknown>) => {
    const ids = idsOf(text);
    const content = ids.map((id) => ({
      token: String.fromCodePoint(id),
      logprob: -0.25 * ++position,
      bytes: [id],
      top_logprobs: [],
    }));
    return {
      ...root,
      choices: [
        {
          index: 0,
          delta,
          logprobs: body.logprobs === true ? { content } : null,
          finish_reason: null,
          token_ids: wantsIds ? ids : null,
        },
      ],
    };
  };
  const chunks: unknown[] = [
    {
      ...root,
      ...version,
      prompt_token_ids: wantsIds ? promptIds(body) : null,
      choices: [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }],
    },
  ];
  for (const letter of turn.reasoning ?? '') chunks.push(piece(letter, { reasoning: letter }));
  for (const letter of turn.content ?? '') chunks.push(piece(letter, { content: letter }));
  (turn.toolCalls ?? []).forEach((call, index) => {
    chunks.push(
      piece('', {
        tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }],
      }),
    );
    for (const letter of call.arguments)
      chunks.push(piece(letter, { tool_calls: [{ index, function: { arguments: letter } }] }));
  });
  chunks.push({
    ...root,
    choices: [
      {
        index: 0,
        delta: {},
        logprobs: null,
        finish_reason: turn.finishReason === undefined ? 'stop' : turn.finishReason,
      },
    ],
  });
  const options = body.stream_options as { include_usage?: boolean } | undefined;
  if (options?.include_usage)
    chunks.push({
      ...root,
      choices: [],
      usage: { prompt_tokens: 50, completion_tokens: position, total_tokens: 50 + position },
    });
  return turn.mutateChunks ? turn.mutateChunks(chunks) : chunks;
}

async function answerStream(response: http.ServerResponse, chunks: unknown[], turn: Turn): Promise<void> {
  response.setHeader('content-type', 'text/event-stream; charset=utf-8');
  for (const chunk of chunks) {
    if (response.destroyed) return;
    response.write(typeof chunk === 'string' ? chunk : `data: ${JSON.stringify(chunk)}\n\n`);
    if (turn.delay) await sleep(turn.delay);
  }
  response.end('data: [DONE]\n\n');
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
