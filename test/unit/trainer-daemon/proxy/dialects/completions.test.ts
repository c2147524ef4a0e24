import { expect, it } from 'vitest';
import { completionsDialect as dialect } from '../../../../../trainer-daemon/proxy/dialects/completions.ts';
import { RefusedRequest } from '../../../../../trainer-daemon/proxy/dialects/contract.ts';
import { ToolCallTexts } from '../../../../../trainer-daemon/proxy/dialects/tool-call-texts.ts';
import { contextOf } from './replies.ts';

const chatOf = (body: unknown) =>
  dialect.toChat(body, { toolCalls: new ToolCallTexts(), templateArguments: true }).chat;

it('goes through the chat form and comes out as it was', () => {
  const body = { model: 'm', prompt: 'go', logprobs: 2, stop: ['#'], user: 'u', guided_regex: 'a' };
  const chat = chatOf(body);
  expect(chat).toEqual({
    model: 'm',
    messages: [{ role: 'user', content: 'go' }],
    logprobs: true,
    top_logprobs: 2,
    stop: ['#'],
    user: 'u',
    guided_regex: 'a',
  });
  expect(dialect.own?.toUpstream(chat)).toEqual(body);
  expect(chatOf({ prompt: ['go'] })).toEqual(chatOf({ prompt: 'go' }));
  const reply = {
    id: 'cmpl-1',
    object: 'text_completion',
    model: 'm',
    choices: [
      {
        index: 0,
        text: 'ab',
        finish_reason: 'stop',
        logprobs: { tokens: ['a', 'b'], token_logprobs: [-1, -2], top_logprobs: [{ a: -1 }, {}], text_offset: [0, 1] },
      },
      { index: 1, text: 'c', finish_reason: null, logprobs: null },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  };
  const read = dialect.own?.fromUpstream(reply) as Record<string, unknown>;
  expect(read).toMatchObject({ choices: [{ message: { content: 'ab' }, delta: { content: 'ab' } }, {}] });
  expect(JSON.parse(dialect.reply(read, contextOf()))).toEqual(reply);
});

it.each([
  [{ prompt: ['a', 'b'] }, 'prompt must be one text'],
  [{ prompt: [1, 2] }, 'prompt must be a text: token ids cannot be recorded'],
  [{ prompt: [[1, 2]] }, 'prompt must be a text: token ids cannot be recorded'],
  [{ prompt: [] }, 'prompt must be one text'],
  [{}, 'prompt must be one text'],
  [{ prompt: 'a', n: 2 }, 'n must be 1'],
  [{ prompt: 'a', best_of: 3 }, 'best_of must be 1'],
  [{ prompt: 'a', echo: true }, 'echo is not supported'],
  [{ prompt: 'a', suffix: 'b' }, 'suffix is not supported'],
  [{ prompt: 'a', logprobs: true }, 'logprobs must be a number'],
  [{ prompt: 'a', stream: 1 }, 'stream'],
])('refuses %j', (body, message) => {
  expect(() => chatOf(body)).toThrow(message);
  expect(() => chatOf(body)).toThrow(RefusedRequest);
});
