/** The official clients of every dialect when things go wrong, and what they ask besides calls. */
import type { ServerResponse } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { ProxyEpisode } from '../../trainer-daemon/proxy/contract.ts';
import { sleep } from '../doubles/vllm-server.ts';
import { DialectBench } from './dialect-bench.ts';

const bench = new DialectBench();

describe('the clients and what goes wrong', () => {
  const messages = [{ role: 'user' as const, content: 'go' }];
  /** One call in each dialect. */
  const calls = {
    chat: (episode: ProxyEpisode, more?: object) =>
      bench.openai(episode, more).chat.completions.create({ model: 'any', messages }),
    responses: (episode: ProxyEpisode, more?: object) =>
      bench.openai(episode, more).responses.create({ model: 'any', input: 'go' }),
    messages: (episode: ProxyEpisode, more?: object) =>
      bench.anthropic(episode, more).messages.create({ model: 'any', max_tokens: 9, messages }),
  };
  const streams = {
    chat: (episode: ProxyEpisode, signal?: AbortSignal) =>
      bench.openai(episode).chat.completions.create({ model: 'any', messages, stream: true }, { signal }),
    responses: (episode: ProxyEpisode, signal?: AbortSignal) =>
      bench.openai(episode).responses.create({ model: 'any', input: 'go', stream: true }, { signal }),
    messages: (episode: ProxyEpisode, signal?: AbortSignal) =>
      bench.anthropic(episode).messages.create({ model: 'any', max_tokens: 9, messages, stream: true }, { signal }),
  };
  const dialects = ['chat', 'responses', 'messages'] as const;
  const answer = (status: number) => (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': '1' });
    response.end(JSON.stringify({ error: { message: 'not now', type: 'x', code: 'busy' } }));
  };

  it.each(dialects)('%s: automatic retries of 429 and 500 are one turn', async (dialect) => {
    bench.server.turns = [{ raw: answer(429) }, { raw: answer(500) }, { content: 'at last' }];
    const episode = bench.open();
    await calls[dialect](episode, { maxRetries: 2 });
    expect(bench.sink.calls.map(({ turn, status, surface }) => [turn, status, surface])).toEqual([
      [0, 'upstream-error', dialect],
      [0, 'upstream-error', dialect],
      [0, 'complete', dialect],
    ]);
    expect(bench.sink.calls[1].retryOf).toBe(bench.sink.calls[0].id);
    expect(bench.sink.calls[2].retryOf).toBe(bench.sink.calls[1].id);
  });

  it.each(dialects)('%s: two identical requests that no client marks are two turns', async (dialect) => {
    const episode = bench.open();
    await calls[dialect](episode);
    await calls[dialect](episode);
    expect(bench.sink.calls.map(({ turn, retryOf }) => [turn, retryOf])).toEqual([
      [0, null],
      [1, null],
    ]);
  });

  it.each(dialects)('%s: errors reach the client in its own shape', async (dialect) => {
    bench.server.turns = [{ raw: answer(400) }];
    const episode = bench.open();
    const refused = await calls[dialect](episode).catch((error) => error);
    expect(refused).toBeInstanceOf(dialect === 'messages' ? Anthropic.BadRequestError : OpenAI.BadRequestError);
    expect(refused.message).toContain('not now');
    await episode.close('done');
    // Both clients would try a 409 again.
    const closed = await calls[dialect](episode, { maxRetries: 5 }).catch((error) => error);
    expect(closed).toBeInstanceOf(dialect === 'messages' ? Anthropic.ConflictError : OpenAI.ConflictError);
    const wrong = { ...episode, key: 'x' } as ProxyEpisode;
    const unknown = await calls[dialect](wrong).catch((error) => error);
    expect(unknown).toBeInstanceOf(dialect === 'messages' ? Anthropic.AuthenticationError : OpenAI.AuthenticationError);
    expect(bench.server.requests).toHaveLength(1);
  });

  it.each(dialects)('%s: with fail-fast no client tries again', async (dialect) => {
    bench.server.turns = [{ raw: answer(500) }];
    const failed = await calls[dialect](bench.open({ onUpstreamFailure: 'fail-fast' }), { maxRetries: 5 }).catch(
      (error) => error,
    );
    expect(failed.status).toBe(424);
    expect(bench.server.requests).toHaveLength(1);
  });

  it.each(dialects)(
    '%s: a client that gives up in mid-stream lets the upstream go; what came is recorded',
    async (dialect) => {
      bench.server.turns = [{ content: 'a long answer that nobody waits for', delay: 20 }];
      const abort = new AbortController();
      const stream = await streams[dialect](bench.open(), abort.signal);
      let events = 0;
      for await (const _ of stream) if (++events === 6) abort.abort();
      for (let i = 0; i < 100 && bench.sink.calls.length === 0; i++) await sleep(20);
      expect(bench.sink.calls).toMatchObject([{ surface: dialect, status: 'aborted' }]);
      expect('a long answer that nobody waits for'.startsWith(bench.sink.calls[0].response?.content ?? '?')).toBe(true);
      expect(bench.server.requests[0].aborted).toBe(true);
    },
  );

  it.each(dialects)('%s: a stream that breaks off is an error to the client, never an answer', async (dialect) => {
    bench.server.turns = [{ content: 'half', mutateChunks: (chunks) => chunks.slice(0, -2) }];
    const seen: string[] = [];
    const failed = await (async () => {
      for await (const event of await streams[dialect](bench.open()))
        seen.push((event as { type?: string }).type ?? '');
      return undefined;
    })().catch((error) => error);
    if (dialect === 'responses') expect(seen.at(-1)).toBe('response.failed');
    else expect(failed.message).toContain('the stream ended without a finish reason');
    expect(seen).not.toContain('message_stop');
    expect(bench.sink.calls).toMatchObject([{ status: 'upstream-error' }]);
  });

  it.each(dialects)('%s: nothing that ends the reply is sent before the record is on disk', async (dialect) => {
    bench.sink.delay = 2000;
    /** Records on disk when an event of a type first came. */
    const ends: Record<string, number> = {};
    for await (const event of await streams[dialect](bench.open())) {
      const { type, choices } = event as { type?: string; choices?: { finish_reason: string | null }[] };
      ends[type ?? String(choices?.[0]?.finish_reason ?? 'delta')] ??= bench.sink.calls.length;
    }
    const last = { chat: 'stop', responses: 'response.completed', messages: 'message_stop' }[dialect];
    const delta = { chat: 'delta', responses: 'response.output_text.delta', messages: 'content_block_delta' }[dialect];
    expect(ends[last]).toBe(1);
    expect(ends[delta]).toBe(0);
  });

  it('a prompt beyond the context: the words and codes by which clients know it', async () => {
    bench.server.turns = [
      {
        raw: (response) => {
          response.writeHead(400, { 'content-type': 'application/json' });
          response.end(
            JSON.stringify({ error: { message: "This model's maximum context length is 10 tokens", code: 400 } }),
          );
        },
      },
    ];
    const episode = bench.open();
    const long = await calls.messages(episode).catch((error) => error);
    expect(long.error.error).toMatchObject({
      type: 'invalid_request_error',
      message: expect.stringMatching(/^prompt is too long: /),
    });
    const code = await calls.responses(episode).catch((error) => error);
    expect(code.message).toContain('maximum context length');
  });
});

