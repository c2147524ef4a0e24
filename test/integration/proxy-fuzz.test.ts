/**
 * Mutated requests and replies of every kind of upstream, seeded (10,000 in `npm run test:full`): no crash, every reply in shape, every record in
 * its schema, exactly one record for each request that went upstream, no gap in turns, nothing of one episode in another.
 */
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Random } from '../../protocol/random.ts';
import { callSchema, type ResolvedCall } from '../../protocol/records.ts';
import type { RecordingProxy } from '../../trainer-daemon/proxy/contract.ts';
import { createUpstream, startProxy, type UpstreamKind } from '../../trainer-daemon/proxy/index.ts';
import { mutations } from '../doubles/mutations.ts';
import { WatchedSection } from '../doubles/watched-section.ts';
import { startLlamacpp } from '../doubles/wire/llamacpp.ts';
import { startSglang } from '../doubles/wire/sglang.ts';
import { startVllm } from '../doubles/wire/vllm.ts';
import { FULL } from '../full.ts';

const CALLS = FULL ? 10_000 : 5000;
const EPISODES = 20;
const KINDS: UpstreamKind[] = ['vllm', 'sglang', 'llamacpp', 'embedded', 'openai'];
/** What one episode's upstream answers next, and how often it was asked. */
interface Upstream {
  asked: number;
  answer(stream: boolean, response: http.ServerResponse): void;
}

