/** Every dialect in front of the embedded planner: one conversation is one prompt, and the trainer makes the same. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { initialisePlanner } from '../../trainer-daemon/planner/initialise.ts';
import { type RunningServer, startPlannerServer } from '../../trainer-daemon/planner/serving/server.ts';
import type { ProxyEpisode } from '../../trainer-daemon/proxy/contract.ts';
import { createUpstream } from '../../trainer-daemon/proxy/upstreams/create.ts';
import { openPlannerText } from '../../trainer-daemon/training/calls.ts';
import { DialectBench } from './dialect-bench.ts';

const bench = new DialectBench();
let folder: string;
let planner: RunningServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dialect-planner-'));
  await initialisePlanner(
    folder,
    { layers: 2, hidden: 32, intermediate: 64, heads: 2, kvHeads: 1, vocabulary: 400, context: 1024 },
    ['You control a robot. Put the red cube into the bowl. {"object": "red-cube", "height": 1.0} holding red-cube'],
    7,
  );
  planner = await startPlannerServer({ checkpoint: folder, policyVersion: 3, modelName: 'planner' });
});
afterAll(async () => {
  await planner?.close();
  await rm(folder, { recursive: true, force: true });
});

const open = (): ProxyEpisode =>
  bench.open({
    upstream: createUpstream({ kind: 'embedded', url: planner.url, model: 'planner', policyVersion: () => 3 }),
    responseTokens: 12,
  });

const image = 'iVBORw0KGgo=';
const parameters = { type: 'object' as const, properties: { object: { type: 'string' } }, required: ['object'] };
const written = '{"object":"red-cube","height":1}';

/** The same conversation in each dialect: a system prompt, an image, reasoning, a tool call and its result. */
const chatRequest = {
  model: 'any',
  messages: [
    { role: 'system', content: 'You control a robot.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Put the red cube into the bowl.' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } },
      ],
    },
    {
      role: 'assistant',
      content: 'Picking.',
      reasoning_content: 'the cube first',
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'pick', arguments: written } }],
    },
    { role: 'tool', tool_call_id: 'a', content: 'holding red-cube' },
  ],
  tools: [{ type: 'function', function: { name: 'pick', description: 'Picks.', parameters } }],
} as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming;

const responsesRequest = {
  model: 'any',
  instructions: 'You control a robot.',
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'Put the red cube into the bowl.' },
        { type: 'input_image', image_url: `data:image/png;base64,${image}`, detail: 'auto' },
      ],
    },
    { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'the cube first' }] },
    { type: 'message', role: 'assistant', content: 'Picking.' },
    { type: 'function_call', call_id: 'a', name: 'pick', arguments: written },
    { type: 'function_call_output', call_id: 'a', output: 'holding red-cube' },
  ],
  tools: [{ type: 'function', name: 'pick', description: 'Picks.', parameters, strict: false }],
} as unknown as OpenAI.Responses.ResponseCreateParamsNonStreaming;

const messagesRequest: Anthropic.MessageCreateParamsNonStreaming = {
  model: 'any',
  max_tokens: 100,
  system: [{ type: 'text', text: 'You control a robot.', cache_control: { type: 'ephemeral' } }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Put the red cube into the bowl.' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: image } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'the cube first', signature: '' },
        { type: 'text', text: 'Picking.' },
        { type: 'tool_use', id: 'a', name: 'pick', input: { object: 'red-cube', height: 1 } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'holding red-cube' }] },
  ],
  tools: [{ name: 'pick', description: 'Picks.', input_schema: parameters }],
};

describe.each([false, true])('streamed: %s', (streamed) => {
  it('one conversation is the same prompt in every dialect, and the trainer renders it so', async () => {
    const episode = open();
    const openai = bench.openai(episode);
    const anthropic = bench.anthropic(episode);
    let texts: unknown[];
    if (streamed) {
      const chat = await openai.chat.completions.stream({ ...chatRequest, stream: true }).finalChatCompletion();
      const response = await openai.responses.stream({ ...responsesRequest, stream: true }).finalResponse();
      const message = await anthropic.messages.stream(messagesRequest).finalMessage();
      texts = [chat.choices[0].message.content, response.output_text, textOf(message)];
    } else {
      const chat = await openai.chat.completions.create(chatRequest);
      const response = await openai.responses.create(responsesRequest);
      const message = await anthropic.messages.create(messagesRequest);
      texts = [chat.choices[0].message.content, response.output_text, textOf(message)];
    }
    const { calls } = bench.sink;
    expect(
      calls.map(({ surface, status, finishReason }) => [
        surface,
        status,
        finishReason === 'stop' || finishReason === 'length',
      ]),
    ).toEqual([
      ['chat', 'complete', true],
      ['responses', 'complete', true],
      ['messages', 'complete', true],
    ]);
    const trainer = await openPlannerText(folder);
    for (const [i, call] of calls.entries()) {
      expect(call.promptTokenIds).toEqual(calls[0].promptTokenIds);
      expect(trainer.renderPrompt(call)).toEqual(call.promptTokenIds);
      expect(call.logprobs).toHaveLength(call.responseTokenIds!.length);
      expect(call.untrainable).toBeUndefined();
      expect(call.usage?.prompt_tokens).toBe(call.promptTokenIds?.length);
      expect(texts[i]).toBe(call.response?.content);
    }
  });
});

it('counts the tokens of a prompt as the planner reads it', async () => {
  const episode = open();
  const { model, system, messages, tools } = messagesRequest;
  const { input_tokens } = await bench.anthropic(episode).messages.countTokens({ model, system, messages, tools });
  expect(episode.calls).toEqual([]);
  await bench.anthropic(episode).messages.create(messagesRequest);
  expect(bench.sink.calls[0].promptTokenIds).toHaveLength(input_tokens);
});

it("what this planner cannot do is refused in the client's own shape", async () => {
  const anthropic = bench.anthropic(open());
  const forced = { ...messagesRequest, tool_choice: { type: 'tool' as const, name: 'pick' } };
  await expect(anthropic.messages.create(forced)).rejects.toThrow(/tool_choice: must be \\"auto\\" or \\"none\\"/);
  await expect(anthropic.messages.create({ ...messagesRequest, stop_sequences: ['x'] })).rejects.toThrow(/stop/);
});

it.each([false, true])('plain completions are a chat of one message (streamed: %s)', async (stream) => {
  const episode = open();
  const client = bench.openai(episode);
  const asked = { model: 'any', prompt: 'Put the red cube into the bowl.', logprobs: 1 };
  let text = '';
  if (stream)
    for await (const part of await client.completions.create({ ...asked, stream })) text += part.choices[0].text;
  else {
    const [choice] = (await client.completions.create(asked)).choices;
    text = choice.text;
    expect(choice.logprobs?.token_logprobs?.length).toBeGreaterThan(0);
  }
  const [call] = bench.sink.calls;
  expect(call).toMatchObject({ surface: 'completions', status: 'complete', response: { content: text } });
  expect((await openPlannerText(folder)).renderPrompt(call)).toEqual(call.promptTokenIds);
  expect([call.untrainable, episode.untrainable]).toEqual([undefined, null]);
});

function textOf(message: Anthropic.Message): string {
  return message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
}
