import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apiError } from '../../../../../trainer-daemon/proxy/api-error.ts';
import { RefusedRequest } from '../../../../../trainer-daemon/proxy/dialects/contract.ts';
import { messagesDialect as dialect } from '../../../../../trainer-daemon/proxy/dialects/messages/index.ts';
import { ToolCallTexts } from '../../../../../trainer-daemon/proxy/dialects/tool-call-texts.ts';
import { anyReply, chunksOf, completionOf, contextOf, eventsOf, type Json, messageOf } from './replies.ts';

const translate = (body: unknown, toolCalls = new ToolCallTexts(), templateArguments = true) =>
  dialect.toChat(body, { toolCalls, templateArguments });
const chatOf = (body: unknown) => translate(body).chat;
const user = (content: unknown) => ({ role: 'user', content });
const ask = (more: Json = {}) => ({ model: 'm', max_tokens: 10, messages: [user('go')], ...more });

/** What a client makes of the events, by Anthropic's description of them. */
function assemble(events: Json[]): Json {
  let message: Json = {};
  const content: Json[] = [];
  const inputs: string[] = [];
  for (const event of events) {
    const index = event.index as number;
    if (event.type === 'message_start') message = { ...(event.message as Json) };
    else if (event.type === 'content_block_start') {
      expect(index).toBe(content.length);
      content.push({ ...(event.content_block as Json) });
      inputs.push('');
    } else if (event.type === 'content_block_delta') {
      expect(index).toBe(content.length - 1);
      const delta = event.delta as Json;
      const block = content[index];
      if (delta.type === 'text_delta') block.text = String(block.text) + delta.text;
      else if (delta.type === 'thinking_delta') block.thinking = String(block.thinking) + delta.thinking;
      else if (delta.type === 'signature_delta') block.signature = delta.signature;
      else inputs[index] += delta.partial_json;
    } else if (event.type === 'content_block_stop') {
      if (content[index].type === 'tool_use') content[index].input = JSON.parse(inputs[index]);
    } else if (event.type === 'message_delta') message = { ...message, ...(event.delta as Json), usage: event.usage };
  }
  return { ...message, content };
}

