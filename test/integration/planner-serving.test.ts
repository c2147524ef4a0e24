/** The planner server over HTTP: shapes, streams, versions, errors, and what happens when things go wrong. */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ToolCall } from '../../protocol/chat.ts';
import { tensorSpecs } from '../../trainer-daemon/planner/architecture.ts';
import { renderPrompt, renderResponse } from '../../trainer-daemon/planner/chat-template.ts';
import { readCheckpoint, writeCheckpoint } from '../../trainer-daemon/planner/checkpoint.ts';
import { type RunningServer, startPlannerServer } from '../../trainer-daemon/planner/serving/server.ts';
import { loadTokenizer, type PlannerTokenizer } from '../../trainer-daemon/planner/tokenizer.ts';
import { logSoftmax, referenceLogprobs } from '../unit/trainer-daemon/planner/serving/reference-forward.ts';
import { tinyPlanner, tools, transcript } from '../unit/trainer-daemon/planner/tiny-planner.ts';

interface Choice {
  index: number;
  message: { role: string; content: string | null; reasoning_content?: string; tool_calls?: ToolCall[] };
  delta: { role?: string; content?: string; reasoning_content?: string; tool_calls?: ToolCall[] };
  logprobs: {
    content: { token: string; logprob: number; bytes: number[]; top_logprobs: { logprob: number }[] }[];
  } | null;
  finish_reason: string | null;
  token_ids?: number[] | null;
}
interface Reply {
  id: string;
  object: string;
  model: string;
  policy_version: number;
  choices: Choice[];
  usage: {
    prompt_tokens: number;
    completion_tokens: number;
    total_tokens: number;
    prompt_tokens_details: { cached_tokens: number };
  };
  prompt_token_ids?: number[] | null;
  error: { message: string; type: string; param: string | null; code: string | null };
}

let folder: string;
let other: string;
let tokenizer: PlannerTokenizer;
let server: RunningServer;
const servers: RunningServer[] = [];

async function start(options: Partial<Parameters<typeof startPlannerServer>[0]> = {}): Promise<RunningServer> {
  const started = await startPlannerServer({ checkpoint: folder, policyVersion: 1, modelName: 'planner', ...options });
  servers.push(started);
  return started;
}

const post = (body: object, at = server, init: RequestInit = {}) =>
  fetch(`${at.url}/chat/completions`, { method: 'POST', body: JSON.stringify({ model: 'planner', ...body }), ...init });
const ask = async (body: object, at = server): Promise<Reply> => {
  const response = await post(body, at);
  const reply = (await response.json()) as Reply;
  if (response.status !== 200) throw new Error(`${response.status}: ${reply.error.message}`);
  return reply;
};
const messages = [{ role: 'user', content: 'Put the red block into the bowl.' }];
const everything = { logprobs: true, top_logprobs: 3, return_token_ids: true };

async function streamOf(body: object, at = server): Promise<Reply[]> {
  const response = await post({ ...body, stream: true }, at);
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const events = (await response.text()).trim().split('\n\n');
  expect(events.pop()).toBe('data: [DONE]');
  return events.map((event) => JSON.parse(event.replace(/^data: /, '')));
}

/** A copy of a planner with other weights: each scaled by 1 + change at every second place. */
async function variant(change: number): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'planner-variant-'));
  afterAll(() => rm(copy, { recursive: true, force: true }));
  const { weights } = await readCheckpoint(folder);
  for (let i = 0; i < weights.flat.length; i += 2) weights.flat[i] *= 1 + change;
  await writeCheckpoint(copy, weights, folder);
  return copy;
}

beforeAll(async () => {
  folder = await tinyPlanner(5);
  // Larger weights than a fresh planner's, so that its distribution is far from uniform.
  const { weights } = await readCheckpoint(folder);
  for (const { shape, offset, size } of tensorSpecs(weights.architecture)) {
    if (shape.length === 2) for (let i = offset; i < offset + size; i++) weights.flat[i] *= 6;
  }
  await writeCheckpoint(folder, weights, folder);
  other = await variant(0.3);
  tokenizer = await loadTokenizer(folder);
  server = await start();
});
afterAll(async () => {
  for (const started of servers) await started.close();
});

