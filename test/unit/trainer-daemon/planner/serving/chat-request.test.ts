import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../../trainer-daemon/planner/serving/api-error.ts';
import { parseChatRequest } from '../../../../../trainer-daemon/planner/serving/chat-request.ts';

const messages = [{ role: 'user', content: 'hi' }];

describe('parseChatRequest', () => {
  it('has the defaults of the protocol and accepts neutral values', () => {
    const order = parseChatRequest({
      messages,
      min_p: 0,
      repetition_penalty: 1,
      stop: null,
      logit_bias: {},
      n: 1,
      response_format: { type: 'text' },
      top_logprobs: null,
      unknown: 3,
    });
    expect(order).toMatchObject({
      temperature: 1,
      topP: 1,
      topK: -1,
      presencePenalty: 0,
      maxTokens: undefined,
      stream: false,
      topLogprobs: 0,
    });
    expect(parseChatRequest({ messages, max_completion_tokens: 5, max_tokens: 9 }).maxTokens).toBe(5);
    expect(
      parseChatRequest({ messages, tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'none' }).tools,
    ).toBe(null);
  });

  it.each([
    [{ n: 2 }, 'n', 'must be 1'],
    [{ temperature: -0.1 }, 'temperature', '>=0'],
    [{ temperature: 'hot' }, 'temperature', 'number'],
    [{ top_p: 0 }, 'top_p', '>0'],
    [{ top_p: 1.1 }, 'top_p', '<=1'],
    [{ top_k: -2 }, 'top_k', '-1, 0'],
    [{ top_k: 1.5 }, 'top_k', 'int'],
    [{ presence_penalty: 3 }, 'presence_penalty', '<=2'],
    [{ max_tokens: 0 }, 'max_tokens', '>=1'],
    [{ seed: 'x' }, 'seed', 'number'],
    [{ stop: ['\n'] }, 'stop', 'not supported'],
    [{ min_p: 0.1 }, 'min_p', 'not supported'],
    [{ logit_bias: { 5: 1 } }, 'logit_bias', 'not supported'],
    [{ response_format: { type: 'json_object' } }, 'response_format.type', 'guided decoding'],
    [{ tool_choice: 'required' }, 'tool_choice', 'cannot be forced'],
    [{ tools: [{ type: 'web_search' }] }, 'tools.0.type', '"function"'],
    [{ messages: [] }, 'messages', 'at least one'],
    [{ messages: [{ role: 'robot', content: 'x' }] }, 'messages.0.role', ''],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages.0.tool_call_id', 'must name the call'],
    [{ messages: [...messages, { role: 'tool', content: 'x', tool_call_id: 'q' }] }, 'messages.1.tool_call_id', '"q"'],
  ])('refuses %j', (change, param, words) => {
    let error: unknown;
    try {
      parseChatRequest({ messages, ...change });
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(ApiError);
    const refusal = error as ApiError;
    expect(refusal.status).toBe(400);
    expect(refusal.param).toBe(param);
    expect(refusal.message).toContain(words);
    expect(refusal.toBody()).toMatchObject({ error: { type: 'invalid_request_error', param } });
  });
});