describe('the way back', () => {
  it('a reply that the client sends back is the message that the planner wrote, byte for byte', () => {
    fc.assert(
      fc.property(anyReply, (reply) => {
        const toolCalls = new ToolCallTexts();
        const message = JSON.parse(dialect.reply(completionOf(reply), contextOf({}, toolCalls)));
        const history = [user('go'), { role: 'assistant', content: message.content }, user('on')];
        const { chat } = translate(JSON.parse(JSON.stringify(ask({ messages: history }))), toolCalls);
        expect((chat.messages as Json[])[1]).toEqual(messageOf(reply));
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  it('so is a streamed one, however it was cut', () => {
    fc.assert(
      fc.property(anyReply, fc.integer({ min: 1, max: 5 }), fc.boolean(), (reply, size, interleaved) => {
        const toolCalls = new ToolCallTexts();
        const message = assemble(eventsOf(dialect, chunksOf(reply, size, interleaved), contextOf({}, toolCalls)));
        const history = [user('go'), { role: 'assistant', content: message.content }, user('on')];
        const { chat } = translate(JSON.parse(JSON.stringify(ask({ messages: history }))), toolCalls);
        expect((chat.messages as Json[])[1]).toEqual(messageOf(reply));
        const whole = JSON.parse(dialect.reply(completionOf(reply), contextOf()));
        expect({ ...message, content: 0 }).toEqual({ ...whole, content: 0 });
      }),
      { numRuns: 500, seed: 2 },
    );
  });

  it('a call whose input the client changed is what the client says', () => {
    const toolCalls = new ToolCallTexts();
    toolCalls.remember('a', '{"x": 1}', { x: 1 });
    // Some servers begin to count anew in every reply.
    toolCalls.remember('a', '{"y": 1}', { y: 1 });
    const input = (value: Json) =>
      translate(
        ask({
          messages: [
            user('go'),
            { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: value }] },
            user('on'),
          ],
        }),
        toolCalls,
      ).chat.messages as { tool_calls: { function: { arguments: string } }[] }[];
    expect(input({ x: 1 })[1].tool_calls[0].function.arguments).toBe('{"x": 1}');
    expect(input({ x: 2 })[1].tool_calls[0].function.arguments).toBe('{"x":2}');
  });
});

describe('requests', () => {
  it('system, images, tool results, stop sequences and tool choice', () => {
    const chat = chatOf({
      model: 'claude',
      max_tokens: 100,
      system: [
        { type: 'text', text: 'You are a robot.', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'Be quick.' },
      ],
      temperature: 0.5,
      top_k: 3,
      stop_sequences: ['END'],
      stream: true,
      tools: [
        { name: 'pick', description: 'Pick.', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } },
      ],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      messages: [
        user([
          { type: 'text', text: 'look', cache_control: { type: 'ephemeral' } },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          { type: 'image', source: { type: 'url', url: 'http://h/i.png' } },
        ]),
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'tool_use', id: 't1', name: 'pick', input: { a: 1 } },
            { type: 'tool_use', id: 't2', name: 'pick', input: {} },
          ],
        },
        user([
          {
            type: 'tool_result',
            tool_use_id: 't1',
            content: [
              { type: 'text', text: 'ok' },
              { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'BBBB' } },
            ],
          },
          { type: 'tool_result', tool_use_id: 't2', content: 'gripper stuck', is_error: true },
          { type: 'text', text: 'go on' },
        ]),
      ],
    });
    expect(chat).toEqual({
      model: 'claude',
      max_tokens: 100,
      temperature: 0.5,
      top_k: 3,
      stop: ['END'],
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: { name: 'pick', description: 'Pick.', parameters: { type: 'object' } } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
      messages: [
        {
          role: 'system',
          content: [
            { type: 'text', text: 'You are a robot.' },
            { type: 'text', text: 'Be quick.' },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'image_url', image_url: { url: 'http://h/i.png' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'hm',
          tool_calls: [
            { id: 't1', type: 'function', function: { name: 'pick', arguments: '{"a":1}' } },
            { id: 't2', type: 'function', function: { name: 'pick', arguments: '{}' } },
          ],
        },
        {
          role: 'tool',
          tool_call_id: 't1',
          content: [
            { type: 'text', text: 'ok' },
            { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,BBBB' } },
          ],
        },
        { role: 'tool', tool_call_id: 't2', content: 'Error: gripper stuck' },
        { role: 'user', content: 'go on' },
      ],
    });
  });

  it.each([
    [{ type: 'auto' }, 'auto'],
    [{ type: 'none' }, 'none'],
    [{ type: 'any' }, 'required'],
    [
      { type: 'tool', name: 'f' },
      { type: 'function', function: { name: 'f' } },
    ],
  ])('tool choice %j', (tool_choice, expected) => {
    const tools = [{ name: 'f', input_schema: { type: 'object' } }];
    expect(chatOf(ask({ tools, tool_choice })).tool_choice).toEqual(expected);
    if (tool_choice.type !== 'tool') expect(chatOf(ask({ tool_choice })).tool_choice).toBeUndefined();
  });

  it('an error that says so itself is not marked twice', () => {
    const result = (content: unknown) =>
      (
        chatOf(ask({ messages: [user([{ type: 'tool_result', tool_use_id: 't', content, is_error: true }])] }))
          .messages as Json[]
      )[0].content;
    expect(result('Error: no')).toBe('Error: no');
    expect(result('<tool_use_error>no</tool_use_error>')).toBe('<tool_use_error>no</tool_use_error>');
    expect(result(undefined)).toBe('Error');
  });

  it('documents: text as text, a PDF as a file', () => {
    const content = [
      { type: 'document', title: 'T', source: { type: 'text', media_type: 'text/plain', data: 'hello' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' } },
    ];
    expect((chatOf(ask({ messages: [user(content)] })).messages as Json[])[0].content).toEqual([
      { type: 'text', text: 'T' },
      { type: 'text', text: 'hello' },
      { type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } },
    ]);
  });

  it('thinking switched off reaches the template, where the server takes its arguments', () => {
    const off = ask({ thinking: { type: 'disabled' } });
    expect(chatOf(off).chat_template_kwargs).toEqual({ enable_thinking: false });
    expect(translate(off, new ToolCallTexts(), false).chat.chat_template_kwargs).toBeUndefined();
    expect(chatOf(ask({ thinking: { type: 'enabled', budget_tokens: 1024 } })).chat_template_kwargs).toBeUndefined();
  });

  it('keeps what has no counterpart, tells of what might matter, and says nothing of cache_control', () => {
    const { untranslated } = translate(
      ask({
        metadata: { user_id: 'u' },
        context_management: { edits: [] },
        tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }],
        cache_control: { type: 'ephemeral' },
        messages: [
          user([
            { type: 'text', text: 'a', mood: 1 },
            { type: 'text', text: 'b', mood: 2, cache_control: null },
          ]),
        ],
      }),
    );
    expect(Object.fromEntries(untranslated.fields)).toEqual({
      metadata: { user_id: 'u' },
      context_management: { edits: [] },
      'tools[web_search_20250305]': { type: 'web_search_20250305', name: 'web_search', max_uses: 3 },
      'messages[].content[].mood': 1,
    });
    expect([...untranslated.notable].sort()).toEqual([
      'context_management',
      'messages[].content[].mood',
      'tools[web_search_20250305]',
    ]);
  });

  it.each<[string, unknown, string]>([
    ['no object', [], 'the request must be an object'],
    ['no messages', {}, 'messages must be a list'],
    ['empty messages', { messages: [] }, 'messages must hold at least one message'],
    ['an odd role', { messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role'],
    ['odd content', { messages: [user(5)] }, 'messages[0].content must be'],
    ['an odd block', { messages: [user([7])] }, 'messages[0].content[0] must be an object'],
    [
      'a foreign block',
      { messages: [user([{ type: 'container_upload' }])] },
      'messages[0].content[0].type is "container_upload"',
    ],
    [
      'an image elsewhere',
      { messages: [user([{ type: 'image', source: { type: 'file', file_id: 'f' } }])] },
      'source.type is "file"',
    ],
    [
      'text that is none',
      { messages: [user([{ type: 'text', text: null }])] },
      'messages[0].content[0].text must be a string',
    ],
    ['a result without id', { messages: [user([{ type: 'tool_result' }])] }, 'tool_use_id'],
    [
      'input that is none',
      {
        messages: [
          user('a'),
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'b', input: [] }] },
          user('c'),
        ],
      },
      'input must be an object',
    ],
    ['prefill', { messages: [user('a'), { role: 'assistant', content: 'b' }] }, 'prefilling'],
    ['system', ask({ system: 3 }), 'system must be'],
    ['system image', ask({ system: [{ type: 'image' }] }), 'system[0].type'],
    ['max_tokens', ask({ max_tokens: 'many' }), 'max_tokens must be a number'],
    ['max_tokens 0', ask({ max_tokens: 0 }), 'max_tokens must be a whole number'],
    ['temperature', ask({ temperature: '1' }), 'temperature'],
    ['stop', ask({ stop_sequences: 'x' }), 'stop_sequences'],
    ['stream', ask({ stream: 'yes' }), 'stream must be'],
    ['tools', ask({ tools: {} }), 'tools must be a list'],
    ['a nameless tool', ask({ tools: [{ input_schema: {} }] }), 'tools[0].name'],
    [
      "a tool of Anthropic's",
      ask({ tools: [{ type: 'bash_20250124', name: 'bash' }] }),
      'tools[0].type is "bash_20250124"',
    ],
    ['tool choice', ask({ tool_choice: 'auto' }), 'tool_choice must be an object'],
    [
      'a missing tool',
      ask({ tools: [{ name: 'a', input_schema: {} }], tool_choice: { type: 'tool', name: 'b' } }),
      'names "b"',
    ],
    ['thinking', ask({ thinking: { type: 'sometimes' } }), 'thinking.type'],
  ])('refuses %s', (_, body, message) => {
    let caught: unknown;
    try {
      chatOf(body);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(RefusedRequest);
    const { error } = caught as RefusedRequest;
    expect(error.message).toContain(message);
    expect(JSON.parse(dialect.error(error).body)).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: error.message },
    });
  });
});