describe('chat completions', () => {
  it('tells the prompt it read, the ids it sampled and their true log-probabilities', async () => {
    const request = { messages: transcript.slice(0, 4), tools, max_tokens: 30, seed: 3, ...everything };
    const reply = await ask(request);
    const [choice] = reply.choices;
    expect(reply).toMatchObject({ object: 'chat.completion', model: 'planner', policy_version: 1 });
    expect(reply.prompt_token_ids).toEqual(renderPrompt(tokenizer, { messages: transcript.slice(0, 4), tools }));
    const ids = choice.token_ids!;
    expect(reply.usage).toMatchObject({ prompt_tokens: reply.prompt_token_ids!.length, completion_tokens: ids.length });
    const { weights } = await readCheckpoint(folder);
    const reference = referenceLogprobs(weights, [...reply.prompt_token_ids!, ...ids]);
    ids.forEach((id, i) => {
      const row = reference[reply.prompt_token_ids!.length - 1 + i];
      const entry = choice.logprobs!.content[i];
      expect(Math.abs(entry.logprob - row[id])).toBeLessThan(1e-4);
      expect(entry.top_logprobs[0].logprob).toBeCloseTo(Math.max(...row), 3);
      expect(entry.bytes).toEqual([...tokenizer.bytesOf(id)]);
    });
  });

  it('reports the distribution really sampled from: temperature and truncation included', async () => {
    const request = { messages, max_tokens: 6, seed: 1, temperature: 0.5, top_k: 5, top_p: 0.9, ...everything };
    const reply = await ask(request);
    const { weights } = await readCheckpoint(folder);
    const ids = reply.choices[0].token_ids!;
    const reference = referenceLogprobs(weights, [...reply.prompt_token_ids!, ...ids]);
    ids.forEach((id, i) => {
      const row = reference[reply.prompt_token_ids!.length - 1 + i];
      const sharpened = logSoftmax(row.map((x) => x / 0.5));
      const best = sharpened
        .map((x, token) => ({ token, p: Math.exp(x) }))
        .sort((a, b) => b.p - a.p)
        .slice(0, 5);
      const mass = best.reduce((sum, { p }) => sum + p, 0);
      let sum = 0;
      const kept = best.filter(({ p }) => {
        const inside = sum < 0.9 * mass;
        if (inside) sum += p;
        return inside;
      });
      const own = kept.find(({ token }) => token === id);
      expect(own).toBeDefined();
      expect(reply.choices[0].logprobs!.content[i].logprob).toBeCloseTo(Math.log(own!.p / sum), 3);
    });
  });

  it('streams what it would have answered whole', async () => {
    for (let seed = 0; seed < 8; seed++) {
      const request = { messages, tools, max_tokens: 40, seed, ...everything };
      const whole = await ask(request);
      const chunks = await streamOf({ ...request, stream_options: { include_usage: true } });
      const usage = chunks.pop()!;
      expect(usage.choices).toEqual([]);
      expect(usage.usage.completion_tokens).toBe(whole.usage.completion_tokens);
      expect(chunks[0].choices[0].delta).toEqual({ role: 'assistant', content: '' });
      expect(chunks[0].prompt_token_ids).toEqual(whole.prompt_token_ids);
      expect(chunks.slice(1).every((chunk) => chunk.prompt_token_ids === undefined)).toBe(true);
      expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1);
      const choices = chunks.map((chunk) => chunk.choices[0]);
      const [expected] = whole.choices;
      expect(choices.flatMap((choice) => choice.token_ids ?? [])).toEqual(expected.token_ids);
      const logprobs = choices.flatMap((choice) => choice.logprobs?.content ?? []);
      expect(logprobs.map(({ token }) => token)).toEqual(expected.logprobs!.content.map(({ token }) => token));
      logprobs.forEach((entry, i) => {
        expect(entry.logprob).toBeCloseTo(expected.logprobs!.content[i].logprob, 4);
      });
      expect(choices.map((choice) => choice.delta.content ?? '').join('')).toBe(expected.message.content ?? '');
      expect(choices.map((choice) => choice.delta.reasoning_content ?? '').join('')).toBe(
        expected.message.reasoning_content ?? '',
      );
      expect(choices.at(-1)!.finish_reason).toBe(expected.finish_reason);
      expect(choices.slice(0, -1).every((choice) => choice.finish_reason === null)).toBe(true);
    }
  });

  it('goes on from the last turn without reading it again', async () => {
    const fresh = [{ role: 'user', content: 'A new episode with its own words: gripper, bowl, block.' }];
    const first = await ask({ messages: fresh, max_tokens: 20, ...everything });
    const asked = [...fresh, { role: 'assistant', content: 'ok' }, { role: 'user', content: 'go on' }];
    const second = await ask({ messages: asked, max_tokens: 5 });
    expect(second.usage.prompt_tokens_details.cached_tokens).toBeGreaterThanOrEqual(first.usage.prompt_tokens);
  });

  it('serves /v1/models, /tokenize and /health', async () => {
    const root = server.url.replace(/\/v1$/, '');
    const models = await (await fetch(`${server.url}/models`)).json();
    expect(models).toMatchObject({ data: [{ id: 'planner', max_model_len: 512, policy_version: 1 }] });
    expect(await (await fetch(`${root}/health`)).json()).toEqual({ status: 'ok', policy_version: 1 });
    const tokenize = async (body: object) =>
      (await fetch(`${root}/tokenize`, { method: 'POST', body: JSON.stringify(body) })).json();
    const prompt = renderPrompt(tokenizer, { messages: transcript, tools });
    expect(await tokenize({ messages: transcript, tools })).toEqual({
      count: prompt.length,
      max_model_len: 512,
      tokens: prompt,
    });
    expect(await tokenize({ prompt: 'red block' })).toMatchObject({ tokens: tokenizer.encodeText('red block') });
  });
});

