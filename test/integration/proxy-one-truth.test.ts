/** What the client is handed and what is recorded are the same reply, however oddly the server tells it. */
import { join } from 'node:path';
import type Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { isDamaged, openRecording } from '../../recordings/index.ts';
import { createUpstream } from '../../trainer-daemon/proxy/index.ts';
import { idsOf, logprobsOf, type Turn } from '../doubles/vllm-server.ts';
import { DialectBench } from './dialect-bench.ts';

const bench = new DialectBench();
const text = { model: 'm', messages: [{ role: 'user' as const, content: 'go' }] };
const message: Anthropic.MessageCreateParamsNonStreaming = { ...text, max_tokens: 9 };
const input = { model: 'm', input: 'go' };

type Reply = { choices: { index: number; message: Record<string, unknown> }[] };
type Chunk = { choices: { index: number; delta: Record<string, unknown>; finish_reason?: unknown }[] };

/** Serves the same odd reply whole and in chunks. */
function serve(turn: Turn, message: Record<string, unknown>): void {
  bench.server.turns = [
    {
      ...turn,
      mutate: (reply) => {
        Object.assign((reply as Reply).choices[0].message, message);
        return reply;
      },
      mutateChunks: (chunks) => {
        const [head, ...rest] = chunks as Chunk[];
        const odd = { ...head, choices: [{ ...head.choices[0], delta: message }] };
        return [head, odd, ...rest];
      },
    },
  ];
}

const textIn = (content: Anthropic.ContentBlock[]) => content.map((each) => ('text' in each ? each.text : '')).join('');

describe('a reply whose choices are out of order', () => {
  const other = (place: 'message' | 'delta') => ({ index: 1, [place]: { content: 'WRONG' }, finish_reason: 'stop' });
  const outOfOrder: Turn = {
    content: 'right',
    mutate: (reply) => ({ ...reply, choices: [other('message'), ...(reply as Reply).choices] }),
    mutateChunks: (chunks) =>
      (chunks as Chunk[]).map((chunk) => ({
        ...chunk,
        choices: chunk.choices.length > 0 ? [other('delta'), ...chunk.choices] : [],
      })),
  };

  it('is the choice of index 0 in the record and for every client, and not trained on', async () => {
    bench.server.turns = [outOfOrder];
    const episode = bench.open();
    const [openai, anthropic] = [bench.openai(episode), bench.anthropic(episode)];
    const chat = await openai.chat.completions.create(text);
    let streamed = '';
    for await (const chunk of await openai.chat.completions.create({ ...text, stream: true }))
      for (const choice of chunk.choices) streamed += choice.delta.content ?? '';
    const said = [
      chat.choices.map((choice) => choice.message.content).join(),
      streamed,
      (await openai.responses.create(input)).output_text,
      (await openai.responses.stream(input).finalResponse()).output_text,
      textIn((await anthropic.messages.create(message)).content),
      textIn((await anthropic.messages.stream(message).finalMessage()).content),
    ];
    expect(said).toEqual(Array(6).fill('right'));
    for (const call of bench.sink.calls) {
      expect(call).toMatchObject({
        status: 'complete',
        response: { content: 'right' },
        responseTokenIds: idsOf('right'),
      });
      expect(call.logprobs).toEqual(logprobsOf(idsOf('right')));
      expect(call.untrainable).toBe('the reply has several choices where one was asked for');
    }
  });
});

