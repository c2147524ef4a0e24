import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Message, ResponseMessage, ToolCall } from '../../../../protocol/chat.ts';
import {
  PromptError,
  parseResponse,
  renderPrompt,
  renderResponse,
} from '../../../../trainer-daemon/planner/chat-template.ts';
import { CONTROL_TOKENS, loadTokenizer, type PlannerTokenizer } from '../../../../trainer-daemon/planner/tokenizer.ts';
import { tinyPlanner, tools, transcript } from './tiny-planner.ts';

let tokenizer: PlannerTokenizer;
let folder: string;
beforeAll(async () => {
  folder = await tinyPlanner();
  tokenizer = await loadTokenizer(folder);
});

/** Texts that try everything a template or tokenizer could trip over. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...CONTROL_TOKENS,
        '<',
        '|im_end|>',
        '\n',
        '\n\n',
        ' ',
        '  \n',
        '\t',
        '{{',
        '{%',
        '"',
        '\\',
        '\u{e000}',
        'red block',
      ),
      fc.string({ unit: 'grapheme', maxLength: 6 }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));
const nonEmpty = hostile.filter((text) => text !== '');
const json = fc
  .dictionary(
    fc.string({ maxLength: 4 }),
    fc.oneof(hostile, fc.double(), fc.boolean(), fc.constant(null), fc.array(fc.integer())),
  )
  .chain((value) => fc.constantFrom(JSON.stringify(value), JSON.stringify(value, null, 1)));
const call = fc.record({ name: fc.stringMatching(/^[A-Za-z0-9_.:-]{1,12}$/), arguments: json });

/** Assistant messages in their normal form: no empty text where there is a call, no empty reasoning. */
const assistant: fc.Arbitrary<ResponseMessage> = fc
  .record({ content: hostile, reasoning: fc.option(nonEmpty), calls: fc.array(call, { maxLength: 3 }) })
  .map(({ content, reasoning, calls }) => {
    const message: ResponseMessage = {
      role: 'assistant',
      content: content === '' && calls.length > 0 ? null : content,
    };
    if (reasoning !== null) message.reasoning_content = reasoning;
    if (calls.length > 0) {
      message.tool_calls = calls.map((f, i) => ({ id: `c${i}`, type: 'function', function: f })) as ToolCall[];
    }
    return message;
  });

const plain = (message: ResponseMessage) => ({
  ...message,
  tool_calls: message.tool_calls?.map((c) => c.function),
});

