/** The recording proxy against a vllm-shaped server over real sockets: what is recorded, what is answered, what fails. */
import * as http from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { seedOf } from '../../protocol/random.ts';
import type { EpisodeOpening, ProxyEpisode, RecordingProxy } from '../../trainer-daemon/proxy/contract.ts';
import { createUpstream } from '../../trainer-daemon/proxy/index.ts';
import { startProxy } from '../../trainer-daemon/proxy/server.ts';
import { idsOf, logprobsOf, sleep, startVllmServer, type Turn, type VllmServer } from '../doubles/vllm-server.ts';
import { WatchedSection } from '../doubles/watched-section.ts';

let proxy: RecordingProxy;
let server: VllmServer;
let sink: WatchedSection;
let version = 3;
const opened: ProxyEpisode[] = [];

beforeAll(async () => {
  proxy = await startProxy();
});
afterAll(() => proxy?.close());
beforeEach(async () => {
  server = await startVllmServer();
  sink = await WatchedSection.create();
  version = 3;
});
afterEach(async () => {
  for (const episode of opened.splice(0)) await episode.close('done');
  await server?.close();
  await sink?.remove();
});

let count = 0;
function open(change: Partial<EpisodeOpening> = {}, url = server.url): ProxyEpisode {
  const episode = proxy.openEpisode({
    id: `0badcafe.r1.suite-0.i${count++}.a0.0`,
    role: 'rollout',
    upstream: createUpstream({ kind: 'vllm', url, model: 'planner', apiKey: 'up', policyVersion: () => version }),
    sampling: { temperature: 1, topP: 1, topK: -1, presencePenalty: 0 },
    responseTokens: 64,
    turns: 100,
    sink,
    onUpstreamFailure: 'pass',
    ...change,
  });
  opened.push(episode);
  return episode;
}

const ask = (text = 'go', more: Record<string, unknown> = {}) => ({
  model: 'any',
  messages: [{ role: 'user', content: text }],
  ...more,
});

