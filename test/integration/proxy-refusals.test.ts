/** Refusals reach their client as what they are, whatever it sends along. */
import { execFile } from 'node:child_process';
import * as http from 'node:http';
import { promisify } from 'node:util';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordingProxy } from '../../trainer-daemon/proxy/contract.ts';
import { startProxy } from '../../trainer-daemon/proxy/server.ts';
import { DialectBench } from './dialect-bench.ts';

const bench = new DialectBench();
const large = (bytes: number) => JSON.stringify({ messages: [{ role: 'user', content: 'z'.repeat(bytes) }] });

interface Answer {
  status: number | undefined;
  retry: unknown;
  body: string;
}

/** @throws where the connection breaks before an answer. */
function post(address: string, body: string, headers: http.OutgoingHttpHeaders = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request(address, { method: 'POST', agent: false, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode, retry: response.headers['x-should-retry'], body: text }),
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}

/**
 * Ten requests, one after the other, from a process of its own: in this one the two ends of a connection take turns, and
 * the client always reads before the connection goes. @returns statuses, or codes of errors.
 */
async function fromOutside(address: string, bytes: number, headers: http.OutgoingHttpHeaders = {}): Promise<unknown> {
  const client = `
    const http = require('node:http');
    const [address, bytes, headers] = JSON.parse(process.argv[1]);
    const body = Buffer.alloc(bytes, 122);
    const ask = () => new Promise((resolve) => {
      const request = http.request(address, { method: 'POST', agent: false, headers }, (response) => {
        response.on('end', () => resolve(response.statusCode)).on('error', (error) => resolve(error.code)).resume();
      });
      request.on('error', (error) => resolve(error.code));
      request.end(body);
    });
    (async () => {
      const seen = [];
      for (let i = 0; i < 10; i++) seen.push(await ask());
      console.log(JSON.stringify(seen));
    })();`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '-e',
    client,
    JSON.stringify([address, bytes, headers]),
  ]);
  return JSON.parse(stdout);
}

describe('a refusal of a request of many megabytes is read by its client', () => {
  let small: RecordingProxy;
  beforeAll(async () => {
    small = await startProxy({ bodyLimit: 1024 * 1024 });
  });
  afterAll(() => small?.close());
  const body = large(9_000_000);

  it.each<[number, string, string, http.OutgoingHttpHeaders]>([
    [413, 'larger than the limit', '/chat/completions', {}],
    [413, 'larger than the limit, of untold length', '/messages', { 'transfer-encoding': 'chunked' }],
    [401, 'an unknown key', '/../../f/v1/responses', {}],
    [404, 'a wrong address', '/chat/completion', {}],
    [405, 'a wrong method', '/models', {}],
    [415, 'compressed', '/responses', { 'content-encoding': 'gzip' }],
    [403, 'a foreign Host', '/chat/completions', { host: 'example.org' }],
  ])('%d: %s', async (status, _, path, headers) => {
    const { opening } = bench.open() as unknown as { opening: Parameters<RecordingProxy['openEpisode']>[0] };
    const episode = small.openEpisode({ ...opening, id: `${opening.id}-${status}` });
    const seen = await fromOutside(episode.baseUrl + path, 9_000_000, headers);
    expect(seen).toEqual(Array(10).fill(status));
    await episode.close('done');
  });

  it('409: a closed key, also to the official client, which is told not to repeat it', async () => {
    const episode = bench.open();
    await episode.close('done');
    const client = bench.openai(episode, { maxRetries: 2 });
    let requests = 0;
    const counting = bench.openai(episode, {
      maxRetries: 2,
      fetch: (...args: Parameters<typeof fetch>) => {
        requests++;
        return fetch(...args);
      },
    }) as OpenAI;
    const asked = { ...(JSON.parse(body) as { messages: [] }), model: 'm' };
    for (const each of [client, counting])
      await expect(each.chat.completions.create(asked)).rejects.toMatchObject({
        status: 409,
        message: expect.stringContaining('this episode is closed'),
      });
    expect(requests).toBe(1);
    expect(await fromOutside(`${episode.baseUrl}/chat/completions`, 9_000_000)).toEqual(Array(10).fill(409));
    const answer = await post(`${episode.baseUrl}/chat/completions`, body);
    expect(answer).toMatchObject({ status: 409, retry: 'false' });
  });

  it('answers a client that has not sent the rest yet', async () => {
    const answer = await new Promise<string>((resolve) => {
      const { port } = new URL(bench.proxy.url);
      const socket = http.request({ port, method: 'POST', path: '/v1/responses', headers: { 'content-length': 1e6 } });
      socket.on('response', (response) => {
        resolve(`${response.statusCode} ${response.headers.connection}`);
        socket.destroy();
      });
      socket.on('error', () => {});
      socket.write('{');
    });
    expect(answer).toBe('401 close');
  });
});

describe('a number beyond double precision', () => {
  const chat = '"messages": [{"role": "user", "content": "x"}]';
  const bodies: Record<string, string> = {
    'chat/completions': chat,
    responses: '"input": "x"',
    messages: `"max_tokens": 5, ${chat}`,
    completions: '"prompt": "x"',
  };
  const fields = 'temperature top_p top_k seed max_tokens presence_penalty frequency_penalty stop odd'.split(' ');

  it.each(Object.entries(bodies))('is refused by its name in /%s, and nothing is sent or lost', async (path, body) => {
    const episode = bench.open();
    for (const field of [...fields, 'max_output_tokens', 'max_completion_tokens'])
      for (const value of ['1e999', '-1e999']) {
        // A field that is there already counts as it comes last.
        const answer = await post(`${episode.baseUrl}/${path}`, `{${body}, "${field}": ${value}}`);
        expect([field, answer.status]).toEqual([field, 400]);
        expect(answer.body).toContain(`${field} is a number too large for double precision`);
      }
    const inside = await post(`${episode.baseUrl}/${path}`, `{${body}, "tools": [{"a": {"maximum": 1e999}}]}`);
    expect(inside.body).toContain('tools[0].a.maximum is a number too large');
    expect(bench.server.requests).toHaveLength(0);
    expect([episode.calls.length, episode.lostCalls, episode.untrainable]).toEqual([0, 0, null]);
  });
});
