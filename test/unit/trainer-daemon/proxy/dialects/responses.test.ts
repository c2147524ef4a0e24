import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apiError } from '../../../../../trainer-daemon/proxy/api-error.ts';
import { RefusedRequest } from '../../../../../trainer-daemon/proxy/dialects/contract.ts';
import { responsesDialect as dialect } from '../../../../../trainer-daemon/proxy/dialects/responses/index.ts';
import { ToolCallTexts } from '../../../../../trainer-daemon/proxy/dialects/tool-call-texts.ts';
import { anyReply, chunksOf, completionOf, contextOf, eventsOf, type Json, messageOf } from './replies.ts';

const translate = (body: unknown, toolCalls = new ToolCallTexts()) =>
  dialect.toChat(body, { toolCalls, templateArguments: true });
const chatOf = (body: unknown) => translate(body).chat;
const ask = (more: Json = {}) => ({ model: 'm', input: 'go', ...more });
const custom = {
  tools: [
    { type: 'custom', name: 'shell' },
    { type: 'function', name: 'pick', parameters: {} },
  ],
};

/** Ways in which clients keep the items that they send back. */
const CLIENTS: Record<string, (item: Json) => Json> = {
  'sends all back': (item) => item,
  'drops ids': ({ id: _, ...item }) => item,
  // As Codex does.
  'drops ids and the text of reasoning': ({ id: _, ...item }) =>
    item.type === 'reasoning' ? { ...item, content: undefined } : item,
};

describe('the way back', () => {
  it.each(Object.entries(CLIENTS))('a client that %s: its history is what the planner wrote', (_, keep) => {
    fc.assert(
      fc.property(anyReply, anyReply, (first, second) => {
        const toolCalls = new ToolCallTexts();
        const context = contextOf(custom, toolCalls);
        const items = (reply: typeof first, replyId: string) =>
          (JSON.parse(dialect.reply(completionOf(reply), { ...context, replyId })).output as Json[]).map(keep);
        const renamed = { ...second, calls: second.calls.map((call) => ({ ...call, id: `second_${call.id}` })) };
        const input = [
          { role: 'user', content: 'go' },
          ...items(first, 'a'.repeat(24)),
          { role: 'user', content: 'on' },
          ...items(renamed, 'b'.repeat(24)),
          { role: 'user', content: 'on' },
        ];
        const messages = translate(JSON.parse(JSON.stringify(ask({ ...custom, input }))), toolCalls).chat
          .messages as Json[];
        expect([messages[1], messages[3]]).toEqual([messageOf(first), messageOf(renamed)]);
      }),
      { numRuns: 300, seed: 3 },
    );
  });

  it('two replies in a row are two messages, because their items tell which reply they are of', () => {
    fc.assert(
      fc.property(anyReply, anyReply, (first, second) => {
        const toolCalls = new ToolCallTexts();
        const renamed = { ...second, calls: second.calls.map((call) => ({ ...call, id: `second_${call.id}` })) };
        const input = [first, renamed].flatMap(
          (reply, i) =>
            JSON.parse(dialect.reply(completionOf(reply), { replyId: String(i).repeat(24), received: {}, toolCalls }))
              .output,
        );
        expect(translate(ask({ input }), toolCalls).chat.messages).toEqual([messageOf(first), messageOf(renamed)]);
      }),
      { numRuns: 200, seed: 4 },
    );
  });

  it('a stream makes the same response, however it was cut, and its events add up', () => {
    fc.assert(
      fc.property(anyReply, fc.integer({ min: 1, max: 5 }), fc.boolean(), (reply, size, interleaved) => {
        const toolCalls = new ToolCallTexts();
        const events = eventsOf(dialect, chunksOf(reply, size, interleaved), contextOf(custom, toolCalls));
        expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, i) => i));
        const response = events.at(-1)?.response as Json;
        const whole = JSON.parse(dialect.reply(completionOf(reply), contextOf(custom)));
        expect(response).toEqual(whole);
        expect(events.at(-1)?.type).toBe(`response.${whole.status}`);
        const added: Record<number, string> = {};
        for (const event of events)
          if (String(event.type).endsWith('.delta'))
            added[event.output_index as number] = (added[event.output_index as number] ?? '') + event.delta;
        const done = events.filter(({ type }) => type === 'response.output_item.done');
        const outputs = whole.output as Json[];
        expect(done.map(({ output_index }) => output_index)).toEqual(outputs.map((_, i) => i));
        outputs.forEach((item, i) => {
          const content = item.content as { text: string }[] | undefined;
          expect(added[i] ?? '').toBe(content?.[0].text ?? item.arguments ?? item.input);
        });
      }),
      { numRuns: 500, seed: 5 },
    );
  });
});

