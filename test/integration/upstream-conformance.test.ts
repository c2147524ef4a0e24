/**
 * Every kind of upstream, in the wire shapes of several versions, behind the real proxy: what is recorded is held against
 * the letter model's own arithmetic. Each bug known from other recording proxies is a test here.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ResolvedCall } from '../../protocol/records.ts';
import { CompletionCollector } from '../../trainer-daemon/proxy/completion.ts';
import type { ProxyEpisode, RecordingProxy } from '../../trainer-daemon/proxy/contract.ts';
import { EventStreamReader } from '../../trainer-daemon/proxy/event-stream.ts';
import { createUpstream, detectUpstream, startProxy } from '../../trainer-daemon/proxy/index.ts';
import type { UpstreamKind } from '../../trainer-daemon/proxy/upstreams/index.ts';
import { WatchedSection } from '../doubles/watched-section.ts';
import { encode, generate, render } from '../doubles/wire/letter-model.ts';
import { startLlamacpp } from '../doubles/wire/llamacpp.ts';
import { startSglang } from '../doubles/wire/sglang.ts';
import { startVllm } from '../doubles/wire/vllm.ts';
import type { Script, WireOptions, WireServer } from '../doubles/wire/wire-server.ts';

const START = { vllm: startVllm, sglang: startSglang, llamacpp: startLlamacpp, openai: startVllm };
type Kind = keyof typeof START;

let proxy: RecordingProxy;
const cleanUp: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  proxy = await startProxy();
});
afterAll(() => proxy?.close());
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

const SCRIPT: Script = {
  reasoning: 'near the plate',
  content: 'I pick it.',
  toolCalls: [{ id: 'c1', name: 'pick', arguments: '{"name":"red cup"}' }],
};
const SCRIPTED = 'near the plateI pick it.{"name":"red cup"}';
const TOOLS = [{ type: 'function', function: { name: 'pick', parameters: { type: 'object' } } }];

interface Setting {
  server: WireServer;
  episode: ProxyEpisode;
  sink: WatchedSection;
  ask(more?: Record<string, unknown>): Promise<{ status: number; text: string }>;
}

let count = 0;
async function setUp(
  kind: Kind,
  options: Partial<WireOptions> = {},
  policyVersion: number | null = 7,
): Promise<Setting> {
  const server = await START[kind]({ script: SCRIPT, ...options });
  const sink = await WatchedSection.create();
  const episode = proxy.openEpisode({
    id: `0badcafe.r1.suite-0.i${count++}.a0.0`,
    role: 'rollout',
    upstream: createUpstream({
      kind: kind as UpstreamKind,
      url: server.url,
      model: 'planner',
      policyVersion: () => policyVersion,
    }),
    sampling: { temperature: 0.5, topP: 1, topK: -1, presencePenalty: 0 },
    responseTokens: 200,
    turns: 1000,
    sink,
    onUpstreamFailure: 'pass',
  });
  cleanUp.push(
    () => server.close(),
    () => sink.remove(),
    () => episode.close('done'),
  );
  return {
    server,
    episode,
    sink,
    async ask(more = {}) {
      const response = await fetch(`${episode.baseUrl}/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ model: 'x', messages: [{ role: 'user', content: 'go' }], tools: TOOLS, ...more }),
      });
      return { status: response.status, text: await response.text() };
    },
  };
}

const chatBody = (server: WireServer) =>
  server.requests.findLast(({ path }) => path === '/v1/chat/completions')?.body as Record<string, unknown>;

/** Token ids and log-probs are the model's own under the sampling that was sent. */
function expectTruth(call: ResolvedCall, server: WireServer): void {
  const body = chatBody(server);
  const prompt = encode(render(body));
  const tokens = generate(prompt, 200, { temperature: 0.5 }, { script: SCRIPTED });
  expect(call).toMatchObject({
    status: 'complete',
    error: null,
    promptTokenIds: prompt,
    responseTokenIds: tokens.map(({ id }) => id),
    response: { content: SCRIPT.content, reasoning: SCRIPT.reasoning },
    finishReason: 'tool_calls',
    policyVersion: 7,
  });
  expect(call.untrainable).toBeUndefined();
  expect(call.logprobs).toHaveLength(tokens.length);
  call.logprobs?.forEach((logprob, i) => {
    expect(logprob).toBeCloseTo(tokens[i].logprob, 9);
  });
  expect(call.response?.toolCalls).toMatchObject([
    { id: 'c1', type: 'function', function: { name: 'pick', arguments: '{"name":"red cup"}' } },
  ]);
}

const datas = (text: string) =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice(6));

