import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import {
  askModel,
  LimitReached,
  ModelFailure,
} from '../../../../trainer-daemon/harnesses/tabletop-skills/model-client.ts';

type Reply = (response: ServerResponse, request: IncomingMessage) => void;
interface Seen {
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
}

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** An endpoint that gives the replies in order, the last one again and again. */
async function endpoint(...replies: Reply[]): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  server = createServer(async (request, response) => {
    seen.push({ headers: request.headers, body: JSON.parse(await text(request)) });
    replies[Math.min(seen.length, replies.length) - 1](response, request);
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, seen };
}

const status =
  (code: number, body: string, headers: Record<string, string> = {}): Reply =>
  (response) =>
    response.writeHead(code, headers).end(body);
const message = (value: object): Reply => status(200, JSON.stringify({ choices: [{ message: value }] }));
const error = (code: number, name: string, headers: Record<string, string> = {}): Reply =>
  status(code, JSON.stringify({ error: { message: 'words', code: name } }), headers);

const ask = (url: string, seconds = 30, idleSeconds = 30) =>
  askModel(
    {
      baseUrl: url,
      apiKey: 'secret',
      model: 'planner',
      responseTokens: 64,
      deadline: performance.now() + seconds * 1000,
      idleSeconds,
      requestName: 'episode-turn-3',
      seed: 5,
    },
    [{ role: 'user', content: 'go' }],
    [],
  );

describe('a request', () => {
  it('is an OpenAI chat completion with the key, a name and a seed', async () => {
    const { url, seen } = await endpoint(message({ role: 'assistant', content: 'hello', reasoning_content: 'hm' }));
    expect(await ask(url)).toEqual({ role: 'assistant', content: 'hello', reasoning_content: 'hm' });
    expect(seen[0].headers).toMatchObject({ authorization: 'Bearer secret', 'idempotency-key': 'episode-turn-3' });
    expect(seen[0].body).toMatchObject({ model: 'planner', max_tokens: 64, seed: 5, tools: [] });
  });

  it('is repeated after passing failures, under the same name', async () => {
    const { url, seen } = await endpoint(
      error(503, 'overloaded', { 'retry-after': '0.01' }),
      (response) => response.destroy(),
      message({ content: 'third' }),
    );
    expect((await ask(url)).content).toBe('third');
    expect(seen.map(({ headers }) => [headers['idempotency-key'], headers['x-stainless-retry-count']])).toEqual([
      ['episode-turn-3', '0'],
      ['episode-turn-3', '1'],
      ['episode-turn-3', '2'],
    ]);
  });

  it('fails after three tries, and at once where repeating is useless', async () => {
    const quick = { 'retry-after': '0.01' };
    const busy = await endpoint(error(500, 'oops', quick));
    await expect(ask(busy.url)).rejects.toThrow(new ModelFailure('status 500 (oops)'));
    expect(busy.seen).toHaveLength(3);
    for (const reply of [
      error(404, 'model_not_found'),
      error(424, 'upstream_failed'),
      error(503, 'x', { 'x-should-retry': 'false' }),
    ]) {
      const { url, seen } = await endpoint(reply);
      await expect(ask(url)).rejects.toBeInstanceOf(ModelFailure);
      expect(seen).toHaveLength(1);
    }
  });

  it.each([
    [400, 'turn_limit', 'turn-limit'],
    [400, 'context_length_exceeded', 'context-full'],
    [409, 'episode_closed', 'closed'],
  ])('that is answered %i %s met a limit', async (code, name, limit) => {
    const { url, seen } = await endpoint(error(code, name));
    await expect(ask(url)).rejects.toMatchObject({ limit });
    expect(seen).toHaveLength(1);
  });

  it('knows a full context by its words where there is no code', async () => {
    const words = "This model's maximum context length is 2048 tokens.";
    const { url } = await endpoint(status(400, JSON.stringify({ error: { message: words } })));
    await expect(ask(url)).rejects.toMatchObject({ limit: 'context-full' });
  });

  it('that is never answered is a failure, unless the time ran out before that could be told', async () => {
    const { url } = await endpoint(() => undefined);
    await expect(ask(url, 0.3, 0.2)).rejects.toThrow(/no reply within/);
    await expect(ask(url, 0.3, 60)).rejects.toThrow(new LimitReached('time-limit'));
  });
});

describe('a reply', () => {
  it('that is no chat completion is asked for again, then a failure', async () => {
    const { url, seen } = await endpoint(status(200, 'not json'), status(200, '{"choices":[]}'));
    await expect(ask(url)).rejects.toThrow('the reply is no chat completion');
    expect(seen).toHaveLength(3);
  });

  it('with odd tool calls is made whole, so that each can be answered', async () => {
    const call = (fields: object) => ({ tool_calls: [fields] });
    const first = async (fields: object) => {
      const { url } = await endpoint(message(call(fields)));
      return (await ask(url)).tool_calls?.[0];
    };
    expect(await first({ id: 'x', function: { name: 'detect', arguments: '{}' } })).toEqual({
      id: 'x',
      type: 'function',
      function: { name: 'detect', arguments: '{}' },
    });
    expect(await first({ function: { name: 'place', arguments: { where: 'on' } } })).toMatchObject({
      id: 'call_episode-turn-3_0',
      function: { name: 'place', arguments: '{"where":"on"}' },
    });
    expect(await first({ id: '', type: 'function' })).toMatchObject({ function: { name: '', arguments: '{}' } });
  });
});