describe('tool calls', () => {
  /** A planner that says one response to everything: the output of each position leads to the next token. */
  async function parrot(response: number[]): Promise<string> {
    const copy = await mkdtemp(join(tmpdir(), 'planner-parrot-'));
    afterAll(() => rm(copy, { recursive: true, force: true }));
    await cp(folder, copy, { recursive: true });
    const { weights } = await readCheckpoint(folder);
    const { architecture: a, flat } = weights;
    // Every layer writes nothing; each token's embedding has its own direction, and the output layer leads from it to
    // the token that follows it in the response. Needs an untied output layer and a token for each direction.
    const untied = { ...a, hidden: 512, heads: 4, headDim: 16, tiedEmbeddings: false, layers: 1 };
    const { tensorSpecs, parameterCount } = await import('../../trainer-daemon/planner/architecture.ts');
    const own = new Float32Array(parameterCount(untied));
    const specs = new Map(tensorSpecs(untied).map((spec) => [spec.name, spec]));
    for (const spec of specs.values()) {
      if (spec.name.endsWith('norm.weight')) own.fill(1, spec.offset, spec.offset + spec.size);
    }
    const embed = specs.get('model.embed_tokens.weight')!;
    const head = specs.get('lm_head.weight')!;
    for (let id = 0; id < a.vocabulary; id++) own[embed.offset + id * 512 + id] = 1;
    const newline = tokenizer.encodeText('\n')[0];
    [newline, ...response].forEach((id, i, all) => {
      if (i + 1 < all.length) own[head.offset + all[i + 1] * 512 + id] = 5;
    });
    const { configOf } = await import('../../trainer-daemon/planner/model-config.ts');
    await writeFile(join(copy, 'config.json'), JSON.stringify(configOf(untied, tokenizer.endTokenId, 0)));
    await writeCheckpoint(copy, { architecture: untied, flat: own }, copy);
    expect(flat.length).toBeGreaterThan(0);
    return copy;
  }

  it('come back parsed, whole and streamed; a broken one comes back as text', async () => {
    // No token may occur twice, as each leads to one other.
    const good = renderResponse(tokenizer, {
      role: 'assistant',
      content: null,
      reasoning_content: 'hm',
      tool_calls: [{ id: '', type: 'function', function: { name: 'go', arguments: '{}' } }],
    });
    const broken = good.filter((id) => !tokenizer.decode([id]).includes('}'));
    for (const [response, isBroken] of [
      [good, false],
      [broken, true],
    ] as const) {
      const parrotServer = await start({ checkpoint: await parrot(unique(response)), maxBatch: 2 });
      const reply = await ask({ messages, temperature: 0, return_token_ids: true }, parrotServer);
      expect(reply.choices[0].token_ids).toEqual(unique(response));
      const { message, finish_reason } = reply.choices[0];
      const chunks = await streamOf({ messages, temperature: 0 }, parrotServer);
      const deltas = chunks.map((chunk) => chunk.choices[0].delta);
      expect(message.reasoning_content).toBe('hm');
      expect(deltas.map((delta) => delta.reasoning_content ?? '').join('')).toBe('hm');
      if (isBroken) {
        expect(message.tool_calls).toBeUndefined();
        expect(message.content).toContain('<tool_call>go');
        expect(deltas.map((delta) => delta.content ?? '').join('')).toBe(message.content);
        expect(finish_reason).toBe('stop');
      } else {
        expect(message.content).toBe(null);
        expect(message.tool_calls).toMatchObject([{ type: 'function', function: { name: 'go', arguments: '{}' } }]);
        expect(deltas.flatMap((delta) => delta.tool_calls ?? [])).toEqual(
          message.tool_calls!.map((call, index) => ({ index, ...call })),
        );
        expect(finish_reason).toBe('tool_calls');
        // The call goes back with its result, and the prompt goes on from the sampled ids.
        const next = [...messages, message, { role: 'tool', tool_call_id: message.tool_calls![0].id, content: 'ok' }];
        const second = await ask({ messages: next, temperature: 0, return_token_ids: true }, parrotServer);
        const before = [...reply.prompt_token_ids!, ...reply.choices[0].token_ids!];
        expect(second.prompt_token_ids!.slice(0, before.length)).toEqual(before);
        expect(second.usage.prompt_tokens_details.cached_tokens).toBe(before.length - 1);
      }
      await parrotServer.close();
    }
  });

  function unique(ids: number[]): number[] {
    expect(new Set(ids).size).toBe(ids.length);
    return ids;
  }
});