describe.each([
  ['vllm', '0.11.0'],
  ['vllm', '0.13.0'],
  ['sglang', '0.6.0'],
  ['llamacpp', 'b6500'],
] as [Kind, string][])('%s %s', (kind, version) => {
  it.each([false, true])('records ids and log-probs of the sampled distribution (streamed: %s)', async (stream) => {
    const { ask, sink, server } = await setUp(kind, { version, weightVersion: 7 });
    const reply = await ask(stream ? { stream: true } : {});
    expect(reply.status).toBe(200);
    expectTruth(sink.calls[0], server);
    expect(sink.calls[0].usage).toMatchObject({ completion_tokens: SCRIPTED.length + 1 });
  });

  it('gives the harness the same reply streamed and whole, without what only the proxy asked for', async () => {
    const { ask } = await setUp(kind, { version, weightVersion: 7 });
    const whole = JSON.parse((await ask()).text).choices[0];
    const events = datas((await ask({ stream: true })).text);
    expect(events.pop()).toBe('[DONE]');
    const chunks = events.map((event) => JSON.parse(event));
    const join = (name: string) => chunks.map((chunk) => chunk.choices[0].delta[name] ?? '').join('');
    expect(join('content')).toBe(whole.message.content);
    expect(join('reasoning_content') + join('reasoning')).toBe(SCRIPT.reasoning);
    const calls = chunks.flatMap((chunk) => chunk.choices[0].delta.tool_calls ?? []);
    expect(calls.map((call) => call.function.arguments).join('')).toBe('{"name":"red cup"}');
    expect(calls[0]).toMatchObject({ index: 0, id: 'c1', function: { name: 'pick' } });
    expect(chunks.at(-1).choices[0].finish_reason).toBe('tool_calls');
    for (const part of [JSON.stringify(whole), JSON.stringify(chunks)])
      expect(part).not.toMatch(/token_ids|meta_info|prompt_logprobs":\[|token_id:|"prob"/);
  });

  it('reads a stream that comes byte by byte', async () => {
    const { ask, sink, server } = await setUp(kind, { version, weightVersion: 7, pieces: 1 });
    // Without tools llama.cpp streams as well.
    await ask({ stream: true, tools: undefined });
    expectTruth(sink.calls[0], server);
  });

  it('keeps two requests with identical prompt ids as two calls', async () => {
    const { ask, sink } = await setUp(kind, { version, weightVersion: 7 });
    await ask();
    await ask();
    expect(sink.calls.map(({ turn }) => turn)).toEqual([0, 1]);
    expect(sink.calls[0].promptTokenIds).toEqual(sink.calls[1].promptTokenIds);
  });

  it('keeps tools of every type and images on the way up and in the record', async () => {
    const { ask, sink, server } = await setUp(kind, { version, weightVersion: 7 });
    const tools = [...TOOLS, { type: 'web_search', options: { depth: 2 } }];
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } };
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'look' }, image] }];
    await ask({ tools, messages });
    expect(chatBody(server)).toMatchObject({ tools, messages });
    expect(sink.calls[0].request).toMatchObject({ tools, messages });
  });

  it('never asks with top_logprobs null, and asks for the neutral sampling', async () => {
    const { ask, server } = await setUp(kind, { version, weightVersion: 7 });
    await ask({ top_logprobs: null, logprobs: null, min_p: 0.4, repetition_penalty: 1.3, repeat_penalty: 1.3 });
    const body = chatBody(server);
    expect(body).toMatchObject({ logprobs: true, min_p: 0, temperature: 0.5 });
    expect(body.top_logprobs).toBe(kind === 'llamacpp' ? 1 : 0);
    expect([body.repetition_penalty ?? 1, body.repeat_penalty ?? 1]).toEqual([1, 1]);
  });
});

