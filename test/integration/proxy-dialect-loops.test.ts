/** Tool-calling loops of every dialect through the official clients: what they see, and what is recorded. */
import type { ServerResponse } from 'node:http';
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ProxyEpisode } from '../../trainer-daemon/proxy/contract.ts';
import { idsOf, logprobsOf } from '../doubles/vllm-server.ts';
import { DialectBench } from './dialect-bench.ts';
import { RESULTS, START, TRANSCRIPT, WORK } from './dialect-work.ts';

const bench = new DialectBench();

function expectWork(surface: string, episode: ProxyEpisode): void {
  expect(bench.sink.calls.map((call) => call.surface)).toEqual([surface, surface, surface]);
  expect(bench.sink.calls.map((call) => call.status)).toEqual(['complete', 'complete', 'complete']);
  expect(bench.sink.calls[2].request.messages).toEqual([...START, ...TRANSCRIPT]);
  expect(bench.server.requests[2].body.messages).toEqual([...START, ...TRANSCRIPT]);
  expect(bench.server.requests[0].body).toMatchObject({
    model: 'planner',
    temperature: 1,
    max_tokens: 64,
    return_token_ids: true,
    tools: [
      { type: 'function', function: { name: 'pick' } },
      { type: 'function', function: { name: 'look' } },
    ],
  });
  expect(bench.sink.calls[0]).toMatchObject({
    samplingAsked: { temperature: 0.2, max_tokens: 1000 },
    samplingSent: { temperature: 1 },
  });
  bench.sink.calls.forEach((call, i) => {
    const { reasoning = '', content = '', toolCalls = [] } = WORK[i];
    const ids = idsOf(reasoning + content + toolCalls.map((each) => each.arguments).join(''));
    expect(call.responseTokenIds).toEqual(ids);
    expect(call.logprobs).toEqual(logprobsOf(ids));
    expect(call.response?.toolCalls.map((each) => each.function.arguments)).toEqual(
      toolCalls.map((each) => each.arguments),
    );
  });
  expect(JSON.stringify(bench.server.requests.map(({ headers }) => headers))).not.toContain(episode.key);
}

const parameters = { type: 'object' as const, properties: {} };