async function post(
  episode: ProxyEpisode,
  body: unknown = ask(),
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<{ status: number; headers: Headers; text: string; json: Record<string, never> }> {
  const response = await fetch(`${episode.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal,
  });
  const text = await response.text();
  let json = {} as Record<string, never>;
  try {
    json = JSON.parse(text);
  } catch {}
  return { status: response.status, headers: response.headers, text, json };
}

const errorOf = (reply: { json: unknown }) => (reply.json as { error: { code: string; message: string } }).error;
const events = (text: string) =>
  text
    .split('\n\n')
    .filter((each) => each.startsWith('data: '))
    .map((each) => each.slice(6));

describe('recording', () => {
  it('records a call in full and answers without the capture fields', async () => {
    server.turns = [{ content: 'hi', reasoning: 'think', toolCalls: [{ id: 'c1', name: 'pick', arguments: '{}' }] }];
    const episode = open();
    const tools = [{ type: 'function', function: { name: 'pick' } }, { type: 'web_search' }];
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'go' }, image] }];
    const reply = await post(episode, { model: 'any', messages, tools, temperature: 0.2, stop: ['#'] });
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'planner',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'hi',
            reasoning: 'think',
            tool_calls: [{ id: 'c1', type: 'function', function: { name: 'pick', arguments: '{}' } }],
          },
          logprobs: null,
          finish_reason: 'stop',
          stop_reason: null,
        },
      ],
      usage: { prompt_tokens: 50, completion_tokens: 9, total_tokens: 59 },
    });
    const ids = idsOf('thinkhi{}');
    expect(sink.calls).toHaveLength(1);
    expect(sink.calls[0]).toMatchObject({
      id: `${episode.id}.c0`,
      episode: episode.id,
      turn: 0,
      surface: 'chat',
      policyVersion: 3,
      request: { messages, tools, other: { model: 'any', temperature: 0.2, stop: ['#'] } },
      samplingAsked: { temperature: 0.2 },
      samplingSent: { temperature: 1, top_k: -1, max_tokens: 64, seed: seedOf(`${episode.id}.c0`) },
      responseTokenIds: ids,
      logprobs: logprobsOf(ids),
      response: { content: 'hi', reasoning: 'think' },
      finishReason: 'stop',
      status: 'complete',
      error: null,
      retryOf: null,
    });
    expect(sink.calls[0].promptTokenIds).toHaveLength(50);
    const sent = server.requests[0];
    expect(sent.headers.authorization).toBe('Bearer up');
    expect(sent.body).toMatchObject({ model: 'planner', messages, tools, top_logprobs: 0, return_token_ids: true });
    expect(JSON.stringify(sent)).not.toContain(episode.key);
    expect(episode.calls).toMatchObject([{ turn: 0, status: 'complete', finishReason: 'stop' }]);
  });

  it('records a streamed call as it records a whole one', async () => {
    const turn: Turn = {
      content: 'hi',
      reasoning: 'th',
      toolCalls: [{ id: 'c1', name: 'pick', arguments: '{"a":1}' }],
    };
    server.turns = [turn];
    const episode = open();
    await post(episode);
    const streamed = await post(episode, ask('go', { stream: true }));
    const [whole, pieces] = sink.calls;
    for (const field of [
      'promptTokenIds',
      'responseTokenIds',
      'logprobs',
      'response',
      'finishReason',
      'usage',
    ] as const)
      expect(pieces[field], field).toEqual(whole[field]);
    expect(pieces.durations.firstToken).toBeGreaterThan(0);
    const got = events(streamed.text);
    expect(got.at(-1)).toBe('[DONE]');
    const chunks = got.slice(0, -1).map((each) => JSON.parse(each));
    expect(chunks.map((c) => c.choices[0].delta.content ?? '').join('')).toBe('hi');
    expect(chunks.map((c) => c.choices[0].delta.reasoning ?? '').join('')).toBe('th');
    expect(chunks.at(-1).choices[0].finish_reason).toBe('stop');
    for (const chunk of chunks) {
      expect(chunk).not.toHaveProperty('prompt_token_ids');
      expect(chunk).not.toHaveProperty('usage');
      expect(chunk.choices[0]).not.toHaveProperty('token_ids');
      expect(chunk.choices[0].logprobs).toBeNull();
    }
  });

  it('leaves the capture fields that the client asked for itself', async () => {
    const episode = open();
    const whole = await post(episode, ask('go', { logprobs: true, return_token_ids: true }));
    const choice = (whole.json as unknown as { choices: Record<string, unknown>[] }).choices[0];
    expect(choice.token_ids).toEqual(idsOf('hello'));
    expect((choice.logprobs as { content: unknown[] }).content).toHaveLength(5);
    const streamed = await post(episode, ask('go', { stream: true, stream_options: { include_usage: true } }));
    expect(JSON.parse(events(streamed.text).at(-2) as string).usage.completion_tokens).toBe(5);
  });

  it('writes the record before the reply ends, in a stream before its finish chunk', async () => {
    sink.delay = 150;
    const episode = open();
    await post(episode);
    expect(sink.calls).toHaveLength(1);
    const response = await fetch(`${episode.baseUrl}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(ask('go', { stream: true })),
    });
    let text = '';
    for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(part).toString();
      if (text.includes('"finish_reason":"stop"') || text.includes('[DONE]')) expect(sink.calls).toHaveLength(2);
      else if (text.includes('"content":"o"')) expect(sink.calls).toHaveLength(1);
    }
    expect(text).toContain('[DONE]');
  });

  it('answers 503 and counts a lost call when the record cannot be written', async () => {
    sink.full = /calls/;
    const episode = open();
    const whole = await post(episode);
    expect([whole.status, errorOf(whole).code]).toEqual([503, 'recording_failed']);
    expect(whole.text).not.toContain('hello');
    const streamed = await post(episode, ask('go', { stream: true }));
    expect(events(streamed.text).at(-1)).toContain('recording_failed');
    expect(streamed.text).not.toContain('[DONE]');
    expect(episode.lostCalls).toBe(2);
    expect(episode.calls).toEqual([]);
  });

  it('stamps the version at dispatch and refuses a reply of another one', async () => {
    server.turns = [
      { content: 'a', policyVersion: 3 },
      { content: 'b', policyVersion: 4 },
    ];
    const episode = open();
    expect((await post(episode)).status).toBe(200);
    const other = await post(episode);
    expect(other.status).toBe(502);
    expect(sink.calls[1]).toMatchObject({ policyVersion: 3, status: 'upstream-error', response: { content: 'b' } });
    expect(sink.calls[1].error).toContain('sent to version 3, answered by version 4');
    const streamed = await post(episode, ask('x', { stream: true }));
    expect(streamed.status).toBe(502);
  });

  it('lets the request keep any field and any unicode', async () => {
    const episode = open();
    const text = 'ключ 🤖 \u0000 \ud83d';
    await post(episode, ask(text, { chat_template_kwargs: { thinking: true }, response_format: null }));
    expect(sink.calls[0].request.other).toMatchObject({
      chat_template_kwargs: { thinking: true },
      response_format: null,
    });
    expect(JSON.stringify(server.requests[0].body.messages)).toBe(JSON.stringify(ask(text).messages));
  });
});

