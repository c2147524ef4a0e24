/** Weights change while episodes run: calls under way finish under the old version, new ones are held, none is refused. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { EpisodeOpening, ProxyEpisode, RecordingProxy } from '../../trainer-daemon/proxy/contract.ts';
import { createUpstream, PolicyGate, type PolicyGateOptions, startProxy } from '../../trainer-daemon/proxy/index.ts';
import { startVllmServer, type VllmServer } from '../doubles/vllm-server.ts';
import { WatchedSection } from '../doubles/watched-section.ts';

let proxy: RecordingProxy;
let server: VllmServer;
let sink: WatchedSection;
let version: number;
let gate: PolicyGate;
let count = 0;
beforeAll(async () => {
  proxy = await startProxy();
});
afterAll(() => proxy?.close());
beforeEach(async () => {
  server = await startVllmServer();
  sink = await WatchedSection.create();
  version = 1;
});
afterEach(async () => {
  await server?.close();
  await sink?.remove();
});

function open(options: PolicyGateOptions = {}, change: Partial<EpisodeOpening> = {}): ProxyEpisode {
  gate = new PolicyGate(options);
  return proxy.openEpisode({
    id: `change.${count++}`,
    role: 'rollout',
    upstream: createUpstream({ kind: 'vllm', url: server.url, model: 'm', policyVersion: () => version, gate }),
    sampling: { temperature: 1, topP: 1, topK: -1, presencePenalty: 0 },
    responseTokens: 64,
    turns: 1000,
    sink,
    onUpstreamFailure: 'pass',
    ...change,
  });
}

const post = (episode: ProxyEpisode, text: string, more: Record<string, unknown> = {}, signal?: AbortSignal) =>
  fetch(`${episode.baseUrl}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ messages: [{ role: 'user', content: text }], ...more }),
    signal,
  });

/** A change that lasts until `finish` is called; the server answers with the new version from then on. */
function change() {
  let finish = () => {};
  let begun = false;
  const done = gate.during(async () => {
    begun = true;
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    version = 2;
  });
  return { done, begun: () => begun, finish: () => finish() };
}

const versions = () => sink.calls.map(({ status, policyVersion }) => [status, policyVersion]);

describe('a change of weights', () => {
  it('waits for the call under way and holds the next one, which is stamped with the new version', async () => {
    server.turns = [
      { content: 'old', delay: 150, policyVersion: 1 },
      { content: 'new', policyVersion: 2 },
    ];
    const episode = open();
    const first = post(episode, 'a');
    await expect.poll(() => server.requests.length).toBe(1);
    const changing = change();
    const second = post(episode, 'b');
    await expect.poll(() => gate.held).toBe(1);
    expect(changing.begun()).toBe(false);
    expect((await first).status).toBe(200);
    await expect.poll(changing.begun).toBe(true);
    expect(server.requests).toHaveLength(1);
    changing.finish();
    expect((await second).status).toBe(200);
    await changing.done;
    expect(versions()).toEqual([
      ['complete', 1],
      ['complete', 2],
    ]);
    expect(sink.calls.map(({ turn, concurrent }) => [turn, concurrent])).toEqual([
      [0, true],
      [1, true],
    ]);
    expect([gate.held, gate.underWay]).toEqual([0, 0]);
  });

  it('shows a waiting stream that it lives', async () => {
    const episode = open({}, { heartbeatSeconds: 0.05 });
    const changing = change();
    const response = await post(episode, 'a', { stream: true });
    expect(response.status).toBe(200);
    let text = '';
    for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(part).toString();
      if (text.split(': the planner is not ready yet\n\n').length > 3) changing.finish();
    }
    expect(text.startsWith(': ')).toBe(true);
    expect(text).toContain('"content":"o"');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(versions()).toEqual([['complete', 2]]);
  });

  it('refuses none of 200 calls below the bound, and the one above it in a way that clients repeat', async () => {
    const episode = open({ calls: 200 });
    const changing = change();
    const calls = Array.from({ length: 200 }, (_, i) => post(episode, `call ${i}`));
    await expect.poll(() => gate.held).toBe(200);
    const beyond = await post(episode, 'one more');
    expect(beyond.status).toBe(503);
    expect(await beyond.json()).toMatchObject({
      error: { message: expect.stringContaining('200 calls wait already') },
    });
    expect(beyond.headers.get('x-should-retry')).toBeNull();
    changing.finish();
    for (const call of calls) expect((await call).status).toBe(200);
    expect(new Set(sink.calls.map(({ turn }) => turn)).size).toBe(201);
    expect(sink.calls.filter(({ policyVersion }) => policyVersion === 2)).toHaveLength(200);
  });

  it('bounds the wait', async () => {
    const episode = open({ seconds: 0.1 });
    const changing = change();
    const response = await post(episode, 'a');
    expect(response.status).toBe(503);
    expect(sink.calls[0]).toMatchObject({ status: 'upstream-error', error: expect.stringContaining('within 0.1 s') });
    expect(server.requests).toHaveLength(0);
    changing.finish();
    await changing.done;
  });

  it('lets go of a call whose client is gone or whose episode ends', async () => {
    const episode = open();
    const changing = change();
    const hangUp = new AbortController();
    const gone = post(episode, 'a', {}, hangUp.signal).catch((error: Error) => error.name);
    await expect.poll(() => gate.held).toBe(1);
    hangUp.abort();
    expect(await gone).toBe('AbortError');
    await expect.poll(() => gate.held).toBe(0);
    const waiting = post(episode, 'b');
    await expect.poll(() => gate.held).toBe(1);
    await episode.close('limit');
    expect((await waiting).status).toBe(409);
    expect(sink.calls.map(({ status }) => status)).toEqual(['aborted', 'limit']);
    changing.finish();
  });

  it('that fails lets the held calls in under the old version', async () => {
    const episode = open();
    let fail = (_: Error) => {};
    const failing = gate.during(
      () =>
        new Promise<void>((_, reject) => {
          fail = reject;
        }),
    );
    const call = post(episode, 'a');
    await expect.poll(() => gate.held).toBe(1);
    fail(new Error('no such checkpoint'));
    await expect(failing).rejects.toThrow('no such checkpoint');
    expect((await call).status).toBe(200);
    expect(versions()).toEqual([['complete', 1]]);
  });
});
