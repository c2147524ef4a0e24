/** Hostile requests and replies in every dialect: no crash, errors and streams in shape, every record in its schema. */
import { describe, expect, it } from 'vitest';
import { Random } from '../../protocol/random.ts';
import { callSchema } from '../../protocol/records.ts';
import type { ProxyEpisode } from '../../trainer-daemon/proxy/contract.ts';
import { mutations } from '../doubles/mutations.ts';
import { DialectBench } from './dialect-bench.ts';

const bench = new DialectBench();
const random = new Random('proxy dialect mutations');
const { mutate, spoil } = mutations(random);

const png = 'iVBORw0KGgo=';
const schema = { type: 'object', properties: { x: { type: 'number' } } };

/** A request of each dialect that uses all it has. */
const REQUESTS = {
  responses: {
    model: 'm',
    instructions: 'be a robot',
    input: [
      { type: 'message', role: 'developer', content: 'quick' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'go' },
          { type: 'input_image', image_url: `data:image/png;base64,${png}` },
        ],
      },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'hm' }],
        content: [{ type: 'reasoning_text', text: 'h' }],
        encrypted_content: 'e',
      },
      {
        type: 'message',
        role: 'assistant',
        id: 'msg_1',
        content: [{ type: 'output_text', text: 'ok', annotations: [] }],
      },
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"x": 1}' },
      { type: 'custom_tool_call', call_id: 'b', name: 'g', input: 'ls' },
      { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'done' }] },
      { type: 'custom_tool_call_output', call_id: 'b', output: 'a.txt' },
    ],
    tools: [{ type: 'function', name: 'f', parameters: schema }, { type: 'custom', name: 'g' }, { type: 'web_search' }],
    tool_choice: 'auto',
    reasoning: { effort: 'low' },
    text: { format: { type: 'text' } },
    include: ['message.output_text.logprobs'],
    max_output_tokens: 20,
  },
  messages: {
    model: 'm',
    max_tokens: 20,
    system: [{ type: 'text', text: 'be a robot', cache_control: { type: 'ephemeral' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'go' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'text', text: 'ok' },
          { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'done' }], is_error: true },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'd' } },
        ],
      },
    ],
    tools: [
      { name: 'f', input_schema: schema },
      { type: 'web_search_20250305', name: 'web_search' },
    ],
    tool_choice: { type: 'tool', name: 'f' },
    thinking: { type: 'enabled', budget_tokens: 1024 },
    stop_sequences: ['#'],
    metadata: { user_id: 'u' },
  },
  completions: { model: 'm', prompt: 'go', logprobs: 1, echo: false, best_of: 1, n: 1, stop: ['#'], max_tokens: 5 },
} as const;
type Surface = keyof typeof REQUESTS;
const surfaces = Object.keys(REQUESTS) as Surface[];

const TURN = {
  content: 'hey',
  reasoning: 'r',
  toolCalls: [
    { id: 'a', name: 'f', arguments: '{"x": 1}' },
    { id: 'b', name: 'g', arguments: '{"input": "ls"}' },
  ],
  policyVersion: 3,
};

async function send(episode: ProxyEpisode, surface: Surface, body: string) {
  const response = await fetch(`${episode.baseUrl}/${surface}`, { method: 'POST', body });
  return { status: response.status, type: response.headers.get('content-type') ?? '', text: await response.text() };
}

function expectErrorShape(surface: Surface, text: string): void {
  const { type, error } = JSON.parse(text);
  expect(error.message).toBeTypeOf('string');
  expect(error.type).toBeTypeOf('string');
  expect(type).toBe(surface === 'messages' ? 'error' : undefined);
}

/** The events of a stream: JSON each, with their names; and whether it ended well. */
function expectStreamShape(surface: Surface, text: string): boolean {
  const blocks = text.split('\n\n').filter(Boolean);
  const types = blocks.map((block) => {
    const [, name, data] = /^(?:event: (.*)\n)?data: (.*)$/.exec(block) as RegExpExecArray;
    if (data === '[DONE]') return data;
    const value = JSON.parse(data);
    if (surface !== 'completions') expect(value.type).toBe(name);
    return value.type;
  });
  const last = types.at(-1);
  return {
    responses: ['response.completed', 'response.incomplete'],
    messages: ['message_stop'],
    completions: ['[DONE]'],
  }[surface].includes(last);
}

function expectSoundRecords(): void {
  for (const { promptTokenIds: _, ...call } of bench.sink.calls) {
    const stored = {
      ...call,
      version: 1,
      request: { messages: [], tools: null, other: call.request.other },
      prompt: null,
    };
    expect(callSchema.safeParse(JSON.parse(JSON.stringify(stored))).error?.message).toBeUndefined();
  }
}

