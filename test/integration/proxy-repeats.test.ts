/** Repeated requests: which call a marked repeat belongs to, where several are alike, and how long it is known. */
import { request as httpRequest } from 'node:http';
import { expect, it } from 'vitest';
import type { ProxyEpisode } from '../../trainer-daemon/proxy/contract.ts';
import { sleep, type Turn } from '../doubles/vllm-server.ts';
import { DialectBench } from './dialect-bench.ts';

const bench = new DialectBench();
const body = { model: 'any', messages: [{ role: 'user' as const, content: 'the same words from two harnesses' }] };

async function post(episode: ProxyEpisode, headers: Record<string, string> = {}, signal?: AbortSignal, more = {}) {
  const response = await fetch(`${episode.baseUrl}/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ ...body, ...more }),
    signal,
  });
  const text = await response.text();
  const reply = JSON.parse(text) as { choices?: { message: { content: string } }[]; error?: { code: string } };
  return {
    status: response.status,
    said: reply.choices?.[0].message.content ?? reply.error?.code,
    again: response.headers.get('x-should-retry'),
  };
}

const records = () => bench.sink.calls.map(({ turn, status, retryOf }) => ({ turn, status, retry: retryOf !== null }));

it('two identical calls in flight that both fail and are both repeated by their client stay two turns', async () => {
  const failed: Turn = {
    delay: 150,
    raw: (response) => {
      response.writeHead(500).end('boom');
    },
  };
  bench.server.turns = [failed, failed, { content: 'one' }, { content: 'two' }];
  const episode = bench.open();
  const client = bench.openai(episode, { maxRetries: 4 });
  const said = await Promise.all([0, 1].map(() => client.chat.completions.create(body)));
  expect(said.map(({ choices }) => choices[0].message.content).sort()).toEqual(['one', 'two']);
  expect(bench.server.requests).toHaveLength(4);
  expect(
    records()
      .filter(({ status }) => status === 'complete')
      .map(({ turn, retry }) => [turn, retry])
      .sort(),
  ).toEqual([
    [0, true],
    [1, true],
  ]);
  expect(episode.untrainable).toBeNull();
});

it('a repeat of a call whose client hung up does not take the reply of an identical call in flight', async () => {
  bench.server.turns = [{ delay: 1000, content: 'lost' }, { delay: 400, content: 'other' }, { content: 'mine' }];
  const episode = bench.open();
  const hangUp = new AbortController();
  const lost = post(episode, {}, hangUp.signal).catch(() => undefined);
  await expect.poll(() => bench.server.requests.length).toBe(1);
  const other = post(episode);
  await expect.poll(() => bench.server.requests.length).toBe(2);
  hangUp.abort();
  await lost;
  await expect.poll(() => episode.calls.length).toBe(1);
  const repeated = await post(episode, { 'x-stainless-retry-count': '1' });
  expect([repeated.said, (await other).said]).toEqual(['mine', 'other']);
  expect(episode.calls.map(({ turn, status }) => [turn, status])).toEqual([
    [0, 'aborted'],
    [0, 'complete'],
    [1, 'complete'],
  ]);
  expect(episode.untrainable).toBeNull();
});

it('each of two answered twins gives its own reply again', async () => {
  bench.server.turns = [{ content: 'first' }, { content: 'second' }, { content: 'third' }];
  const episode = bench.open();
  await post(episode);
  await post(episode);
  const again = [1, 2].map(async () => (await post(episode, { 'x-stainless-retry-count': '1' })).said);
  expect((await Promise.all(again)).sort()).toEqual(['first', 'second']);
  expect(bench.server.requests).toHaveLength(2);
});

it('a reply that its client never got is the one a repeat asks for', async () => {
  bench.server.turns = [{ content: 'got' }, { content: 'lost' }];
  const episode = bench.open();
  // The client goes while its reply is on its way: all but the record is missing to it.
  bench.sink.delay = 150;
  const hangUp = new AbortController();
  const waiting = post(episode, {}, hangUp.signal).catch(() => undefined);
  await expect.poll(() => bench.server.requests.length).toBe(1);
  await sleep(60);
  hangUp.abort();
  await waiting;
  bench.sink.delay = 0;
  await expect.poll(() => episode.calls.length).toBe(1);
  expect(episode.calls[0].status).toBe('complete');
  expect((await post(episode)).said).toBe('lost');
  expect((await post(episode, { 'x-stainless-retry-count': '1' })).said).toBe('got');
});

it('a call with a key is known however many come after it', async () => {
  bench.server.turns = [{ content: 'keyed' }, { content: 'later' }];
  const episode = bench.open();
  const key = (name: string) => ({ 'idempotency-key': name });
  await post(episode, key('first'));
  for (let i = 0; i < 80; i++) await post(episode, key(`k${i}`), undefined, { user: `u${i}` });
  const again = await post(episode, key('first'));
  expect([again.said, bench.server.requests.length, episode.calls.length]).toEqual(['keyed', 81, 81]);
});

it('a reply too old to be kept is not asked for anew', async () => {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(1_000_000) }, finish_reason: 'stop' }];
  bench.server.turns = [{ mutate: (reply) => ({ ...reply, choices }) }];
  const episode = bench.open();
  const key = (name: string) => ({ 'idempotency-key': name });
  for (let i = 0; i < 12; i++) await post(episode, key(`k${i}`), undefined, { user: `u${i}` });
  expect(await post(episode, key('k0'), undefined, { user: 'u0' })).toEqual({
    status: 409,
    said: 'reply_not_kept',
    again: 'false',
  });
  expect((await post(episode, key('k11'), undefined, { user: 'u11' })).status).toBe(200);
  expect(bench.server.requests).toHaveLength(12);
});

it('a closed key in the header of its own is not passed over for an open one elsewhere', async () => {
  const [closed, open] = [bench.open(), bench.open()];
  await closed.close('done');
  const ask = (headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      const request = httpRequest(`${bench.proxy.url}/v1/chat/completions`, { method: 'POST', headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      request.on('error', reject).end(JSON.stringify(body));
    });
  const bearer = { authorization: `Bearer ${open.key}` };
  const named = 'x-agentic-robo-rl-episode';
  expect(await ask({ ...bearer, [named]: closed.key })).toBe(409);
  expect(await ask({ ...bearer, [named]: 'f'.repeat(64) })).toBe(401);
  expect(await ask({ authorization: `Bearer ${closed.key}`, 'x-api-key': open.key })).toBe(409);
  expect(bench.sink.calls).toHaveLength(0);
  expect(await ask({ authorization: 'Bearer of-the-client', 'x-api-key': open.key })).toBe(200);
  expect(await ask({ authorization: `Bearer ${closed.key}`, [named]: open.key })).toBe(200);
});