type Raw = NonNullable<Turn['raw']>;
const answer =
  (status: number, body: string, headers: Record<string, string> = {}): Raw =>
  (response) => {
    response.writeHead(status, headers);
    response.end(body);
  };
const sse = { 'content-type': 'text/event-stream' };
const first = 'data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}\n\n';

describe('upstream failures are recorded and answered in the OpenAI shape', () => {
  const faults: [string, Raw, { stream?: boolean; passed: number; says: RegExp }][] = [
    ['500 with text', answer(500, 'boom'), { passed: 500, says: /HTTP 500: boom/ }],
    ['503 OpenAI-shaped', answer(503, '{"error":{"message":"busy"}}'), { passed: 503, says: /busy/ }],
    ['429', answer(429, '{"error":{"message":"slow down","code":"rate"}}'), { passed: 429, says: /slow down/ }],
    ['400', answer(400, '{"object":"error","message":"bad tool"}'), { passed: 400, says: /bad tool/ }],
    ['a redirect', answer(302, '', { location: '/x' }), { passed: 502, says: /HTTP 302/ }],
    ['garbage', answer(200, '<html>'), { passed: 502, says: /not JSON/ }],
    ['empty body', answer(200, ''), { passed: 502, says: /not JSON/ }],
    ['half a JSON', answer(200, '{"choices":[{"index":0,'), { passed: 502, says: /not JSON/ }],
    ['no choices', answer(200, '{"choices":[]}'), { passed: 502, says: /no choices/ }],
    ['a JSON null', answer(200, 'null'), { passed: 502, says: /no choices/ }],
    [
      'a reset in mid-body',
      (response) => {
        response.writeHead(200, { 'content-length': 1000 });
        response.write('{"choices"');
        setTimeout(() => response.destroy(), 20);
      },
      { passed: 502, says: /aborted|hang up|ECONNRESET/ },
    ],
    ['a reset at once', (response) => response.destroy(), { passed: 502, says: /hang up|ECONNRESET/ }],
    ['JSON to a stream', answer(200, '{}'), { stream: true, passed: 502, says: /streamed reply was asked/ }],
    ['an empty stream', answer(200, '', sse), { stream: true, passed: 502, says: /broke off/ }],
    ['500 to a stream', answer(500, 'boom', sse), { stream: true, passed: 500, says: /boom/ }],
    ['a stream cut short', answer(200, first, sse), { stream: true, passed: 200, says: /broke off/ }],
    [
      'a stream without finish',
      answer(200, `${first}data: [DONE]\n\n`, sse),
      { stream: true, passed: 200, says: /finish/ },
    ],
    [
      'garbage in a stream',
      answer(200, `${first}data: {"cho\n\n`, sse),
      { stream: true, passed: 200, says: /not JSON/ },
    ],
    [
      'an error event',
      answer(200, `${first}data: {"error":{"message":"out of memory"}}\n\n`, sse),
      { stream: true, passed: 200, says: /out of memory/ },
    ],
    [
      'a stream reset',
      (response) => {
        response.writeHead(200, sse);
        response.write(first);
        setTimeout(() => response.destroy(), 20);
      },
      { stream: true, passed: 200, says: /aborted|hang up|ECONNRESET/ },
    ],
  ];

  it.each(faults)('%s', async (_, raw, { stream, passed, says }) => {
    server.turns = [{ raw }];
    for (const manner of ['pass', 'fail-fast'] as const) {
      sink.calls.length = 0;
      const episode = open({ onUpstreamFailure: manner });
      const reply = await post(episode, ask('go', stream ? { stream: true } : {}));
      expect(sink.calls).toHaveLength(1);
      expect(sink.calls[0]).toMatchObject({ turn: 0, status: 'upstream-error', retryOf: null });
      expect(sink.calls[0].error).toMatch(says);
      expect(episode.inFlight).toBe(0);
      if (passed === 200) {
        expect(reply.status).toBe(200);
        expect(JSON.parse(events(reply.text).at(-1) as string).error.message).toMatch(says);
        expect(reply.text).not.toContain('[DONE]');
        continue;
      }
      expect(reply.status).toBe(manner === 'pass' ? passed : 424);
      expect(errorOf(reply).message).toMatch(says.source.startsWith('HTTP') ? /boom|302/ : says);
      expect(reply.headers.get('x-should-retry')).toBe(manner === 'pass' ? null : 'false');
    }
  });

  it('a refused connection', async () => {
    const episode = open({}, 'http://127.0.0.1:9');
    const reply = await post(episode);
    expect(reply.status).toBe(502);
    expect(errorOf(reply)).toMatchObject({ code: 'upstream_failed' });
    expect(sink.calls[0].error).toContain('ECONNREFUSED');
  });

  it('a prompt beyond the context is a limit of ours, not a failure', async () => {
    const body = '{"error":{"message":"This model\'s maximum context length is 2048 tokens","code":400}}';
    server.turns = [{ raw: answer(400, body) }];
    const episode = open({ onUpstreamFailure: 'fail-fast' });
    const reply = await post(episode);
    expect(reply.status).toBe(400);
    expect(reply.text).toBe(body);
    expect(sink.calls[0].status).toBe('limit');
    expect(episode.contextLimitReached).toBe(true);
  });

  it('a kept-alive socket that the server has closed is not one', async () => {
    const episode = open();
    await post(episode);
    await sleep(50);
    // The server drops idle sockets as it restarts on the same port.
    const { port } = new URL(server.url);
    await server.close();
    const again = http.createServer((_request, response) =>
      response.end('{"choices":[{"index":0,"message":{"content":"back"},"finish_reason":"stop"}]}'),
    );
    await new Promise<void>((resolve) => again.listen(Number(port), '127.0.0.1', resolve));
    expect((await post(episode)).status).toBe(200);
    again.close();
    again.closeAllConnections();
  });
});

