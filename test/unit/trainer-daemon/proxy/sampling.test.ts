import { describe, expect, it } from 'vitest';
import { createUpstream, type UpstreamOptions } from '../../../../trainer-daemon/proxy/index.ts';
import { enforceSampling, samplingProblem } from '../../../../trainer-daemon/proxy/sampling.ts';

const upstream = (kind: UpstreamOptions['kind']) =>
  createUpstream({ kind, url: 'http://127.0.0.1:1', model: 'planner', apiKey: null, policyVersion: () => 0 });
const evaluation = { temperature: 1, topP: 0.95, topK: 20, presencePenalty: 1.5 };
const messages = [{ role: 'user', content: 'go' }];

describe('sampling at the boundary', () => {
  it('replaces every sampling field and records both sides', () => {
    const request = {
      model: 'theirs',
      messages,
      temperature: 0,
      top_p: 0.1,
      top_k: 1,
      min_p: 0.5,
      frequency_penalty: 2,
      logit_bias: { 5: 100 },
      seed: 7,
      max_tokens: 16,
      stop: ['###'],
    };
    const { body, asked, sent } = enforceSampling(
      request,
      { upstream: upstream('vllm'), sampling: evaluation, responseTokens: 4096 },
      99,
    );
    expect(body).toEqual({
      model: 'planner',
      messages,
      stop: ['###'],
      temperature: 1,
      top_p: 0.95,
      top_k: 20,
      min_p: 0,
      repetition_penalty: 1,
      presence_penalty: 1.5,
      frequency_penalty: 0,
      seed: 99,
      max_tokens: 4096,
      logprobs: true,
      top_logprobs: 0,
      return_token_ids: true,
      return_tokens_as_token_ids: true,
    });
    expect(asked).toEqual({
      temperature: 0,
      top_p: 0.1,
      top_k: 1,
      min_p: 0.5,
      frequency_penalty: 2,
      logit_bias: { 5: 100 },
      seed: 7,
      max_tokens: 16,
    });
    expect(sent).toMatchObject({ temperature: 1, top_p: 0.95, top_k: 20, seed: 99, max_tokens: 4096 });
    expect(request.temperature).toBe(0);
  });

  it('asks a server without token capture for none, in its own terms', () => {
    const { body } = enforceSampling(
      { messages, max_completion_tokens: 5 },
      { upstream: upstream('openai'), sampling: { ...evaluation, topK: -1 }, responseTokens: 100 },
      1,
    );
    expect(body).not.toHaveProperty('logprobs');
    expect(body).not.toHaveProperty('top_k');
    expect(body).not.toHaveProperty('max_tokens');
    expect(body.max_completion_tokens).toBe(100);
  });

  it('keeps what the client wants to see itself', () => {
    const { body, wishes } = enforceSampling(
      { messages, logprobs: true, top_logprobs: 3, stream: true, stream_options: { include_usage: false } },
      { upstream: upstream('embedded'), sampling: evaluation, responseTokens: 100 },
      1,
    );
    expect(body.top_logprobs).toBe(3);
    expect(body.stream_options).toEqual({ include_usage: true });
    expect(wishes).toEqual({ logprobs: true, tokenIds: false, usage: false });
  });

  it('says when a server cannot sample as demanded', () => {
    expect(samplingProblem(upstream('openai'), evaluation)).toContain('does not know top_k');
    expect(samplingProblem(upstream('vllm'), evaluation)).toBeUndefined();
  });
});

describe('upstreams', () => {
  it.each([
    ['http://h:8000', 'http://h:8000/v1'],
    ['http://h:8000/v1/', 'http://h:8000/v1'],
    ['https://h/v1beta/openai', 'https://h/v1beta/openai'],
    ['https://h/v1/chat/completions', 'https://h/v1'],
  ])('reads %s as %s', (url, expected) => {
    expect(createUpstream({ kind: 'vllm', url, model: 'm', apiKey: null, policyVersion: () => null }).url).toBe(
      expected,
    );
  });

  it.each([
    [{ kind: 'vllm' as const, url: 'h:1', model: 'm' }, 'not an http or https URL'],
    [{ kind: 'vllm' as const, url: '??', model: 'm' }, 'is not a URL'],
    [{ kind: 'vllm' as const, url: 'http://h', model: ' ' }, 'needs a model name'],
  ])('refuses %o', (options, message) => {
    expect(() => createUpstream({ ...options, apiKey: null, policyVersion: () => null })).toThrow(message);
  });
});