describe('requests', () => {
  it('instructions, roles, images, calls and their outputs, shapes and limits', () => {
    const chat = chatOf({
      model: 'gpt',
      instructions: 'You are a robot.',
      max_output_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      stream: true,
      store: true,
      parallel_tool_calls: false,
      reasoning: { effort: 'high', summary: 'auto' },
      text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true }, verbosity: 'low' },
      tools: [{ type: 'function', name: 'pick', description: 'Pick.', parameters: { type: 'object' }, strict: false }],
      tool_choice: { type: 'function', name: 'pick' },
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be quick.' }] },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'look' },
            { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'high' },
            { type: 'input_image', image_url: 'http://h/i.png' },
            { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' },
          ],
        },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] },
        { type: 'function_call', id: 'fc_1', call_id: 'a', name: 'pick', arguments: '{ "x": 1 }' },
        { type: 'function_call', id: 'fc_2', call_id: 'b', name: 'pick', arguments: 'broken' },
        { type: 'function_call_output', call_id: 'a', output: 'ok' },
        {
          type: 'function_call_output',
          call_id: 'b',
          output: [{ type: 'input_image', image_url: 'data:image/png;base64,BBBB' }],
        },
      ],
    });
    expect(chat).toEqual({
      model: 'gpt',
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      stream: true,
      stream_options: { include_usage: true },
      parallel_tool_calls: false,
      reasoning_effort: 'high',
      verbosity: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' }, strict: true } },
      tools: [
        {
          type: 'function',
          function: { name: 'pick', description: 'Pick.', parameters: { type: 'object' }, strict: false },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'pick' } },
      messages: [
        { role: 'system', content: 'You are a robot.\n\nBe quick.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'high' } },
            { type: 'image_url', image_url: { url: 'http://h/i.png' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'hm',
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'pick', arguments: '{ "x": 1 }' } },
            { id: 'b', type: 'function', function: { name: 'pick', arguments: 'broken' } },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'ok' },
        {
          role: 'tool',
          tool_call_id: 'b',
          content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,BBBB' } }],
        },
      ],
    });
  });

  it('a tool of free text becomes a function with one text, and its calls come back as such', () => {
    const tools = [
      {
        type: 'custom',
        name: 'shell',
        description: 'Run.',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
      },
    ];
    const [tool] = chatOf(ask({ tools })).tools as { function: Json }[];
    expect(tool.function).toMatchObject({ name: 'shell', parameters: { required: ['input'] } });
    expect(tool.function.description).toBe('Run.\n\nThe input must follow this lark grammar:\nstart: "a"');
    const toolCalls = new ToolCallTexts();
    const call = { id: 'c', name: 'shell', arguments: '{"input":  "ls"}' };
    const reply = JSON.parse(
      dialect.reply(
        completionOf({ content: '', reasoning: '', calls: [call], finish: 'tool_calls' }),
        contextOf({ tools }, toolCalls),
      ),
    );
    expect(reply.output).toEqual([
      { id: `ctc_${contextOf().replyId}_0`, type: 'custom_tool_call', call_id: 'c', name: 'shell', input: 'ls' },
    ]);
    const input = [...reply.output, { type: 'custom_tool_call_output', call_id: 'c', output: 'a.txt' }];
    expect(translate(ask({ tools, input }), toolCalls).chat.messages).toEqual([
      messageOf({ content: '', reasoning: '', calls: [call], finish: '' }),
      { role: 'tool', tool_call_id: 'c', content: 'a.txt' },
    ]);
  });

  it('tools in a namespace are offered by their names, and calls of them say where they belong', () => {
    const tools = [
      {
        type: 'namespace',
        name: 'arm',
        description: 'The arm.',
        tools: [{ type: 'function', name: 'pick', parameters: {} }],
      },
      { type: 'function', name: 'look', parameters: {} },
    ];
    const names = (chatOf(ask({ tools })).tools as { function: Json }[]).map((tool) => tool.function.name);
    expect(names).toEqual(['pick', 'look']);
    const calls = names.map((name, i) => ({ id: `c${i}`, name: String(name), arguments: '{}' }));
    const reply = { content: '', reasoning: '', calls, finish: 'tool_calls' };
    const { output } = JSON.parse(dialect.reply(completionOf(reply), contextOf({ tools })));
    expect(output.map((item: Json) => item.namespace)).toEqual(['arm', undefined]);
    expect(chatOf(ask({ tools, input: output })).messages).toEqual([messageOf(reply)]);
  });

  it('keeps what has no counterpart and tells of what might matter', () => {
    const { chat, untranslated } = translate(
      ask({
        store: false,
        prompt_cache_key: 'k',
        max_tool_calls: 3,
        include: ['reasoning.encrypted_content', 'web_search_call.action.sources'],
        tools: [{ type: 'web_search', external_web_access: false }],
        input: [{ role: 'user', content: [{ type: 'input_text', text: 'a', odd: 1 }] }],
      }),
    );
    expect(chat.tools).toBeUndefined();
    expect(Object.fromEntries(untranslated.fields)).toEqual({
      store: false,
      prompt_cache_key: 'k',
      max_tool_calls: 3,
      'include[web_search_call.action.sources]': true,
      'tools[web_search]': { type: 'web_search', external_web_access: false },
      'input[].content[].odd': 1,
    });
    expect(untranslated.notable).not.toContain('store');
    expect(untranslated.notable).toContain('tools[web_search]');
  });

  it.each([
    ['low', 'low', false],
    ['xhigh', 'high', true],
    ['minimal', 'low', true],
    ['none', undefined, true],
    ['__proto__', undefined, true],
  ])('effort %s', (effort, sent, told) => {
    const { chat, untranslated } = translate(ask({ reasoning: { effort } }));
    expect(chat.reasoning_effort).toBe(sent);
    expect(untranslated.notable.has('reasoning.effort')).toBe(told);
  });

  it('log-probs that the client asks for', () => {
    expect(chatOf(ask({ include: ['message.output_text.logprobs'] }))).toMatchObject({
      logprobs: true,
      top_logprobs: 0,
    });
    expect(chatOf(ask({ top_logprobs: 3 }))).toMatchObject({ logprobs: true, top_logprobs: 3 });
    expect(chatOf(ask()).logprobs).toBeUndefined();
    const completion = completionOf({ content: 'x', reasoning: '', calls: [], finish: 'stop' }) as { choices: Json[] };
    const entry = { token: 'x', logprob: -0.5, bytes: [120], top_logprobs: [] };
    completion.choices[0].logprobs = { content: [entry] };
    const { output } = JSON.parse(dialect.reply(completion as unknown as Json, contextOf()));
    expect(output[0].content[0].logprobs).toEqual([entry]);
  });

  it.each<[string, unknown, string]>([
    ['no object', 'x', 'the request must be an object'],
    ['no input', {}, 'input must hold at least one item'],
    ['previous_response_id', ask({ previous_response_id: 'resp_1' }), 'previous_response_id is not supported'],
    ['conversation', ask({ conversation: { id: 'c' } }), 'conversation is not supported'],
    ['prompt', ask({ prompt: { id: 'p' } }), 'prompt is not supported'],
    ['background', ask({ background: true }), 'background is not supported'],
    ['odd input', ask({ input: 5 }), 'input must be'],
    ['an odd item', ask({ input: [5] }), 'input[0] must be an object'],
    ['a reference', ask({ input: [{ type: 'item_reference', id: 'x' }] }), 'send the item itself'],
    ['a foreign item', ask({ input: [{ type: 'computer_call' }] }), 'input[0].type is "computer_call"'],
    ['an odd role', ask({ input: [{ role: 'tool', content: 'x' }] }), 'input[0].role'],
    ['no content', ask({ input: [{ role: 'user' }] }), 'input[0].content must be'],
    ['an odd part', ask({ input: [{ role: 'user', content: [{ type: 'video' }] }] }), 'input[0].content[0].type'],
    [
      'an uploaded image',
      ask({ input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] }),
      'file_id is not supported',
    ],
    [
      'an image in a reply',
      ask({ input: [{ role: 'assistant', content: [{ type: 'input_image', image_url: 'x' }] }] }),
      'must be text',
    ],
    ['a call without id', ask({ input: [{ type: 'function_call', name: 'a', arguments: '{}' }] }), 'input[0].call_id'],
    [
      'arguments as an object',
      ask({ input: [{ type: 'function_call', call_id: 'a', name: 'a', arguments: {} }] }),
      'input[0].arguments',
    ],
    ['instructions', ask({ instructions: [] }), 'instructions must be a string'],
    ['max_output_tokens', ask({ max_output_tokens: 1.5 }), 'max_output_tokens'],
    ['tools', ask({ tools: [null] }), 'tools[0] must be an object'],
    [
      'two tools of a name',
      ask({
        tools: [
          { type: 'function', name: 'a' },
          { type: 'custom', name: 'a' },
        ],
      }),
      'two tools "a"',
    ],
    ['a local tool', ask({ tools: [{ type: 'local_shell' }] }), 'tools[0].type is "local_shell"'],
    ['tool choice', ask({ tool_choice: 'any' }), 'tool_choice must be'],
    ['allowed tools', ask({ tool_choice: { type: 'allowed_tools' } }), 'tool_choice.type'],
    ['format', ask({ text: { format: { type: 'yaml' } } }), 'text.format.type'],
    ['reasoning', ask({ reasoning: 'high' }), 'reasoning must be an object'],
    ['include', ask({ include: [1] }), 'include must be a list of strings'],
  ])('refuses %s', (_, body, message) => {
    let caught: unknown;
    try {
      chatOf(body);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(RefusedRequest);
    const { error } = caught as RefusedRequest;
    expect(error).toMatchObject({ status: 400 });
    expect(error.message).toContain(message);
    expect(JSON.parse(dialect.error(error).body).error.message).toBe(error.message);
  });
});