describe('errors', () => {
  const refusal = async (body: object | string, path = '/chat/completions', init: RequestInit = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify({ model: 'planner', messages, ...body });
    const response = await fetch(server.url + path, { method: 'POST', body: text, ...init });
    const reply = (await response.json()) as Reply;
    expect(Object.keys(reply.error).sort()).toEqual(['code', 'message', 'param', 'type']);
    return { status: response.status, ...reply.error };
  };

  it('have the shape of OpenAI', async () => {
    expect(await refusal({ messages: [{ role: 'user', content: 'word '.repeat(600) }] })).toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      type: 'invalid_request_error',
    });
    expect(await refusal({ n: 2 })).toMatchObject({ status: 400, param: 'n' });
    expect(await refusal({ temperature: -1 })).toMatchObject({ status: 400, param: 'temperature' });
    expect(await refusal({ messages: [{ role: 'tool', tool_call_id: 'x', content: '' }] })).toMatchObject({
      status: 400,
      param: 'messages.0.tool_call_id',
    });
    expect(await refusal({ model: 'gpt' })).toMatchObject({ status: 404, param: 'model', code: 'model_not_found' });
    expect(await refusal('{"a":')).toMatchObject({ status: 400, code: 'invalid_json' });
    expect(await refusal('[]')).toMatchObject({ status: 400, code: 'invalid_json' });
    expect(await refusal({}, '/completions')).toMatchObject({ status: 404, code: 'not_found' });
    const large = JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(33 * 1024 * 1024) }] });
    expect(await refusal(large)).toMatchObject({ status: 413, code: 'request_too_large' });
    expect((await ask({ messages, max_tokens: 1 })).choices).toHaveLength(1);
  });

  it('ask for the key where there is one', async () => {
    const locked = await start({ apiKey: 'secret' });
    expect((await post({ messages }, locked)).status).toBe(401);
    const headers = { authorization: 'Bearer secret' };
    expect((await post({ messages, max_tokens: 1 }, locked, { headers })).status).toBe(200);
    await locked.close();
  });

  it('say at the start what is wrong with a checkpoint', async () => {
    await expect(start({ checkpoint: join(folder, 'absent') })).rejects.toThrow('absent: does not exist');
    const broken = await variant(0);
    await writeFile(join(broken, 'model.safetensors'), 'x');
    await expect(start({ checkpoint: broken })).rejects.toThrow('cut short');
  });
});