describe.each([false, true])('streamed: %s', (stream) => {
  async function ask() {
    const episode = bench.open();
    const [openai, anthropic] = [bench.openai(episode), bench.anthropic(episode)];
    const response = stream
      ? await openai.responses.stream(input).finalResponse()
      : await openai.responses.create(input);
    const said = stream
      ? await anthropic.messages.stream(message).finalMessage()
      : await anthropic.messages.create(message);
    return { episode, response, said };
  }

  it('reasoning under the newer name counts beside an empty text under the older', async () => {
    serve({ content: 'x' }, { reasoning_content: '', reasoning: 'a thought' });
    const { said } = await ask();
    expect(said.content[0]).toMatchObject({ type: 'thinking', thinking: 'a thought' });
    expect(bench.sink.calls.map((call) => call.response?.reasoning)).toEqual(['a thought', 'a thought']);
  });

  it('a refusal is one in every dialect, and its words are in the record', async () => {
    serve({ content: null }, { refusal: 'I will not do that.' });
    const { episode, response, said } = await ask();
    const words = { type: 'refusal', refusal: 'I will not do that.' };
    expect(response.output).toMatchObject([{ type: 'message', content: [words] }]);
    expect(said).toMatchObject({ stop_reason: 'refusal', content: [{ type: 'text', text: 'I will not do that.' }] });
    for (const call of bench.sink.calls) {
      expect(call.error).toContain('the planner refused: I will not do that.');
      expect(call.untrainable).toContain('refused');
    }
    expect(episode.untrainable).toContain('refused');
  });

  it('a call in the form before tool calls is a tool call', async () => {
    serve(
      { content: null, finishReason: 'function_call' },
      { function_call: { name: 'pick', arguments: '{"n": 1.0}' } },
    );
    const { response, said } = await ask();
    expect(response.output).toMatchObject([{ type: 'function_call', name: 'pick', arguments: '{"n": 1.0}' }]);
    expect(said).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ type: 'tool_use', name: 'pick', input: { n: 1 } }],
    });
    for (const call of bench.sink.calls) {
      const id = expect.stringMatching(/^call_[0-9a-f]{24}_0$/);
      expect(call.response?.toolCalls).toEqual([
        { id, type: 'function_call', function: { name: 'pick', arguments: '{"n": 1.0}' } },
      ]);
      expect(call.untrainable).toContain('form before tool calls');
    }
  });

  it('calls without ids get ids that differ, the same for the client, in the record and in the history', async () => {
    bench.server.turns = [
      {
        content: null,
        finishReason: 'tool_calls',
        toolCalls: ['{"n": 1}', ''].map((text, i) => ({ id: '', name: `f${i}`, arguments: text })),
      },
    ];
    const { episode, response, said } = await ask();
    const idsSaid = [
      response.output.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : [])),
      said.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])),
    ];
    for (const [i, call] of bench.sink.calls.entries()) {
      const ids = call.response?.toolCalls.map(({ id }) => id) ?? [];
      expect(ids).toEqual([expect.stringMatching(/^call_[0-9a-f]{24}_0$/), ids[0].replace(/0$/, '1')]);
      expect(idsSaid[i]).toEqual(ids);
    }
    // Arguments that are left out are none, and come back as they were written.
    expect(said.content[1]).toMatchObject({ type: 'tool_use', input: {} });
    const results = idsSaid[1].map((tool_use_id) => ({ type: 'tool_result' as const, tool_use_id, content: 'ok' }));
    await bench.anthropic(episode).messages.create({
      ...message,
      messages: [...message.messages, { role: 'assistant', content: said.content }, { role: 'user', content: results }],
    });
    const [, assistant, ...tools] = bench.sink.calls[2].request.messages;
    expect(assistant.tool_calls?.map(({ id, function: fn }) => [id, fn.arguments])).toEqual([
      [idsSaid[1][0], '{"n": 1}'],
      [idsSaid[1][1], ''],
    ]);
    expect(tools.map(({ tool_call_id: id }) => id)).toEqual(idsSaid[1]);
    // Clients of Chat Completions get what the server said.
    await bench.openai(episode).chat.completions.create(text);
    expect(bench.sink.calls[3].response?.toolCalls.map(({ id }) => id)).toEqual(['', '']);
  });

  it('a reply of another role than the assistant is not trained on', async () => {
    serve({ content: 'x' }, { role: 'user' });
    const { episode } = await ask();
    expect(episode.untrainable).toContain(`the reply is of the role "user", not the assistant's`);
  });

  it.each(['abort', 'error', null])('a response that ended by %j is no whole one', async (finishReason) => {
    bench.server.turns = [{ content: 'half', finishReason }];
    const episode = bench.open();
    const [openai, anthropic] = [bench.openai(episode), bench.anthropic(episode)];
    const drained = async () => {
      if (!stream) return openai.chat.completions.create(text);
      for await (const _ of await openai.chat.completions.create({ ...text, stream }));
    };
    await expect(drained()).rejects.toThrow(/finish reason/);
    await expect(
      stream ? anthropic.messages.stream(message).finalMessage() : anthropic.messages.create(message),
    ).rejects.toThrow(/finish reason/);
    expect(bench.sink.calls.map(({ status }) => status)).toEqual(['upstream-error', 'upstream-error']);
    expect(episode.untrainable).toContain('no repeat of it completed');
  });
});

