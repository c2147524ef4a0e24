import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTeacher } from '../../../../trainer-daemon/harnesses/tabletop-skills/teacher/server.ts';

let url: string;
let server: Server;
beforeAll(async () => {
  ({ url, server } = await startTeacher());
});
afterAll(() => {
  server?.closeAllConnections();
  server?.close();
});

const messages = [{ role: 'user', content: 'Task: open the drawer' }];
const ask = (body: unknown) =>
  fetch(`${url}/chat/completions`, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });

interface Completion {
  choices: {
    message: { content: null; reasoning_content: string; tool_calls: { id: string; function: object }[] };
    finish_reason: string;
  }[];
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

describe('the scripted teacher as a server', () => {
  it('answers as a chat model does, the same request alike', async () => {
    const [first, again] = await Promise.all([ask({ messages, seed: 1 }), ask({ messages, seed: 1 })]);
    const completion = (await first.json()) as Completion;
    expect(await again.json()).toEqual(completion);
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null, reasoning_content: 'I look first.' },
    });
    expect(completion.choices[0].message.tool_calls[0].function).toEqual({ name: 'detect', arguments: '{}' });
    const { prompt_tokens, completion_tokens, total_tokens } = completion.usage;
    expect(prompt_tokens).toBeGreaterThan(0);
    expect(total_tokens).toBe(prompt_tokens + completion_tokens);
  });

  it('streams the same answer', async () => {
    const whole = (await (await ask({ messages })).json()) as Completion;
    const reply = await ask({ messages, stream: true });
    expect(reply.headers.get('content-type')).toContain('text/event-stream');
    const events = (await reply.text()).split('\n\n').filter((event) => event !== '');
    expect(events.at(-1)).toBe('data: [DONE]');
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event.replace(/^data: /, '')));
    const deltas = chunks.flatMap((chunk) => chunk.choices);
    const { message } = whole.choices[0];
    expect(deltas.map(({ delta }) => delta.reasoning_content ?? '').join('')).toBe(message.reasoning_content);
    expect(deltas.flatMap(({ delta }) => delta.tool_calls ?? [])).toEqual(
      message.tool_calls.map((call, index) => ({ index, ...call })),
    );
    expect(deltas.at(-1).finish_reason).toBe('tool_calls');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
  });

  it.each([
    ['no JSON', '{'],
    ['no messages', { model: 'x' }],
    ['an empty transcript', { messages: [] }],
    ['a message without a known role', { messages: [{ role: 'robot', content: 'x' }] }],
    ['tool calls that are none', { messages: [{ role: 'assistant', tool_calls: 'x' }] }],
  ])('refuses %s with an error in OpenAI form', async (_, body) => {
    const reply = await ask(body);
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { message: expect.any(String), type: 'invalid_request_error' } });
  });

  it('lists its model and knows no other endpoint', async () => {
    expect(await (await fetch(`${url}/models`)).json()).toMatchObject({ data: [{ id: 'tabletop-expert' }] });
    expect((await fetch(`${url}/embeddings`, { method: 'POST' })).status).toBe(404);
  });
});
