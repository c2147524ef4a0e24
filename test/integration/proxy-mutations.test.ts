/** 2,000 mutated requests and replies: no crash, every reply in shape, every record in its schema, no gap in turns. */
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { Random } from '../../protocol/random.ts';
import { callSchema } from '../../protocol/records.ts';
import { createUpstream } from '../../trainer-daemon/proxy/index.ts';
import { startProxy } from '../../trainer-daemon/proxy/server.ts';
import { mutations } from '../doubles/mutations.ts';
import { startVllmServer, streamChunks } from '../doubles/vllm-server.ts';
import { WatchedSection } from '../doubles/watched-section.ts';

const random = new Random('proxy mutations');
const { mutate, spoil } = mutations(random);

it('2,000 mutated requests and replies', async () => {
  const sink = await WatchedSection.create();
  const proxy = await startProxy();
  const server = await startVllmServer();
  const episode = proxy.openEpisode({
    id: 'mutated',
    role: 'rollout',
    upstream: createUpstream({ kind: 'vllm', url: server.url, model: 'm', policyVersion: () => 0 }),
    sampling: { temperature: 1, topP: 1, topK: -1, presencePenalty: 0 },
    responseTokens: 64,
    turns: 1_000_000,
    sink,
    onUpstreamFailure: 'pass',
  });
  const turn = {
    content: 'hey',
    reasoning: 'r',
    toolCalls: [{ id: 'a', name: 'f', arguments: '{"x":1}' }],
    policyVersion: 0,
  };
  const statuses = new Map<number, number>();
  for (let i = 0; i < 2000; i++) {
    const stream = i % 2 === 1;
    const request = {
      model: 'm',
      messages: [
        { role: 'system', content: 's' },
        { role: 'user', content: [{ type: 'text', text: 'go' }] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'ok' },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: {} } }],
      temperature: 0.5,
      stream_options: { include_usage: i % 3 === 0 },
      ...(stream ? { stream: true } : {}),
    };
    let body = JSON.stringify(i % 4 < 2 ? mutate(request, 1 + random.int(3)) : request);
    if (i % 40 === 0) body = spoil(body);
    const times = i % 4 === 0 ? 0 : 1 + random.int(3);
    server.turns = [
      { ...turn, mutate: (reply) => mutate(reply, times), mutateChunks: (chunks) => mutate(chunks, times) },
    ];
    if (i % 10 === 3)
      server.turns = [
        {
          raw: (response: ServerResponse) => {
            response.writeHead(200, { 'content-type': 'text/event-stream' });
            const chunks = streamChunks({ messages: [], return_token_ids: true, logprobs: true }, turn);
            response.end(spoil(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')));
          },
        },
      ];
    const before = sink.calls.length;
    const response = await fetch(`${episode.baseUrl}/chat/completions`, { method: 'POST', body });
    const text = await response.text();
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    expect([200, 400, 502]).toContain(response.status);
    if (response.headers.get('content-type')?.includes('event-stream')) {
      const data = text.split('\n\n').filter(Boolean);
      for (const each of data) {
        expect(each.startsWith('data: ')).toBe(true);
        if (each !== 'data: [DONE]') JSON.parse(each.slice(6));
      }
      const failed = sink.calls.at(-1)?.status !== 'complete';
      expect(data.at(-1) === 'data: [DONE]').toBe(!failed);
    } else {
      JSON.parse(text);
    }
    expect(sink.calls.length - before).toBe(response.status === 400 ? 0 : 1);
  }
  sink.calls.forEach((call, i) => {
    const { promptTokenIds: _, ...rest } = call;
    const stored = {
      ...rest,
      version: 1,
      request: { messages: [], tools: null, other: call.request.other },
      prompt: null,
    };
    const checked = callSchema.safeParse(JSON.parse(JSON.stringify(stored)));
    expect(checked.error?.message).toBeUndefined();
    expect(call.turn).toBe(i);
  });
  expect(episode.lostCalls).toBe(0);
  expect(episode.inFlight).toBe(0);
  // All three kinds of ending were met, or the mutations prove nothing.
  expect([...statuses.keys()].sort()).toEqual([200, 400, 502]);
  await proxy.close();
  await server.close();
  await sink.remove();
}, 60_000);
