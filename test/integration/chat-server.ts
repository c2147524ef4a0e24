/** A small OpenAI-compatible server that stands for somebody else's, for tests: it answers by a function. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ChatRequest, ToolCall } from '../../protocol/chat.ts';

export interface ChatServer {
  /** Ends in /v1. */
  url: string;
  requests: { body: ChatRequest & Record<string, unknown>; authorization: string | undefined }[];
  close(): Promise<void>;
}

export type Answer = { content?: string; toolCalls?: { name: string; arguments: string }[] } | { status: number };

export async function startChatServer(answer: (request: ChatRequest) => Answer): Promise<ChatServer> {
  const requests: ChatServer['requests'] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text) as ChatServer['requests'][number]['body'];
    requests.push({ body, authorization: request.headers.authorization });
    const given = answer(body);
    if ('status' in given) {
      response.writeHead(given.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'no', type: 'server_error' } }));
      return;
    }
    const tool_calls: ToolCall[] | undefined = given.toolCalls?.map((call, i) => ({
      id: `call_${requests.length}_${i}`,
      type: 'function',
      function: call,
    }));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        id: 'x',
        object: 'chat.completion',
        created: 0,
        model: body.model,
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: given.content ?? null, ...(tool_calls ? { tool_calls } : {}) },
            finish_reason: tool_calls ? 'tool_calls' : 'stop',
          },
        ],
        usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 },
      }),
    );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async close() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await closed;
    },
  };
}