describe('repeated requests', () => {
  const retry = { 'x-stainless-retry-count': '1' };

  it('two identical unmarked requests are two turns', async () => {
    const episode = open();
    await post(episode);
    await post(episode, ask(), { 'x-stainless-retry-count': '0' });
    expect(sink.calls.map((call) => call.turn)).toEqual([0, 1]);
  });

  it.each([
    ['a whole reply', {}],
    ['a stream', { stream: true }],
  ])('a marked repeat gets the recorded reply: %s', async (_, more) => {
    const episode = open();
    const one = await post(episode, ask('go', more));
    const two = await post(episode, ask('go', more), retry);
    expect(two.text).toBe(one.text);
    expect(server.requests).toHaveLength(1);
    expect(sink.calls).toHaveLength(1);
  });

  it('a marked repeat waits for the call in flight', async () => {
    server.turns = [{ content: 'slow', delay: 500 }];
    const episode = open();
    const one = post(episode);
    await expect.poll(() => server.requests.length).toBe(1);
    const two = post(episode, ask(), retry);
    expect((await two).text).toBe((await one).text);
    expect(server.requests).toHaveLength(1);
  });

  it('an idempotency key is a mark; with another body it names another request', async () => {
    const episode = open();
    const headers = { 'idempotency-key': 'k1' };
    await post(episode, ask('a'), headers);
    await post(episode, ask('a'), headers);
    await post(episode, ask('b'), headers);
    expect(sink.calls.map((call) => call.turn)).toEqual([0, 1]);
  });

  it('a marked repeat of a failed call goes upstream anew under the same turn', async () => {
    server.turns = [{ raw: answer(500, 'no') }, { raw: answer(500, 'no') }, { content: 'yes' }];
    const episode = open({ turns: 1 });
    expect((await post(episode)).status).toBe(500);
    expect((await post(episode, ask(), retry)).status).toBe(500);
    expect((await post(episode, ask(), { 'x-stainless-retry-count': '2' })).status).toBe(200);
    expect(sink.calls.map(({ id, turn, retryOf, status }) => [id, turn, retryOf, status])).toEqual([
      [`${episode.id}.c0`, 0, null, 'upstream-error'],
      [`${episode.id}.c0r1`, 0, `${episode.id}.c0`, 'upstream-error'],
      [`${episode.id}.c0r2`, 0, `${episode.id}.c0r1`, 'complete'],
    ]);
  });

  it('a client that hangs up and asks again keeps its turn', async () => {
    server.turns = [{ content: 'slow', delay: 60_000 }, { content: 'fast' }];
    const episode = open();
    const hangUp = new AbortController();
    const one = post(episode, ask(), {}, hangUp.signal).catch((error) => error.name);
    await expect.poll(() => server.requests.length).toBe(1);
    hangUp.abort();
    expect(await one).toBe('AbortError');
    await expect.poll(() => sink.calls.length).toBe(1);
    const two = await post(episode, ask(), retry);
    expect(two.json).toMatchObject({ choices: [{ message: { content: 'fast' } }] });
    expect(sink.calls.map(({ turn, status, retryOf }) => [turn, status, retryOf])).toEqual([
      [0, 'aborted', null],
      [0, 'complete', `${episode.id}.c0`],
    ]);
  });

  it('a call goes on as long as one client waits for it', async () => {
    server.turns = [{ content: 'slow', delay: 1000 }];
    const episode = open();
    const hangUp = new AbortController();
    const one = post(episode, ask(), {}, hangUp.signal).catch(() => undefined);
    await expect.poll(() => server.requests.length).toBe(1);
    const two = post(episode, ask(), retry);
    await sleep(50);
    hangUp.abort();
    await one;
    expect((await two).status).toBe(200);
    expect(sink.calls).toMatchObject([{ status: 'complete' }]);
  });
});