it.each(surfaces)(
  '%s: 500 mutated requests and replies',
  async (surface) => {
    const episode = bench.open();
    const statuses = new Set<number>();
    for (let i = 0; i < 500; i++) {
      const stream = i % 2 === 1;
      const request = { ...REQUESTS[surface], ...(stream ? { stream } : {}) };
      let body = JSON.stringify(i % 4 < 2 ? mutate(request, 1 + random.int(3)) : request);
      if (i % 40 === 0) body = spoil(body);
      const times = i % 4 === 0 ? 0 : 1 + random.int(4);
      bench.server.turns = [
        { ...TURN, mutate: (reply) => mutate(reply, times), mutateChunks: (chunks) => mutate(chunks, times) },
      ];
      const before = bench.sink.calls.length;
      const { status, type, text } = await send(episode, surface, body);
      statuses.add(status);
      const recorded = bench.sink.calls.slice(before);
      expect([200, 400, 502]).toContain(status);
      expect(recorded).toHaveLength(status === 400 ? 0 : 1);
      if (status !== 200) expectErrorShape(surface, text);
      else if (type.includes('event-stream'))
        expect(expectStreamShape(surface, text)).toBe(recorded[0].status === 'complete');
      else {
        JSON.parse(text);
        expect(recorded[0].status).toBe('complete');
      }
    }
    expectSoundRecords();
    expect(episode.lostCalls).toBe(0);
    expect(episode.inFlight).toBe(0);
    // All kinds of ending were met, or the mutations prove nothing.
    expect([...statuses].sort()).toEqual([200, 400, 502]);
  },
  60_000,
);

describe('bodies made to hurt', () => {
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

  it.each(surfaces)('%s: nesting', async (surface) => {
    const episode = bench.open();
    const body = JSON.stringify({ ...REQUESTS[surface], hole: 0 });
    for (const levels of [1000, 100_000]) {
      const { status, text } = await send(episode, surface, body.replace('"hole":0', `"hole":${deep(levels)}`));
      expect(status).toBe(400);
      expectErrorShape(surface, text);
    }
    expect((await send(episode, surface, deep(500_000))).status).toBe(400);
    expect((await send(episode, surface, body.replace('"hole":0', `"hole":${deep(300)}`))).status).toBe(200);
    expect(episode.lostCalls).toBe(0);
  });

  it('10,000 tool calls of one message, and their results', async () => {
    const ids = Array.from({ length: 10_000 }, (_, i) => `c${i}`);
    const histories = {
      responses: {
        input: [
          ...ids.map((call_id) => ({ type: 'function_call', call_id, name: 'f', arguments: '{}' })),
          ...ids.map((call_id) => ({ type: 'function_call_output', call_id, output: 'ok' })),
        ],
      },
      messages: {
        max_tokens: 1,
        messages: [
          { role: 'user', content: 'go' },
          { role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })) },
          { role: 'user', content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })) },
        ],
      },
    };
    for (const surface of ['responses', 'messages'] as const) {
      const episode = bench.open();
      bench.server.turns = [{ content: 'ok' }];
      expect((await send(episode, surface, JSON.stringify({ model: 'm', ...histories[surface] }))).status).toBe(200);
      const { messages } = bench.sink.calls.at(-1)!.request;
      expect(messages.filter(({ role }) => role === 'tool')).toHaveLength(10_000);
      expect(messages.find(({ role }) => role === 'assistant')?.tool_calls).toHaveLength(10_000);
    }
  });

  it('10,000 unknown fields: the record stays small, and no key of the prototype is touched', async () => {
    const episode = bench.open();
    const odd = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`odd${i}`, 'x'.repeat(50)]));
    const body = JSON.stringify({ ...REQUESTS.messages, ...odd }).replace(
      /}$/,
      ',"__proto__":{"polluted":1},"constructor":1}',
    );
    expect((await send(episode, 'messages', body)).status).toBe(200);
    expect(JSON.stringify(bench.sink.calls[0].request.other).length).toBeLessThan(50_000);
    expect(bench.notices.length).toBeLessThan(1000);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it.each(surfaces)('%s: lone surrogates come through as they are', async (surface) => {
    const episode = bench.open();
    const body = JSON.stringify(REQUESTS[surface]).replace('"go"', '"\\ud83d!"');
    bench.server.turns = [{ content: '\udc00?' }];
    const { status } = await send(episode, surface, body);
    expect(status).toBe(200);
    expect(JSON.stringify(bench.sink.calls[0].request.messages)).toContain('\\ud83d!');
  });
});