it('a finish reason that nobody knows is handed on, and not trained on', async () => {
  bench.server.turns = [{ content: 'x', finishReason: 'repetition' }];
  const episode = bench.open();
  const { choices } = await bench.openai(episode).chat.completions.create(text);
  expect(choices[0].finish_reason).toBe('repetition');
  expect(episode.untrainable).toContain('the finish reason "repetition" is not known');
});

it.each([
  ['no response ids', { token_ids: [], logprobs: { content: [] } }, {}, 'the list of response token ids is empty'],
  ['no prompt ids', {}, { prompt_token_ids: [] }, 'the list of prompt token ids is empty'],
  ['an id beyond any vocabulary', { token_ids: [Number.MAX_SAFE_INTEGER] }, {}, 'is beyond any vocabulary'],
])('%s: not trained on', async (_, choice, root, reason) => {
  bench.server.turns = [
    {
      content: 'x',
      mutate: ({ usage: _usage, ...reply }) => ({
        ...reply,
        ...root,
        choices: [{ ...(reply as unknown as Reply).choices[0], ...choice }],
      }),
    },
  ];
  const episode = bench.open();
  await bench.openai(episode).chat.completions.create(text);
  expect(episode.untrainable).toContain(reason);
});

it('an id that the planner does not have is not trained on, where its vocabulary is known', async () => {
  bench.server.turns = [{ content: 'ab' }];
  const open = (vocabulary: number) => {
    const policyVersion = () => 3;
    const described = { kind: 'vllm' as const, url: bench.server.url, model: 'm', policyVersion, vocabulary };
    return bench.open({ upstream: createUpstream(described) });
  };
  const [within, beyond] = [open(200), open(98)];
  // The double counts fifty prompt tokens.
  const long = { ...text, messages: [{ role: 'user' as const, content: 'x'.repeat(50) }] };
  await bench.openai(within).chat.completions.create(long);
  await bench.openai(beyond).chat.completions.create(long);
  expect(within.untrainable).toBeNull();
  expect(beyond.untrainable).toMatch(/the token id \d+ is none of the planner's 98 tokens/);
});

it('fields of chat completions that nobody knows are sent on, recorded and told of once', async () => {
  const episode = bench.open();
  const odd = {
    ...text,
    wibble: 7,
    guided_json: {},
    top_k: 3,
    messages: [{ role: 'user' as const, content: 'go', mood: 1 }],
  };
  await bench.openai(episode).chat.completions.create(odd);
  await bench.openai(episode).chat.completions.create(odd);
  await bench.openai(episode).completions.create({ model: 'm', prompt: 'go', wobble: 8 } as never);
  expect(bench.server.requests[0].body).toMatchObject({ wibble: 7, messages: [{ mood: 1 }] });
  expect(bench.sink.calls.map(({ request }) => request.other.wibble ?? request.other.wobble)).toEqual([7, 7, 8]);
  expect(bench.notices.map((notice) => /"(.*?)"/.exec(notice)?.[1])).toEqual(['wibble', 'messages[].mood', 'wobble']);
});

it.each([false, true])('fields of replies nobody knows are recorded, told of once (streamed: %s)', async (stream) => {
  serve({ content: 'x' }, { audio: { id: 'a' }, annotations: [], refusal: null, reasoning_details: [1] });
  const { mutate, mutateChunks, ...turn } = bench.server.turns[0];
  const weird = (reply: unknown) => ({ ...(reply as object), weird: { z: 1 }, system_fingerprint: 'f' });
  bench.server.turns = [
    {
      ...turn,
      mutate: (reply) => weird(mutate?.(reply)),
      mutateChunks: (chunks) => (mutateChunks?.(chunks) ?? []).map(weird),
    },
  ];
  const episode = bench.open();
  for (let i = 0; i < 2; i++) {
    const reply = await bench.openai(episode).chat.completions.create({ ...text, stream } as never);
    if (stream) for await (const _ of reply as unknown as AsyncIterable<unknown>);
    else expect(reply).toMatchObject({ weird: { z: 1 } });
  }
  expect(bench.notices.map((notice) => /reply's "(.*?)".* is recorded/.exec(notice)?.[1])).toEqual([
    'weird',
    'choices[].message.audio',
  ]);
  const recording = await openRecording(join(bench.sink.directory, '..', '..'));
  const read: unknown[] = [];
  for await (const call of await recording.calls('rounds/0001'))
    read.push(isDamaged(call) ? call : await recording.resolveCall(call));
  await recording.close();
  const fields = [
    { path: 'weird', value: { z: 1 } },
    { path: 'choices[].message.audio', value: { id: 'a' } },
  ];
  const kept = { responseOther: { fields }, response: { content: 'x', reasoning: null, toolCalls: [] } };
  expect(read).toMatchObject([kept, kept]);
});

it.each([2, '2', 0, 'x'])('n of %j is refused', async (n) => {
  const client = bench.openai(bench.open());
  await expect(client.chat.completions.create({ ...text, n } as never)).rejects.toThrow(/n must be 1/);
  await expect(client.completions.create({ model: 'm', prompt: 'go', n } as never)).rejects.toThrow(/n must be 1/);
  expect(bench.server.requests).toHaveLength(0);
});

it('a prompt from which the template strips earlier reasoning is recorded as the server had it, and is a sample of its own', async () => {
  const turn = (prompt: number[], content: string): Turn => ({
    content,
    mutate: (reply) => ({
      ...reply,
      prompt_token_ids: prompt,
      usage: { prompt_tokens: prompt.length, completion_tokens: content.length, total_tokens: 0 },
    }),
  });
  // 7 and 8 are the reasoning of the first response: the second prompt goes on as if they had not been.
  const prompts = [
    [1, 2, 3],
    [1, 2, 3, 9, 4, 5],
  ];
  bench.server.turns = [turn(prompts[0], 'ab'), turn(prompts[1], 'cd')];
  const episode = bench.open();
  const client = bench.openai(episode);
  const first = await client.chat.completions.create(text);
  const messages = [...text.messages, first.choices[0].message, { role: 'user' as const, content: 'on' }];
  await client.chat.completions.create({ ...text, messages });
  expect(episode.untrainable).toBeNull();
  const recording = await openRecording(join(bench.sink.directory, '..', '..'));
  const read: unknown[] = [];
  for await (const call of await recording.calls('rounds/0001')) {
    const whole = isDamaged(call) ? call : await recording.resolveCall(call);
    read.push(isDamaged(whole) ? whole : [whole.promptTokenIds, whole.responseTokenIds]);
  }
  await recording.close();
  expect(read).toEqual([
    [prompts[0], idsOf('ab')],
    [prompts[1], idsOf('cd')],
  ]);
});