let proxy: RecordingProxy;
let server: http.Server;
const upstreams: Upstream[] = [];
beforeAll(async () => {
  proxy = await startProxy();
  server = http.createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const [, number, path] = /^\/(\d+)(\/.*)$/.exec(request.url ?? '') ?? [];
    const text = Buffer.concat(parts).toString();
    if (path === '/apply-template') return response.end('{"prompt":"abc"}');
    if (path === '/tokenize') return response.end('{"tokens":[97,98,99]}');
    const upstream = upstreams[Number(number)];
    upstream.asked++;
    upstream.answer(JSON.parse(text).stream === true, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await proxy?.close();
  server?.closeAllConnections();
  server?.close();
});

/** A well-formed reply of each kind, whole and as the events of a stream, with a word of the episode in it. */
async function shapes(kind: UpstreamKind, word: string): Promise<{ whole: unknown; events: unknown[] }> {
  const start = { sglang: startSglang, llamacpp: startLlamacpp }[kind as string] ?? startVllm;
  const version = kind === 'llamacpp' ? 'b6500' : kind === 'sglang' ? '0.6.0' : '0.13.0';
  const toolCalls = [{ id: 'c1', name: 'pick', arguments: '{}' }];
  const double = await start({ version, weightVersion: 0, script: { reasoning: 'r', content: word, toolCalls } });
  const { client } = createUpstream({ kind, url: double.url, model: 'm', policyVersion: () => 0 });
  const messages = [{ role: 'user', content: 'go' }];
  const body = { model: 'm', messages, max_tokens: 99, ...client.capture(undefined) };
  const post = async (more: object) =>
    (
      await fetch(`${double.url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify({ ...body, ...more }) })
    ).text();
  const whole = JSON.parse(await post({}));
  const text = await post({ stream: true, stream_options: { include_usage: true } });
  await double.close();
  const data = text.split('\n\n').filter((event) => event !== '' && event !== 'data: [DONE]');
  return { whole, events: data.map((event) => JSON.parse(event.slice(6))) };
}

function requestOf(word: string, i: number, random: Random): string {
  const { mutate, spoil } = mutations(random);
  const request = {
    model: 'm',
    messages: [
      { role: 'system', content: 's' },
      { role: 'user', content: [{ type: 'text', text: `${word} ${i}` }] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'ok' },
    ],
    ...(i % 3 === 0 ? { tools: [{ type: 'function', function: { name: 'f', parameters: {} } }] } : {}),
    temperature: 0.5,
    stream_options: { include_usage: i % 3 === 0 },
    ...(i % 2 === 1 ? { stream: true } : {}),
  };
  const body = JSON.stringify(i % 4 < 2 ? mutate(request, 1 + random.int(3)) : request);
  return i % 40 === 0 ? spoil(body) : body;
}

function answerOf(shape: { whole: unknown; events: unknown[] }, i: number, random: Random): Upstream['answer'] {
  const { mutate, spoil } = mutations(random);
  const times = i % 4 === 0 ? 0 : 1 + random.int(3);
  return (stream, response) => {
    if (i % 50 === 7) return response.destroy();
    if (i % 50 === 17) response.statusCode = random.pick([204, 302, 400, 404, 429, 500, 503]);
    const text = stream
      ? `${mutate(shape.events, times)
          .map((event) => `data: ${JSON.stringify(event)}\n\n`)
          .join('')}data: [DONE]\n\n`
      : JSON.stringify(mutate(shape.whole, times));
    response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
    const sent = i % 10 === 3 ? spoil(text) : text;
    if (i % 50 !== 27) response.end(sent);
    else {
      response.write(sent.slice(0, random.int(sent.length)));
      setImmediate(() => response.destroy());
    }
  };
}

function checkReply(status: number, type: string, text: string, last: ResolvedCall | undefined): void {
  if (!type.includes('event-stream')) {
    JSON.parse(text);
    return;
  }
  expect(status).toBe(200);
  const data = text.split('\n\n').filter(Boolean);
  for (const each of data) {
    expect(each.startsWith('data: ')).toBe(true);
    if (each !== 'data: [DONE]') JSON.parse(each.slice(6));
  }
  expect(data.at(-1) === 'data: [DONE]').toBe(last?.status === 'complete');
}

function checkRecord(call: ResolvedCall, turn: number, word: string, others: RegExp): void {
  const { promptTokenIds, ...rest } = call;
  const stored = {
    ...rest,
    version: 1,
    request: { messages: [], tools: null, other: call.request.other },
    prompt: null,
  };
  const checked = callSchema.safeParse(JSON.parse(JSON.stringify(stored)));
  expect(checked.error?.message).toBeUndefined();
  expect(call.turn).toBe(turn);
  expect(JSON.stringify(call), word).not.toMatch(others);
  if (call.status !== 'complete' || call.untrainable !== undefined) return;
  // What may be trained on is whole.
  expect(call.responseTokenIds).not.toBeNull();
  expect(call.logprobs).toHaveLength(call.responseTokenIds?.length ?? -1);
  for (const ids of [promptTokenIds, call.responseTokenIds])
    expect(ids?.every((id) => Number.isSafeInteger(id) && id >= 0)).toBe(true);
  expect(call.logprobs?.every((logprob) => Number.isFinite(logprob) && logprob <= 1e-4)).toBe(true);
}

it(`${CALLS} mutated requests and replies`, async () => {
  const statuses = new Map<number, number>();
  const trainable = { yes: 0, no: 0 };
  const words = Array.from({ length: EPISODES }, (_, e) => `q${String.fromCharCode(97 + e)}7`);
  const play = async (e: number) => {
    const random = new Random('proxy fuzz', e);
    const kind = KINDS[e % KINDS.length];
    const word = words[e];
    const others = new RegExp(words.filter((each) => each !== word).join('|'));
    const shape = await shapes(kind, word);
    const sink = await WatchedSection.create();
    upstreams[e] = { asked: 0, answer: () => {} };
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${e}/v1`;
    const episode = proxy.openEpisode({
      id: `fuzz.${e}`,
      role: 'rollout',
      upstream: createUpstream({ kind, url, model: 'm', policyVersion: () => 0 }),
      sampling: { temperature: 1, topP: 1, topK: -1, presencePenalty: 0 },
      responseTokens: 64,
      turns: 1_000_000,
      sink,
      onUpstreamFailure: e % 2 === 0 ? 'pass' : 'fail-fast',
    });
    for (let i = 0; i < CALLS / EPISODES; i++) {
      upstreams[e].answer = answerOf(shape, i, random);
      const [recorded, asked] = [sink.calls.length, upstreams[e].asked];
      const response = await fetch(`${episode.baseUrl}/chat/completions`, {
        method: 'POST',
        body: requestOf(word, i, random),
      });
      const text = await response.text();
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      checkReply(response.status, response.headers.get('content-type') ?? '', text, sink.calls.at(-1));
      expect(text).not.toMatch(others);
      // A connection that the upstream broke before it answered may be replaced by a fresh one, once.
      expect(sink.calls.length - recorded).toBe(Math.min(1, upstreams[e].asked - asked));
    }
    sink.calls.forEach((call, turn) => {
      checkRecord(call, turn, word, others);
      if (call.status === 'complete') trainable[call.untrainable === undefined ? 'yes' : 'no']++;
    });
    expect([episode.lostCalls, episode.inFlight]).toEqual([0, 0]);
    await episode.close('done');
    await sink.remove();
  };
  await Promise.all(words.map((_, e) => play(e)));
  // Every kind of ending was met, or the mutations prove nothing.
  for (const status of [200, 400, 424, 429, 500, 502])
    expect(statuses.get(status), `status ${status}`).toBeGreaterThan(0);
  expect(trainable.yes).toBeGreaterThan(500);
  expect(trainable.no).toBeGreaterThan(500);
}, 400_000);