it('a thread kept by the server is refused in the way that makes the client send whole conversations', () => {
  const thread = { type: 'continue', previous_message_id: 'msg_1' };
  let caught: unknown;
  try {
    chatOf(ask({ thread }));
  } catch (error) {
    caught = error;
  }
  const { status, body } = dialect.error((caught as RefusedRequest).error);
  expect(status).toBe(400);
  expect(JSON.parse(body).error.details).toEqual({ error_code: 'thread_unsupported_request', unsupported: ['thread'] });
});

describe('replies', () => {
  const stopped = (finish: string, calls = 0, stop_reason?: string) => {
    const reply = {
      content: 'x',
      reasoning: '',
      finish,
      calls: Array.from({ length: calls }, (_, i) => ({ id: `c${i}`, name: 'f', arguments: '{}' })),
    };
    const completion = completionOf(reply) as { choices: Json[] };
    completion.choices[0].stop_reason = stop_reason ?? null;
    return JSON.parse(dialect.reply(completion as unknown as Json, contextOf({ stop_sequences: ['END'] })));
  };

  it.each<[string, number, string | undefined, string, string | null]>([
    ['stop', 0, undefined, 'end_turn', null],
    ['stop', 0, 'END', 'stop_sequence', 'END'],
    ['stop', 1, undefined, 'tool_use', null],
    ['tool_calls', 2, undefined, 'tool_use', null],
    ['length', 1, undefined, 'max_tokens', null],
    ['content_filter', 0, undefined, 'refusal', null],
  ])('finish reason %s with %i calls', (finish, calls, stop, stop_reason, stop_sequence) => {
    expect(stopped(finish, calls, stop)).toMatchObject({ stop_reason, stop_sequence });
  });

  it('counts cached tokens apart', () => {
    expect(stopped('stop').usage).toEqual({
      input_tokens: 30,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 20,
      output_tokens: 7,
    });
  });

  it.each([
    [401, 'authentication_error'],
    [404, 'not_found_error'],
    [409, 'invalid_request_error'],
    [413, 'request_too_large'],
    [424, 'api_error'],
    [429, 'rate_limit_error'],
    [500, 'api_error'],
    [503, 'overloaded_error'],
  ])('error %i', (status, type) => {
    const error = dialect.error(apiError(status, 'c', 'm', { retry: false, body: '{"error":{"message":"theirs"}}' }));
    expect(error).toEqual({
      status,
      headers: { 'x-should-retry': 'false' },
      body: JSON.stringify({ type: 'error', error: { type, message: 'm' } }),
    });
  });

  it('a prompt that is too long is told in the words that make Claude Code shorten it', () => {
    expect(dialect.error(apiError(400, 'context_length_exceeded', 'HTTP 400: too many')).body).toContain(
      'prompt is too long: HTTP 400',
    );
  });
});