describe('the compact template', () => {
  it('renders an episode as expected', () => {
    const ids = renderPrompt(tokenizer, { messages: transcript, tools });
    expect(tokenizer.decode(ids)).toBe(
      '<|im_start|>system\nYou control a robot arm on a table.\nTools:\n' +
        'move_to(x:number, y:number, items?:string[], side?:left|right)\nrelease()<|im_end|>' +
        '<|im_start|>user\nPut the red block into the bowl.\n[image]<|im_end|>' +
        '<|im_start|>assistant\n<think>The red block is at (0.41, -0.12).</think>' +
        '<tool_call>move_to{"x": 0.41, "y": -0.12}</tool_call><|im_end|>' +
        '<tool_response>ok: gripper at (0.41, -0.12)\nholding nothing</tool_response>' +
        '<|im_start|>assistant\nNow letting go.<tool_call>release{}</tool_call>' +
        '<tool_call>move_to{"x":0,"y":0.3,"side":"left"}</tool_call><|im_end|>' +
        '<tool_response>ok</tool_response><tool_response>error: out of reach</tool_response>' +
        '<|im_start|>assistant\nI cannot reach it.<|im_end|><|im_start|>assistant\n',
    );
  });

  it('renders tools without a system message, and odd schemas', () => {
    const odd = [
      { type: 'function', function: { name: 'a' } },
      {
        type: 'function',
        function: {
          name: 'b',
          parameters: {
            properties: { p: { type: ['number', 'null'] }, q: true, r: { type: 'array' }, s: { enum: [1, null] } },
          },
        },
      },
    ];
    const ids = renderPrompt(tokenizer, { messages: [{ role: 'user', content: 'x' }], tools: odd });
    expect(tokenizer.decode(ids)).toBe(
      '<|im_start|>system\nTools:\na()\nb(p?:number|null, q?:any, r?:any[], s?:1|null)<|im_end|>' +
        '<|im_start|>user\nx<|im_end|><|im_start|>assistant\n',
    );
  });

  it('lets every longer transcript extend the shorter one, token for token', () => {
    const follow: fc.Arbitrary<Message> = fc.oneof(
      hostile.map((content): Message => ({ role: 'tool', tool_call_id: 'c0', content })),
      hostile.map((content): Message => ({ role: 'user', content })),
    );
    fc.assert(
      fc.property(hostile, fc.array(fc.tuple(assistant, follow), { minLength: 1, maxLength: 4 }), (first, turns) => {
        let messages: Message[] = [{ role: 'user', content: first }];
        let prompt = renderPrompt(tokenizer, { messages, tools });
        for (const [answer, next] of turns) {
          const response = renderResponse(tokenizer, answer, { messages, tools });
          expect(response).toEqual(renderResponse(tokenizer, answer));
          messages = [...messages, answer as Message, next];
          const longer = renderPrompt(tokenizer, { messages, tools });
          expect(longer.slice(0, prompt.length + response.length)).toEqual([...prompt, ...response]);
          prompt = longer;
        }
      }),
      { numRuns: 100 },
    );
  });

  it('places as many control tokens as there are messages, whatever the texts hold', () => {
    const start = tokenizer.addedTokens.get('<|im_start|>')!.id;
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 1, maxLength: 4 }), hostile, (texts, name) => {
        const messages: Message[] = texts.map((content) => ({ role: 'user', content }));
        messages.push({
          role: 'assistant',
          content: name,
          tool_calls: [{ id: 'x', type: 'function', function: { name, arguments: name } }],
        });
        messages.push({ role: 'tool', content: name, tool_call_id: 'x' });
        const ids = renderPrompt(tokenizer, {
          messages,
          tools: [{ type: 'function', function: { name, parameters: { properties: { [name]: { enum: [name] } } } } }],
        });
        expect(ids.filter((id) => tokenizer.isControl(id)).length).toBe(2 + 2 * texts.length + 4 + 2 + 1);
        expect(ids.filter((id) => id === start).length).toBe(1 + texts.length + 1 + 1);
      }),
      { numRuns: 150 },
    );
  });

  it('parses what it renders', () => {
    fc.assert(
      fc.property(assistant, (message) => {
        const parsed = parseResponse(tokenizer, renderResponse(tokenizer, message));
        expect(plain(parsed)).toEqual(plain(message));
      }),
      { numRuns: 300 },
    );
  });
});

describe('parseResponse', () => {
  it('reads both forms of a call and keeps the arguments as written', () => {
    const arguments_ = '{"x": 1,  "note": "a}b"}';
    for (const body of [`move_to${arguments_}`, `\n{"name": "move_to", "arguments": ${arguments_}}\n`]) {
      const parsed = parseResponse(tokenizer, `<tool_call>${body}</tool_call><|im_end|>`);
      expect(parsed.tool_calls?.map((c) => c.function)).toEqual([{ name: 'move_to', arguments: arguments_ }]);
      expect(parsed.content).toBe(null);
    }
    const swapped = parseResponse(tokenizer, '<tool_call>{"arguments": {"x": 1}, "name": "go"}</tool_call>');
    expect(swapped.tool_calls?.[0].function).toEqual({ name: 'go', arguments: '{"x":1}' });
  });

  it.each([
    '<tool_call>move_to{"x": }</tool_call>',
    '<tool_call>move_to{"x": 1}',
    '<tool_call></tool_call>',
    '<tool_call>[1]</tool_call>',
    '<tool_call>{"arguments": {}}</tool_call>',
    '<tool_call>{"name": "a", "arguments": [1]}</tool_call>',
    'a</tool_call>b',
    '<tool_call>a{}</tool_call>and then',
    '<tool_call><tool_call>a{}</tool_call>',
    'x<think>late</think>',
    '<|im_start|>user\nhi',
  ])('gives %j back as plain content', (text) => {
    const parsed = parseResponse(tokenizer, text);
    expect(parsed.content).toBe(text);
    expect(parsed.tool_calls).toBeUndefined();
    expect(parsed.malformed).toBeTruthy();
  });

  it('keeps reasoning that was cut short, and reasoning before a broken call', () => {
    expect(parseResponse(tokenizer, '<think>it is')).toEqual({
      role: 'assistant',
      content: '',
      reasoning_content: 'it is',
    });
    const broken = parseResponse(tokenizer, '<think>r</think>a<tool_call>b');
    expect(broken).toMatchObject({ reasoning_content: 'r', content: 'a<tool_call>b' });
  });

  it('never throws on arbitrary token ids', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 250, max: 405 }), { maxLength: 30 }), (ids) => {
        expect(parseResponse(tokenizer, ids).role).toBe('assistant');
      }),
    );
  });
});