describe('what may not be trained on is marked with the reason, and nothing is filled in', () => {
  const cases: [string, Kind, Partial<WireOptions>, RegExp][] = [
    ['vLLM 0.8 tells no prompt ids', 'vllm', { version: '0.8.5' }, /no prompt token ids/],
    ['a vLLM without ids', 'vllm', { lies: { noIds: true } }, /no prompt token ids/],
    ['a vLLM without log-probs', 'vllm', { lies: { noLogprobs: true } }, /no log-probs came/],
    ['the floor of -9999', 'vllm', { lies: { floorAt: 2 } }, /token 2 has the log-prob -9999, which stands for none/],
    ['SGLang 0.4', 'sglang', { version: '0.4.9' }, /no prompt token ids/],
    ['SGLang 0.5 tells no prompt ids', 'sglang', { version: '0.5.4' }, /no prompt token ids/],
    ['the floor of SGLang', 'sglang', { version: '0.6.0', lies: { floorAt: 0 } }, /stands for none/],
    ['an old llama.cpp', 'llamacpp', { version: 'b4000' }, /no response token ids/],
    ['a probability of 0 from llama.cpp', 'llamacpp', { lies: { floorAt: 1 } }, /the log-probs of 1 of \d+ tokens/],
    ['the lowest float of llama.cpp', 'llamacpp', { lies: { floorAt: 1, raw: true } }, /-3.4.*stands for none/],
    ['a llama.cpp without probabilities', 'llamacpp', { lies: { noLogprobs: true } }, /no response token ids/],
    ['a plain API', 'openai', {}, /tells no token ids: the call can be read and taught from only/],
  ];
  it.each(cases)('%s', async (_, kind, options, reason) => {
    for (const stream of [false, true]) {
      const { ask, sink, episode } = await setUp(kind, { weightVersion: 7, ...options });
      expect((await ask(stream ? { stream, tools: undefined } : {})).status).toBe(200);
      expect(sink.calls[0]).toMatchObject({ status: 'complete', response: { content: SCRIPT.content } });
      expect(sink.calls[0].untrainable).toMatch(reason);
      expect(sink.calls[0].logprobs ?? []).not.toContain(0);
      expect(episode.untrainable).toMatch(reason);
    }
  });

  it('vLLM 0.8 tells the response ids in the log-probs', async () => {
    const { ask, sink } = await setUp('vllm', { version: '0.8.5' });
    await ask();
    expect(sink.calls[0].responseTokenIds).toEqual([...encode(SCRIPTED), 3]);
  });

  it('SGLang 0.5 tells the response ids in meta_info', async () => {
    const { ask, sink } = await setUp('sglang', { version: '0.5.4' });
    await ask();
    expect(sink.calls[0].responseTokenIds).toEqual([...encode(SCRIPTED), 3]);
    expect(sink.calls[0].logprobs).toHaveLength(SCRIPTED.length + 1);
  });

  it('a stream without its usage chunk is whole all the same', async () => {
    for (const kind of ['vllm', 'llamacpp'] as const) {
      const { ask, sink, server } = await setUp(kind, { lies: { noUsageChunk: true } });
      await ask({ stream: true, tools: undefined });
      expectTruth(sink.calls[0], server);
      expect(sink.calls[0].usage).toBeNull();
    }
  });
});

it.each(['vllm', 'sglang', 'llamacpp'] as const)('a stream of %s cut at every byte reads the same', async (kind) => {
  const script = { reasoning: 'hm', content: 'größe 🤖\u2028', toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] };
  const server = await START[kind]({ script });
  cleanUp.push(() => server.close());
  const { client } = createUpstream({ kind, url: server.url, model: 'm', policyVersion: () => null });
  const messages = [{ role: 'user', content: 'go' }];
  const capture = client.capture(undefined);
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({
      messages,
      stream: true,
      max_tokens: 100,
      stream_options: { include_usage: true },
      ...capture,
    }),
  });
  // Both kinds of line ends are allowed in event streams.
  const bytes = Buffer.from((await response.text()).replace('\n\ndata', '\r\n\r\ndata'));
  const read = (...parts: Buffer[]) => {
    const reader = new EventStreamReader();
    const collector = new CompletionCollector(client);
    for (const part of parts)
      for (const data of reader.push(part)) if (data !== '[DONE]') collector.addChunk(JSON.parse(data));
    return collector.completion();
  };
  const whole = read(bytes);
  expect(whole.response).toMatchObject({ reasoning: 'hm', content: script.content });
  for (let cut = 1; cut < bytes.length; cut++)
    expect(read(bytes.subarray(0, cut), bytes.subarray(cut)), `cut at ${cut}`).toEqual(whole);
});

describe('versions', () => {
  it.each([false, true])(
    'SGLang tells its own: another than at dispatch fails the call (streamed: %s)',
    async (stream) => {
      const { ask, sink, server } = await setUp('sglang', { version: '0.6.0', weightVersion: '7' });
      expect((await ask({ stream })).status).toBe(200);
      server.options.weightVersion = '8';
      expect((await ask({ stream })).status).toBe(502);
      expect(sink.calls[1]).toMatchObject({ status: 'upstream-error', policyVersion: 7 });
      expect(sink.calls[1].error).toContain('sent to version 7, answered by version 8');
    },
  );

  it('a name such as "default" is no version', async () => {
    const { ask, sink } = await setUp('sglang', { version: '0.6.0', weightVersion: 'default' });
    await ask();
    expect(sink.calls[0]).toMatchObject({ status: 'complete', policyVersion: 7 });
  });
});

describe('finding out what a server is', () => {
  it.each([
    ['vllm', '0.11.0'],
    ['sglang', '0.5.4'],
    ['llamacpp', 'b6500'],
  ] as [Kind, string][])('%s', async (kind, version) => {
    const server = await START[kind]({ version, model: 'small', apiKey: 'k' });
    cleanUp.push(() => server.close());
    expect(await detectUpstream(server.url, 'k')).toMatchObject({
      kind,
      version,
      models: ['small'],
      vocabulary: kind === 'llamacpp' ? 300 : null,
    });
    await expect(detectUpstream(server.url, null)).rejects.toThrow('answered HTTP 401');
  });

  it('nothing there', async () => {
    await expect(detectUpstream('http://127.0.0.1:9', null)).rejects.toThrow(/no list of models.*ECONNREFUSED/);
  });
});