describe.each([false, true])('a tool-calling loop, streamed: %s', (streamed) => {
  beforeEach(() => {
    bench.server.turns = WORK;
  });

  it('Chat Completions with the openai client', async () => {
    const episode = bench.open();
    const client = bench.openai(episode);
    const messages: OpenAI.ChatCompletionMessageParam[] = [...(START as OpenAI.ChatCompletionMessageParam[])];
    for (;;) {
      const body = {
        model: 'any',
        messages,
        tools: ['pick', 'look'].map((name) => ({ type: 'function' as const, function: { name, parameters } })),
        temperature: 0.2,
        max_tokens: 1000,
      };
      const message = streamed
        ? await client.chat.completions.stream(body).finalMessage()
        : (await client.chat.completions.create(body)).choices[0].message;
      // This client keeps reasoning under the name that the server gave it.
      const { reasoning } = message as { reasoning?: string };
      const { role, content, tool_calls } = message;
      messages.push({
        role,
        content,
        ...(reasoning ? { reasoning_content: reasoning } : {}),
        ...(tool_calls?.length ? { tool_calls } : {}),
      } as OpenAI.ChatCompletionMessageParam);
      if (!tool_calls?.length) break;
      for (const call of tool_calls) messages.push({ role: 'tool', tool_call_id: call.id, content: RESULTS[call.id] });
    }
    const sent = bench.sink.calls[2].request.messages.map((message) => {
      const { refusal: _, parsed: __, ...rest } = message as Record<string, unknown>;
      return rest;
    });
    expect(sent.slice(0, 2)).toEqual(START);
    expect(sent[2]).toMatchObject({ tool_calls: TRANSCRIPT[0].tool_calls });
    expect(bench.sink.calls.map(({ surface }) => surface)).toEqual(['chat', 'chat', 'chat']);
  });

  it('Responses with the openai client', async () => {
    const episode = bench.open();
    const client = bench.openai(episode);
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: START[1].content }];
    const texts: string[] = [];
    for (;;) {
      const body = {
        model: 'any',
        instructions: START[0].content,
        input,
        tools: ['pick', 'look'].map((name) => ({ type: 'function' as const, name, parameters, strict: false })),
        temperature: 0.2,
        max_output_tokens: 1000,
        store: false,
        include: ['reasoning.encrypted_content' as const],
      };
      let response: OpenAI.Responses.Response;
      if (streamed) {
        const stream = client.responses.stream(body);
        let text = '';
        stream.on('response.output_text.delta', (event) => {
          text += event.delta;
        });
        response = await stream.finalResponse();
        expect(text).toBe(response.output_text);
      } else response = await client.responses.create(body);
      expect(response.status).toBe('completed');
      expect(response.usage).toMatchObject({ input_tokens: 50 });
      texts.push(response.output_text);
      input.push(...(response.output as OpenAI.Responses.ResponseInput));
      const calls = response.output.filter((item) => item.type === 'function_call');
      if (calls.length === 0) break;
      for (const call of calls)
        input.push({ type: 'function_call_output', call_id: call.call_id, output: RESULTS[call.call_id] });
    }
    expect(texts).toEqual(['Both at once.', '', 'The cube is in the bowl.']);
    expectWork('responses', episode);
    // What the client adds to the items by itself is no news.
    expect(bench.notices).toEqual([]);
  });

  it('Messages with the Anthropic client', async () => {
    const episode = bench.open();
    const client = bench.anthropic(episode);
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: START[1].content }];
    const stops: (string | null)[] = [];
    let last: Anthropic.Message;
    for (;;) {
      const body = {
        model: 'any',
        system: START[0].content,
        messages,
        tools: ['pick', 'look'].map((name) => ({ name, input_schema: parameters })),
        temperature: 0.2,
        max_tokens: 1000,
        thinking: { type: 'enabled' as const, budget_tokens: 1024 },
      };
      last = streamed ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
      stops.push(last.stop_reason);
      expect(last.usage).toMatchObject({ input_tokens: 50 });
      messages.push({ role: 'assistant', content: last.content });
      const calls = last.content.filter((block) => block.type === 'tool_use');
      if (calls.length === 0) break;
      messages.push({
        role: 'user',
        content: calls.map(({ id }) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: RESULTS[id],
          is_error: RESULTS[id].startsWith('error'),
        })),
      });
    }
    expect(stops).toEqual(['tool_use', 'tool_use', 'end_turn']);
    expect(last.content).toMatchObject([
      { type: 'thinking', thinking: 'done' },
      { type: 'text', text: 'The cube is in the bowl.' },
    ]);
    expectWork('messages', episode);
    expect(bench.notices).toEqual([]);
  });

  it("a tool of free text: Codex's way to edit files", async () => {
    const text = '*** Begin Patch\n+ line "quoted"\n';
    bench.server.turns = [
      {
        toolCalls: [{ id: 'p', name: 'apply_patch', arguments: `{"input":  ${JSON.stringify(text)}}` }],
        finishReason: 'tool_calls',
      },
      { content: 'patched' },
    ];
    const client = bench.openai(bench.open());
    const body = { model: 'any', tools: [{ type: 'custom' as const, name: 'apply_patch' }] };
    const ask = async (input: OpenAI.Responses.ResponseInput) =>
      streamed
        ? client.responses.stream({ ...body, input }).finalResponse()
        : client.responses.create({ ...body, input });
    const first = await ask([{ role: 'user', content: 'go' }]);
    expect(first.output).toMatchObject([{ type: 'custom_tool_call', call_id: 'p', name: 'apply_patch', input: text }]);
    await ask([
      { role: 'user', content: 'go' },
      ...(first.output as OpenAI.Responses.ResponseInput),
      { type: 'custom_tool_call_output', call_id: 'p', output: 'ok' },
    ]);
    expect(bench.sink.calls[1].request.messages[1]).toMatchObject({
      tool_calls: [{ id: 'p', function: { arguments: `{"input":  ${JSON.stringify(text)}}` } }],
    });
  });

  it('plain Completions with the openai client', async () => {
    const logprobs = {
      tokens: ['o', 'k'],
      token_logprobs: [-0.25, -0.5],
      top_logprobs: [{ o: -0.25 }, { k: -0.5 }],
      text_offset: [0, 1],
    };
    bench.server.turns = [
      {
        raw: (response: ServerResponse, request) => {
          expect(request.url).toBe('/v1/completions');
          const choice = {
            index: 0,
            text: 'ok',
            logprobs,
            finish_reason: 'stop',
            token_ids: [111, 107],
            prompt_token_ids: [49, 43],
          };
          const root = { id: 'cmpl-1', object: 'text_completion', created: 1, model: 'planner' };
          const usage = { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 };
          if (!streamed) return response.end(JSON.stringify({ ...root, choices: [choice], usage }));
          response.setHeader('content-type', 'text/event-stream');
          for (const chunk of [
            { ...root, choices: [choice] },
            { ...root, choices: [], usage },
          ])
            response.write(`data: ${JSON.stringify(chunk)}\n\n`);
          response.end('data: [DONE]\n\n');
        },
      },
    ];
    const client = bench.openai(bench.open());
    const body = { model: 'any', prompt: '1+', temperature: 0.3, logprobs: 1, stop: ['#'] };
    let text = '';
    if (streamed)
      for await (const chunk of await client.completions.create({ ...body, stream: true }))
        text += chunk.choices[0]?.text ?? '';
    else {
      const reply = await client.completions.create(body);
      expect(reply).toMatchObject({ object: 'text_completion', usage: { total_tokens: 4 } });
      expect(reply.choices).toEqual([{ index: 0, text: 'ok', logprobs, finish_reason: 'stop' }]);
      text = reply.choices[0].text;
    }
    expect(text).toBe('ok');
    expect(bench.server.requests[0].body).toMatchObject({
      prompt: '1+',
      model: 'planner',
      temperature: 1,
      logprobs: 1,
      stop: ['#'],
    });
    expect(bench.server.requests[0].body).not.toHaveProperty('messages');
    expect(bench.sink.calls).toMatchObject([
      {
        surface: 'completions',
        request: { messages: [{ role: 'user', content: '1+' }], other: { stop: ['#'] } },
        samplingAsked: { temperature: 0.3 },
        promptTokenIds: [49, 43],
        responseTokenIds: [111, 107],
        logprobs: [-0.25, -0.5],
        response: { content: 'ok' },
        untrainable: 'a plain completion: its prompt is no chat, so the chat template cannot make it',
      },
    ]);
  });
});