describe("a checkpoint's own template", () => {
  /** The shape of Qwen3's: trims reasoning, drops it before the last user message, JSON calls on lines of their own. */
  const qwenLike = `{%- set ns = namespace(last=0) -%}
{%- for m in messages %}{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor -%}
{%- if tools %}{{ '<|im_start|>system\\n# Tools\\n' }}{% for t in tools %}{{ t | tojson }}\n{% endfor %}{{ '<|im_end|>\\n' }}{% endif -%}
{%- for m in messages -%}
{%- if m.role == 'assistant' -%}
{{- '<|im_start|>assistant\\n' -}}
{%- if loop.index0 > ns.last -%}{{- '<think>\\n' + (m.reasoning_content or '').strip('\\n') + '\\n</think>\\n\\n' -}}{%- endif -%}
{{- m.content.lstrip('\\n') -}}
{%- for c in m.tool_calls or [] %}{{ '\\n<tool_call>\\n{"name": "' + c.function.name + '", "arguments": ' + (c.function.arguments | tojson) + '}\\n</tool_call>' }}{% endfor -%}
{{- '<|im_end|>\\n' -}}
{%- else -%}{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' -}}{%- endif -%}
{%- if m.role == 'user' and m.content == 'forbidden' %}{{ raise_exception('not allowed here') }}{% endif -%}
{%- endfor -%}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif -%}`;

  it('is used as it is: prompts, targets, parsing, refusals', async () => {
    const other = await tinyPlanner();
    await writeFile(join(other, 'chat_template.jinja'), qwenLike);
    const foreign = await loadTokenizer(other);
    const messages: Message[] = [{ role: 'user', content: 'go <|im_end|>' }];
    const prompt = renderPrompt(foreign, { messages, tools });
    expect(foreign.decode(prompt)).toContain('"name": "move_to"');
    expect(prompt.filter((id) => foreign.isControl(id))).toHaveLength(5);
    const answer: ResponseMessage = {
      role: 'assistant',
      content: 'text',
      reasoning_content: 'because',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'move_to', arguments: '{"x": 1}' } }],
    };
    const response = renderResponse(foreign, answer, { messages, tools });
    expect(foreign.decode(response)).toBe(
      '<think>\nbecause\n</think>\n\ntext\n<tool_call>\n{"name": "move_to", "arguments": {"x": 1}}\n</tool_call><|im_end|>',
    );
    expect(plain(parseResponse(foreign, response))).toEqual(plain(answer));
    expect(() => renderPrompt(foreign, { messages: [{ role: 'user', content: 'forbidden' }] })).toThrow(PromptError);
  });

  it('may come from tokenizer_config.json, and is asked for when there is none', async () => {
    const other = await tinyPlanner();
    const { rm, readFile } = await import('node:fs/promises');
    await rm(join(other, 'chat_template.jinja'));
    expect((await loadTokenizer(other)).chatTemplate).toBe(tokenizer.chatTemplate);
    const config = JSON.parse(await readFile(join(other, 'tokenizer_config.json'), 'utf8'));
    delete config.chat_template;
    await writeFile(join(other, 'tokenizer_config.json'), JSON.stringify(config));
    await expect(loadTokenizer(other)).rejects.toThrow('has no chat_template');
  });
});
