/** Replies of a planner for the dialect tests: whole, cut into chunks, and as a client puts a stream together again. */
import * as fc from 'fast-check';
import type { Dialect, ReplyContext } from '../../../../../trainer-daemon/proxy/dialects/contract.ts';
import { ToolCallTexts } from '../../../../../trainer-daemon/proxy/dialects/tool-call-texts.ts';

export interface Reply {
  content: string;
  reasoning: string;
  calls: { id: string; name: string; arguments: string }[];
  finish: string;
}

export type Json = Record<string, unknown>;

/** JSON objects as models write them: odd spaces, odd numbers, keys in any order, keys twice. */
const argumentsText = fc.oneof(
  fc
    .dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
    .map((value) => JSON.stringify(value)),
  fc
    .dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
    .map((value) => JSON.stringify(value, null, 1)),
  fc.constantFrom(
    '{}',
    '{ }',
    '{"x": 1.0, "y": -0}',
    '{"b":2,"a":1,"10":0,"2":0}',
    '{"x":1e3,"n":12345678901234567890}',
    '{"a":1,"a":2}',
    '{"__proto__":{"y":1},"s":"\\u0041\\ud83d"}',
    '{"input": "ls -l"}',
    '{"unfinished": ',
    'not JSON',
    '[1]',
    '"text"',
    '',
  ),
);

const text = fc.oneof(
  fc.constant(''),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
);

export const anyReply: fc.Arbitrary<Reply> = fc.record({
  content: text,
  reasoning: text,
  calls: fc
    .array(fc.record({ name: fc.constantFrom('pick', 'move_to', 'shell'), arguments: argumentsText }), { maxLength: 4 })
    .map((calls) => calls.map((call, i) => ({ id: `call_${i}`, ...call }))),
  finish: fc.constantFrom('stop', 'tool_calls', 'length', 'content_filter'),
});

const toolCall = ({ id, ...fn }: Reply['calls'][number]) => ({ id, type: 'function', function: fn });

export function completionOf(reply: Reply): Json {
  return {
    id: 'chatcmpl-1',
    created: 5,
    model: 'planner',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: reply.content,
          reasoning: reply.reasoning,
          tool_calls: reply.calls.map(toolCall),
        },
        finish_reason: reply.finish,
      },
    ],
    usage: { prompt_tokens: 50, completion_tokens: 7, total_tokens: 57, prompt_tokens_details: { cached_tokens: 20 } },
  };
}

/** The chat message that a chat client would send back. */
export function messageOf(reply: Reply): Json {
  return {
    role: 'assistant',
    content: reply.content === '' && reply.calls.length > 0 ? null : reply.content,
    ...(reply.reasoning === '' ? {} : { reasoning_content: reply.reasoning }),
    ...(reply.calls.length === 0 ? {} : { tool_calls: reply.calls.map(toolCall) }),
  };
}

/** The reply in pieces of `size` UTF-16 units, as servers stream it; calls one after the other, or interleaved. */
export function chunksOf(reply: Reply, size: number, interleaved: boolean): Json[] {
  const cut = (whole: string) =>
    Array.from({ length: Math.ceil(whole.length / size) }, (_, i) => whole.slice(i * size, (i + 1) * size));
  const chunk = (delta: Json, finish_reason: string | null = null) => ({
    id: 'c',
    created: 5,
    model: 'planner',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const chunks: Json[] = [chunk({ role: 'assistant', content: '' })];
  // Newer and older servers name it differently; some send both.
  for (const piece of cut(reply.reasoning))
    chunks.push(chunk(size % 2 ? { reasoning: piece } : { reasoning_content: piece, reasoning: piece }));
  for (const piece of cut(reply.content)) chunks.push(chunk({ content: piece }));
  const pieces = reply.calls.map((call, index) => [
    { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } },
    ...cut(call.arguments).map((piece) => ({ index, function: { arguments: piece } })),
  ]);
  if (interleaved) {
    for (let i = 0; pieces.some((each) => i < each.length); i++)
      for (const each of pieces) if (i < each.length) chunks.push(chunk({ tool_calls: [each[i]] }));
  } else for (const piece of pieces.flat()) chunks.push(chunk({ tool_calls: [piece] }));
  chunks.push(chunk({}, reply.finish));
  chunks.push({ id: 'c', model: 'planner', choices: [], usage: completionOf(reply).usage });
  return chunks;
}

export function contextOf(received: Json = {}, toolCalls = new ToolCallTexts()): ReplyContext {
  return { replyId: '0123456789abcdef01234567', received, toolCalls };
}

export function eventsOf(dialect: Dialect, chunks: Json[], context: ReplyContext): Json[] {
  const stream = dialect.stream(context);
  return [...chunks.flatMap((chunk) => stream.push(chunk)), ...stream.end()].map((event) => {
    const [head, data] = event.split('\n');
    const value = JSON.parse(data.slice('data: '.length)) as Json;
    if (head !== `event: ${value.type}` || !event.endsWith('\n\n')) throw new Error(`not an event: ${event}`);
    return value;
  });
}
