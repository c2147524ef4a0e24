import { describe, expect, it } from 'vitest';
import { CompletionCollector, ReplyError } from '../../../../trainer-daemon/proxy/completion.ts';
import { vllm } from '../../../../trainer-daemon/proxy/upstreams/vllm.ts';

const reply = (choice: Record<string, unknown>, root: Record<string, unknown> = {}) => ({
  ...root,
  choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop', ...choice }],
});
const logprobs = (...values: unknown[]) => ({ content: values.map((logprob) => ({ token: 't', logprob })) });

function collect(whole: unknown) {
  const collector = new CompletionCollector(vllm);
  collector.addReply(whole);
  return collector.completion();
}

describe('completion', () => {
  it.each([
    ['equal lengths', { token_ids: [1, 2], logprobs: logprobs(-1, -2) }, [1, 2], [-1, -2], 0],
    ['one log-prob short', { token_ids: [1, 2], logprobs: logprobs(-1) }, [1, 2], [-1], 1],
    ['one id short', { token_ids: [1], logprobs: logprobs(-1, -2) }, [1], [-1, -2], 1],
    ['no log-probs', { token_ids: [1, 2] }, [1, 2], null, 0],
    ['a log-prob of null', { token_ids: [1, 2], logprobs: logprobs(-1, null) }, [1, 2], null, 1],
    ['no ids', { logprobs: logprobs(-1, -2) }, null, [-1, -2], 0],
    ['ids that are none', { token_ids: [1, 'a'], logprobs: logprobs(-1, -2) }, null, [-1, -2], 1],
    ['negative ids', { token_ids: [-1, 2], logprobs: logprobs(-1, -2) }, null, [-1, -2], 1],
    ['nothing', {}, null, null, 0],
    ['an empty response', { token_ids: [], logprobs: { content: [] } }, [], [], 0],
  ])('takes ids and log-probs as they came: %s', (_, choice, ids, values, notes) => {
    const completion = collect(reply(choice));
    expect(completion.responseTokenIds).toEqual(ids);
    expect(completion.logprobs).toEqual(values);
    expect(completion.notes).toHaveLength(notes);
  });

  it('reads ids written as token texts, and only if all are', () => {
    const entries = (...tokens: string[]) => ({ content: tokens.map((token) => ({ token, logprob: -1 })) });
    expect(collect(reply({ logprobs: entries('token_id:7', 'token_id:12') })).responseTokenIds).toEqual([7, 12]);
    expect(collect(reply({ logprobs: entries('token_id:7', 'x') })).responseTokenIds).toBeNull();
  });

  it('knows both names of the reasoning and both places of the prompt ids', () => {
    const a = collect(reply({ message: { content: null, reasoning: 'r' } }, { prompt_token_ids: [1] }));
    const b = collect(reply({ message: { content: 'c', reasoning_content: 'r' }, prompt_token_ids: [1] }));
    expect([a.response?.reasoning, b.response?.reasoning]).toEqual(['r', 'r']);
    expect([a.promptTokenIds, b.promptTokenIds]).toEqual([[1], [1]]);
    expect(a.response?.content).toBeNull();
  });

  it('puts tool calls together from interleaved deltas', () => {
    const collector = new CompletionCollector(vllm);
    const delta = (...tool_calls: unknown[]) => collector.addChunk({ choices: [{ index: 0, delta: { tool_calls } }] });
    delta({ index: 0, id: 'a', type: 'function', function: { name: 'pick', arguments: '' } });
    delta({ index: 1, id: 'b', function: { name: 'place' } }, { index: 0, function: { arguments: '{"x"' } });
    delta({ index: 1, function: { arguments: '{}' } }, { index: 0, id: null, function: { arguments: ':1}' } });
    expect(collector.completion().response?.toolCalls).toEqual([
      { id: 'a', type: 'function', function: { name: 'pick', arguments: '{"x":1}' } },
      { id: 'b', type: 'function', function: { name: 'place', arguments: '{}' } },
    ]);
  });

  it.each([
    ['no choices', {}],
    ['empty choices', { choices: [] }],
    ['no message', { choices: [{ index: 0 }] }],
    ['null', null],
    ['a list', []],
    ['a tool call without id', reply({ message: { tool_calls: [{ function: { name: 'f', arguments: '' } }] } })],
    ['a tool call far out', reply({ message: { tool_calls: [{ index: 1e9, id: 'a', function: {} }] } })],
  ])('refuses %s', (_, whole) => {
    expect(() => collect(whole)).toThrow(ReplyError);
  });
});
