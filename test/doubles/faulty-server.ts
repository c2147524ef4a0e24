/**
 * An upstream that fails on the wire: raw bytes on a socket, so that also what no HTTP library would send can be sent.
 * Requests that no fault is set for are answered well, in vLLM's shape.
 */

import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

export type Fault = (socket: Socket, request: { stream: boolean }) => void;

export interface FaultyServer {
  url: string;
  /** Requests seen. */
  requests: number;
  /** Taken by the next requests, one each. */
  faults: Fault[];
  close(): Promise<void>;
}

const REPLY = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  prompt_token_ids: [1, 2],
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'ok' },
      token_ids: [5, 6],
      logprobs: {
        content: [
          { token: 'token_id:5', logprob: -0.5 },
          { token: 'token_id:6', logprob: -0.25 },
        ],
      },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 },
};

export const json = (status: string, body: string, headers = '', length = Buffer.byteLength(body)) =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n${headers}\r\n${body}`;

export const goodReply = (change: (reply: typeof REPLY) => unknown = (reply) => reply) =>
  json('200 OK', JSON.stringify(change(structuredClone(REPLY))));

const chunk = (choice: Record<string, unknown>, root: Record<string, unknown> = {}) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...root, choices: [{ index: 0, ...choice }] })}\n\n`;
const token = (id: number, content: string, logprob: number) =>
  chunk({
    delta: { content },
    token_ids: [id],
    logprobs: { content: [{ token: `token_id:${id}`, logprob }] },
    finish_reason: null,
  });

/** Head and first token of a stream. */
export const streamBegin = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n${chunk({ delta: { role: 'assistant', content: '' } }, { prompt_token_ids: [1, 2] })}${token(5, 'o', -0.5)}`;
const streamEnd = `${token(6, 'k', -0.25)}${chunk({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`;

export async function startFaultyServer(): Promise<FaultyServer> {
  const sockets = new Set<Socket>();
  const state = { requests: 0, faults: [] as Fault[] };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let text = '';
    socket.on('data', (part) => {
      text += part.toString();
      const head = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (head < 0 || text.length < head + 4 + length) return;
      const stream = text.slice(head).includes('"stream":true');
      text = '';
      state.requests++;
      const fault = state.faults.shift();
      if (fault) fault(socket, { stream });
      else if (stream) socket.end(streamBegin + streamEnd);
      else socket.write(goodReply());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get requests() {
      return state.requests;
    },
    set requests(next) {
      state.requests = next;
    },
    get faults() {
      return state.faults;
    },
    set faults(next) {
      state.faults = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