describe('versions', () => {
  it('change under load: in-flight requests finish under the old one, later ones get the new', async () => {
    const own = await start();
    const request = (seed: number) => ({ messages, max_tokens: 60, seed, ...everything });
    const before = Array.from({ length: 10 }, (_, seed) => ask(request(seed), own));
    while ((await own.stats()).requests < 10) await new Promise((resolve) => setTimeout(resolve, 5));
    const activated = own.activate(other, 2);
    const after = Array.from({ length: 10 }, (_, seed) => ask(request(seed), own));
    await activated;
    expect(own.policyVersion).toBe(2);
    const weights = [(await readCheckpoint(folder)).weights, (await readCheckpoint(other)).weights];
    const replies = [...(await Promise.all(before)), ...(await Promise.all(after))];
    expect(replies.slice(0, 10).every((reply) => reply.policy_version === 1)).toBe(true);
    expect(replies.slice(10).every((reply) => reply.policy_version === 2)).toBe(true);
    for (const reply of [replies[3], replies[15]]) {
      const ids = reply.choices[0].token_ids!;
      const reference = referenceLogprobs(weights[reply.policy_version - 1], [...reply.prompt_token_ids!, ...ids]);
      ids.forEach((id, i) => {
        const expected = reference[reply.prompt_token_ids!.length - 1 + i][id];
        expect(Math.abs(reply.choices[0].logprobs!.content[i].logprob - expected)).toBeLessThan(1e-4);
      });
    }
    await own.close();
  });

  it('stay as they are when the next one cannot be loaded', async () => {
    const own = await start();
    await expect(own.activate(join(folder, 'absent'), 2)).rejects.toThrow('absent');
    const damaged = await variant(0.1);
    await writeFile(join(damaged, 'model.safetensors'), 'x');
    await expect(own.activate(damaged, 2)).rejects.toThrow('cut short');
    const foreign = await tinyPlanner(1, { vocabulary: 300 });
    await expect(own.activate(foreign, 2)).rejects.toThrow('another than the one served');
    expect(own.policyVersion).toBe(1);
    expect((await ask({ messages, max_tokens: 2 }, own)).policy_version).toBe(1);
    await own.close();
  });
});

describe('deterministic mode', () => {
  it('gives bit-identical answers in any order and company', async () => {
    const requests = Array.from({ length: 6 }, (_, i) => ({
      messages: transcript.slice(0, 2 + (i % 3) * 2),
      max_tokens: 25,
      seed: i,
      ...everything,
    }));
    const results: string[][] = [];
    for (const order of [
      [0, 1, 2, 3, 4, 5],
      [5, 3, 1, 4, 2, 0],
    ]) {
      const own = await start({ deterministic: true });
      const replies: string[] = [];
      await Promise.all(
        order.map(async (i) => {
          const reply = await ask(requests[i], own);
          replies[i] = JSON.stringify([reply.choices, reply.prompt_token_ids]);
        }),
      );
      results.push(replies);
      await own.close();
    }
    expect(results[0]).toEqual(results[1]);
  });
});

describe('when things go wrong', () => {
  it('stops sampling for a client that went away', async () => {
    const gone = new AbortController();
    const request = post({ messages, temperature: 0, max_tokens: 480, stream: true }, server, { signal: gone.signal });
    const response = await request;
    await response.body!.getReader().read();
    gone.abort();
    const before = (await server.stats()).generatedTokens;
    await new Promise((resolve) => setTimeout(resolve, 50));
    while ((await server.stats()).running > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await server.stats()).generatedTokens - before).toBeLessThan(480);
    expect((await ask({ messages, max_tokens: 1 })).choices).toHaveLength(1);
  });

  it('answers 500 when the worker dies, and serves on with a new one', async () => {
    const own = await start();
    await own.activate(other, 2);
    const inFlight = [0, 1, 2].map((seed) => post({ messages, max_tokens: 480, seed, temperature: 0 }, own));
    while ((await own.stats()).running === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    // A token that no embedding exists for makes the numeric runtime fail.
    const sampling = {
      temperature: 1,
      topP: 1,
      topK: -1,
      presencePenalty: 0,
      frequencyPenalty: 0,
      seed: 0,
      topLogprobs: 0,
    };
    const fatal = own.engine.generate(
      { promptIds: [99_999], maxTokens: 1, sampling },
      null,
      new AbortController().signal,
    );
    await expect(fatal).rejects.toThrow('the planner worker stopped');
    for (const response of await Promise.all(inFlight)) {
      expect(response.status).toBe(500);
      expect(((await response.json()) as Reply).error).toMatchObject({
        type: 'server_error',
        code: 'planner_worker_failed',
      });
    }
    expect((await ask({ messages, max_tokens: 2 }, own)).policy_version).toBe(2);
    expect((await own.stats()).workerRestarts).toBe(1);
    await own.close();
    await own.close();
    await expect(post({ messages }, own)).rejects.toThrow();
  });
});