describe('replies', () => {
  it.each([
    ['stop', 'completed', null],
    ['tool_calls', 'completed', null],
    ['length', 'incomplete', { reason: 'max_output_tokens' }],
    ['content_filter', 'incomplete', { reason: 'content_filter' }],
  ])('finish reason %s', (finish, status, incomplete_details) => {
    const reply = JSON.parse(
      dialect.reply(completionOf({ content: 'x', reasoning: '', calls: [], finish }), contextOf()),
    );
    expect(reply).toMatchObject({ status, incomplete_details, output: [{ status }] });
    expect(reply.usage).toMatchObject({
      input_tokens: 50,
      input_tokens_details: { cached_tokens: 20 },
      output_tokens: 7,
      total_tokens: 57,
    });
  });

  it('an error in mid-stream ends it as a failed response with the next number', () => {
    const event = dialect.streamError(apiError(502, 'upstream_failed', 'gone'), contextOf(), 4);
    expect(event).toMatch(/^event: response\.failed\ndata: .*\n\n$/);
    expect(JSON.parse(event.split('\ndata: ')[1])).toMatchObject({
      type: 'response.failed',
      sequence_number: 4,
      response: { status: 'failed', error: { code: 'upstream_failed', message: 'gone' } },
    });
  });

  it('a failed response holds what was streamed of it, and nothing that was held back', () => {
    const reply = {
      content: 'some text',
      reasoning: 'why',
      calls: [{ id: 'a', name: 'pick', arguments: '{"n": 1}' }],
      finish: 'tool_calls',
    };
    const chunks = chunksOf(reply, 4, false);
    const finish = chunks.findIndex((chunk) => (chunk.choices as Json[])[0]?.finish_reason !== null);
    // The finish chunk brings the end of the arguments, as some servers do it.
    const [last] = chunks[finish].choices as Json[];
    last.delta = { tool_calls: [{ index: 0, function: { arguments: 'HELD' } }], content: 'HELD' };
    const failed = (count: number, sent = 9) => {
      const context = contextOf();
      const stream = dialect.stream(context);
      for (const chunk of chunks.slice(0, count)) stream.push(chunk);
      if (count === chunks.length) stream.end();
      const event = dialect.streamError(apiError(502, 'upstream_failed', 'gone'), context, sent);
      return (JSON.parse(event.split('\ndata: ')[1]) as { response: Json }).response;
    };
    const texts = [
      { type: 'reasoning', status: 'completed', content: [{ text: 'why' }] },
      { type: 'message', status: 'completed', content: [{ text: 'some text' }] },
    ];
    const call = { type: 'function_call', call_id: 'a', arguments: '{"n": 1}', status: 'incomplete' };
    expect(failed(2)).toMatchObject({
      model: 'planner',
      created_at: 5,
      output: [{ ...texts[0], status: 'incomplete' }],
    });
    expect(failed(finish)).toMatchObject({ model: 'planner', output: [...texts, call] });
    expect(failed(chunks.length).output).toEqual(failed(finish).output);
    expect(failed(chunks.length, 0)).toMatchObject({ model: '', output: [] });
  });
});