describe('order, limits and ends', () => {
  it('gives concurrent calls turns in arrival order', async () => {
    let finish = () => {};
    const slow = (response: http.ServerResponse) => {
      const message = { role: 'assistant', content: 'slow' };
      finish = () => response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
    };
    server.turns = [{ raw: slow }, { content: 'fast' }];
    const episode = open();
    const one = post(episode, ask('one'));
    await expect.poll(() => server.requests.length).toBe(1);
    expect(episode.inFlight).toBe(1);
    await post(episode, ask('two'));
    finish();
    await one;
    expect(sink.calls.map((call) => [call.turn, call.response?.content])).toEqual([
      [1, 'fast'],
      [0, 'slow'],
    ]);
    expect(episode.calls.map((call) => call.turn)).toEqual([0, 1]);
  });

  it('refuses calls beyond the turn limit and records nothing of them', async () => {
    const episode = open({ turns: 2 });
    let changes = 0;
    episode.onChange = () => changes++;
    await post(episode);
    await post(episode);
    expect(episode.turnLimitReached).toBe(false);
    const third = await post(episode);
    expect([third.status, errorOf(third).code]).toEqual([400, 'turn_limit']);
    expect(episode.turnLimitReached).toBe(true);
    expect(changes).toBe(3);
    expect(sink.calls).toHaveLength(2);
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ['limit', 'limit'],
    ['cancelled', 'aborted'],
    ['done', 'aborted'],
  ] as const)('closing for %s records calls in flight as %s; then the key is dead', async (reason, status) => {
    // Neither ends by itself; the stream has begun to answer.
    server.turns = [{ content: 'abc'.repeat(10_000), delay: 80 }, { raw: () => {} }];
    const episode = open();
    const response = await fetch(`${episode.baseUrl}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(ask('s', { stream: true })),
    });
    const streamed = response.text();
    const whole = post(episode);
    await expect.poll(() => server.requests.length).toBe(2);
    const before = server.requests.length;
    await episode.close(reason);
    expect(sink.calls.map((call) => call.status)).toEqual([status, status]);
    expect((await whole).status).toBe(409);
    expect(events(await streamed).at(-1)).toContain('episode_closed');
    const late = await post(episode);
    expect([late.status, errorOf(late).code]).toEqual([409, 'episode_closed']);
    expect(server.requests).toHaveLength(before);
    expect(sink.calls).toHaveLength(2);
    await expect.poll(() => server.requests.every((request) => request.aborted)).toBe(true);
  });

  it('a client that hangs up in mid-stream: the upstream is let go, what came is recorded', async () => {
    server.turns = [{ content: 'abcdefgh'.repeat(1000), delay: 40 }];
    const episode = open();
    const hangUp = new AbortController();
    const response = await fetch(`${episode.baseUrl}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(ask('go', { stream: true })),
      signal: hangUp.signal,
    });
    expect(response.status).toBe(200);
    await sleep(100);
    hangUp.abort();
    await expect.poll(() => sink.calls.length).toBe(1);
    expect(sink.calls[0]).toMatchObject({ status: 'aborted', finishReason: null });
    expect('abcdefgh'.repeat(1000).startsWith(sink.calls[0].response?.content ?? '?')).toBe(true);
    await expect.poll(() => server.requests[0].aborted).toBe(true);
  });

  it('keeps two episodes apart', async () => {
    const other = await WatchedSection.create();
    const a = open();
    const b = open({ sink: other });
    await Promise.all([post(a, ask('a')), post(b, ask('b')), post(a, ask('a2'))]);
    expect(sink.calls.map((call) => call.episode)).toEqual([a.id, a.id]);
    expect(other.calls.map((call) => call.turn)).toEqual([0]);
    await b.close('done');
    await other.remove();
  });
});