describe('addresses and what is no call', () => {
  it('every dialect answers under the path with the key, with /v1 once or twice', async () => {
    const episode = bench.open();
    const base = episode.baseUrl.replace(/\/v1$/, '');
    const messages = [{ role: 'user' as const, content: 'go' }];
    for (const baseURL of [base, episode.baseUrl])
      await new Anthropic({ baseURL, apiKey: 'none', maxRetries: 0 }).messages.create({
        model: 'm',
        max_tokens: 1,
        messages,
      });
    const client = new OpenAI({ baseURL: episode.baseUrl, apiKey: 'none', maxRetries: 0 });
    await client.chat.completions.create({ model: 'm', messages });
    await client.responses.create({ model: 'm', input: 'go' });
    expect(bench.sink.calls.map(({ surface }) => surface)).toEqual(['messages', 'messages', 'chat', 'responses']);
  });

  it('takes the key from x-agentic-robo-rl-episode, whatever else is sent', async () => {
    const episode = bench.open();
    const client = new Anthropic({
      baseURL: bench.proxy.url,
      apiKey: 'sk-of-the-user',
      defaultHeaders: { 'x-agentic-robo-rl-episode': episode.key },
    });
    await client.messages.create({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'go' }] });
    expect(bench.sink.calls).toHaveLength(1);
  });

  it('lists the model in the shape of either client', async () => {
    const episode = bench.open();
    expect((await bench.anthropic(episode).models.list()).data).toMatchObject([{ id: 'planner', type: 'model' }]);
    expect((await bench.anthropic(episode).models.retrieve('planner')).display_name).toBe('planner');
    expect((await bench.openai(episode).models.list()).data).toMatchObject([{ id: 'planner', object: 'model' }]);
    expect((await bench.openai(episode).models.retrieve('planner')).id).toBe('planner');
    await expect(bench.openai(episode).models.retrieve('gpt-5')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(bench.anthropic(episode).models.retrieve('claude')).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  });

  it('counts tokens with the server, or estimates and says so; it is no turn', async () => {
    const episode = bench.open();
    bench.server.turns = [{ raw: (response) => response.end('{"count": 17, "max_model_len": 100, "tokens": []}') }];
    const body = {
      model: 'm',
      system: 's',
      messages: [
        { role: 'user' as const, content: 'go' },
        { role: 'assistant' as const, content: 'x' },
      ],
    };
    expect(await bench.anthropic(episode).messages.countTokens(body)).toEqual({ input_tokens: 17 });
    expect(bench.server.requests[0].body).toMatchObject({
      model: 'planner',
      messages: [{ role: 'system' }, { role: 'user' }, { role: 'assistant' }],
    });
    bench.server.turns = [
      {
        raw: (response) => {
          response.statusCode = 404;
          response.end('{}');
        },
      },
    ];
    const estimate = await bench.anthropic(episode).messages.countTokens(body);
    expect(estimate).toMatchObject({ estimated: true });
    expect(estimate.input_tokens).toBeGreaterThan(5);
    expect(estimate.input_tokens).toBeLessThan(60);
    await expect(bench.anthropic(episode).messages.countTokens({ model: 'm', messages: [] })).rejects.toBeInstanceOf(
      Anthropic.BadRequestError,
    );
    expect(episode.calls).toEqual([]);
    expect(bench.sink.calls).toEqual([]);
  });

  it('keeps unknown fields in the record and tells of each once', async () => {
    const episode = bench.open();
    const client = bench.anthropic(episode);
    const content = [
      { type: 'text' as const, text: 'go', cache_control: { type: 'ephemeral' as const }, mood: 'calm' },
    ];
    const body = {
      model: 'm',
      max_tokens: 1,
      messages: [{ role: 'user' as const, content }],
      context_management: { edits: [] },
    };
    await client.messages.create(body);
    await client.messages.create(body);
    expect(bench.sink.calls.map(({ request }) => request.other.untranslated)).toEqual([
      { context_management: { edits: [] }, 'messages[].content[].mood': 'calm' },
      { context_management: { edits: [] } },
    ]);
    expect(bench.notices.filter((text) => text.includes('"context_management"'))).toHaveLength(1);
    expect(bench.notices.filter((text) => text.includes('"messages[].content[].mood"'))).toHaveLength(1);
    expect(bench.notices.join()).not.toContain('cache_control');
  });
});