describe('the door', () => {
  const send = (
    path: string,
    headers: Record<string, string> = {},
    body: string | Buffer = JSON.stringify(ask()),
    method = 'POST',
  ) =>
    new Promise<{ status: number; json: unknown; text: string }>((resolve, reject) => {
      const request = http.request(`${proxy.url}${path}`, { method, headers }, (response) => {
        let text = '';
        response.on('data', (part) => {
          text += part;
        });
        response.on('end', () => {
          let json: unknown;
          try {
            json = JSON.parse(text);
          } catch {}
          resolve({ status: response.statusCode ?? 0, json, text });
        });
      });
      request.on('error', reject);
      request.end(body);
    });

  it('takes the key as bearer token as well, and lists the model', async () => {
    const episode = open();
    const headers = { authorization: `Bearer ${episode.key}` };
    expect((await send('/v1/chat/completions', headers)).status).toBe(200);
    const models = await send('/v1/models', headers, '', 'GET');
    expect(models.json).toMatchObject({ object: 'list', data: [{ id: 'planner' }] });
    expect((await send(`/e/${episode.key}/v1/models`, {}, '', 'GET')).status).toBe(200);
  });

  it('refuses what it does not serve, in the OpenAI shape, and records nothing', async () => {
    const episode = open();
    const path = `/e/${episode.key}/v1/chat/completions`;
    const cases: [string, Promise<{ status: number; json: unknown }>, number][] = [
      ['no key', send('/v1/chat/completions'), 401],
      ['a wrong key', send('/e/abc/v1/chat/completions'), 401],
      ['a wrong bearer', send('/v1/chat/completions', { authorization: 'Bearer x' }), 401],
      ['a foreign host', send(path, { host: 'evil.example' }), 403],
      ['another surface', send(`/e/${episode.key}/v1/embeddings`), 404],
      ['GET', send(path, {}, '', 'GET'), 405],
      ['no JSON', send(path, {}, '{"messages": ['), 400],
      ['bytes that are no UTF-8', send(path, {}, Buffer.from([0x22, 0xff, 0x22])), 400],
      ['no messages', send(path, {}, '{}'), 400],
      ['an unknown role', send(path, {}, '{"messages":[{"role":"robot","content":"x"}]}'), 400],
      ['two choices', send(path, {}, JSON.stringify(ask('x', { n: 2 }))), 400],
      ['gzip', send(path, { 'content-encoding': 'gzip' }), 415],
    ];
    for (const [name, sent, status] of cases) {
      const reply = await sent;
      expect(reply.status, name).toBe(status);
      expect(errorOf(reply).message, name).toBeTypeOf('string');
      expect(JSON.stringify(reply.json), name).not.toContain(episode.key);
    }
    expect(sink.calls).toEqual([]);
    expect(server.requests).toEqual([]);
    expect((await post(episode)).status).toBe(200);
    expect(sink.calls[0].turn).toBe(0);
  });

  it('caps the body, whether its length is told or not', async () => {
    const small = await startProxy({ bodyLimit: 1000 });
    const episode = small.openEpisode({ ...(open() as unknown as { opening: EpisodeOpening }).opening, id: 'cap' });
    const big = JSON.stringify(ask('x'.repeat(5000)));
    const told = await fetch(`${episode.baseUrl}/chat/completions`, { method: 'POST', body: big });
    expect(told.status).toBe(413);
    const stream = new Blob([big]).stream();
    const untold = await fetch(`${episode.baseUrl}/chat/completions`, {
      method: 'POST',
      body: stream,
      duplex: 'half',
    } as RequestInit);
    expect(untold.status).toBe(413);
    await small.close();
  });

  it('needs distinct episodes, a free port and a server that can sample as asked', async () => {
    const episode = open();
    expect(() => open({ id: episode.id })).toThrow('open already');
    const { port } = new URL(proxy.url);
    await expect(startProxy({ port: Number(port) })).rejects.toThrow('cannot listen');
    const openai = createUpstream({ kind: 'openai', url: server.url, model: 'm', policyVersion: () => null });
    expect(() =>
      open({ upstream: openai, sampling: { temperature: 1, topP: 1, topK: 20, presencePenalty: 0 } }),
    ).toThrow('top_k');
  });
});
