/** `proxy` by its options: an episode per connection with clients that keep several, failures, limits, a served planner. */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ResolvedCall } from '../../protocol/records.ts';
import { isDamaged, openRecording } from '../../recordings/index.ts';
import { initialisePlanner } from '../../trainer-daemon/planner/initialise.ts';
import { startVllmServer, type Turn, type VllmServer } from '../doubles/vllm-server.ts';
import { type Running, startCli } from './cli-process.ts';

let folder: string;
let server: VllmServer;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'arrl proxy '));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(async () => {
  server = await startVllmServer();
});
afterEach(() => server?.close());

interface Listening {
  baseUrl: string;
  apiKey: string;
}

async function start(record: string, ...more: string[]): Promise<{ running: Running; at: Listening }> {
  const upstream = ['--upstream', server.url, '--upstream-kind', 'vllm', '--model', 'm'];
  const running = startCli(folder, ['proxy', ...upstream, '--record', record, '--json', ...more]);
  return { running, at: JSON.parse(await running.line(/"listening"/)) as Listening };
}

interface Summary {
  episodes: number;
  byStatus: Record<string, number>;
  trainable: number;
  notices: string[];
  warnings: string[];
}

async function end(running: Running): Promise<Summary> {
  const { code, out, err } = await running.end('SIGINT');
  expect([code, err]).toEqual([0, '']);
  const lines = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const notices = lines.filter(({ kind }) => kind === 'notice').map(({ text }) => text as string);
  return { ...(lines.at(-1) as Summary), notices };
}

async function recorded(record: string): Promise<ResolvedCall[]> {
  const recording = await openRecording(join(folder, record));
  const calls: ResolvedCall[] = [];
  for await (const call of await recording.calls('evaluations/recorded')) {
    const resolved = isDamaged(call) ? call : await recording.resolveCall(call);
    if (isDamaged(resolved)) throw new Error(resolved.damaged);
    calls.push(resolved);
  }
  await recording.close();
  return calls;
}

// The double counts fifty prompt tokens.
const request = { model: 'any', messages: [{ role: 'user' as const, content: 'x'.repeat(50) }] };
const failing: Turn = {
  raw: (response) => {
    response.writeHead(500).end('boom');
  },
};

/** One request; an agent of its own is a connection of its own. */
function ask(url: string, headers: Record<string, string>, agent: Agent, path = '/chat/completions') {
  return new Promise<{ status: number; body: string; again: unknown }>((resolve, reject) => {
    const sent = httpRequest(url + path, { method: 'POST', agent, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        body += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body, again: response.headers['x-should-retry'] }),
      );
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(request));
  });
}

describe('an episode per connection', () => {
  it('a marked repeat over another connection goes to the episode of its first try', async () => {
    server.turns = [failing, { content: 'well' }];
    const { running, at } = await start('repeat', '--new-episode-per', 'connection');
    const [first, second] = [new Agent(), new Agent({ keepAlive: true })];
    const headers = { authorization: `Bearer ${at.apiKey}` };
    // Its connection closes with the failure, as clients do that time out.
    expect((await ask(at.baseUrl, headers, first)).status).toBe(500);
    expect((await ask(at.baseUrl, { ...headers, 'x-stainless-retry-count': '1' }, second)).status).toBe(200);
    expect(await end(running)).toMatchObject({ episodes: 1, trainable: 1, byStatus: { complete: 1 } });
    second.destroy();
    expect((await recorded('repeat')).map(({ status, retryOf }) => [status, retryOf !== null])).toEqual([
      ['upstream-error', false],
      ['complete', true],
    ]);
  });

  it('the official client repeats within the episode, whichever of its connections it takes', async () => {
    server.turns = [{ content: 'one' }, failing, { content: 'two' }];
    const { running, at } = await start('client', '--new-episode-per', 'connection');
    const client = new OpenAI({ baseURL: at.baseUrl, apiKey: at.apiKey, maxRetries: 3 });
    await client.chat.completions.create(request);
    const second = { ...request, messages: [{ role: 'user' as const, content: 'y'.repeat(50) }] };
    await client.chat.completions.create(second);
    const { byStatus, episodes, trainable } = await end(running);
    expect(byStatus).toEqual({ complete: 2, 'upstream-error': 1 });
    // Whole, all of them: no episode is left with a failure that was made good elsewhere.
    expect(trainable).toBe(episodes);
  });

  it('says so when two connections are open that may be of one client', async () => {
    const { running, at } = await start('several', '--new-episode-per', 'connection');
    const agents = [1, 2, 3].map(() => new Agent({ keepAlive: true }));
    const headers = { authorization: `Bearer ${at.apiKey}` };
    for (const agent of agents) expect((await ask(at.baseUrl, headers, agent)).status).toBe(200);
    const named = { ...headers, 'user-agent': 'OpenAI/JS 6.0' };
    const others = [1, 2, 3].map(() => new Agent({ keepAlive: true }));
    for (const agent of others) expect((await ask(at.baseUrl, named, agent)).status).toBe(200);
    const { warnings, episodes } = await end(running);
    for (const agent of [...agents, ...others]) agent.destroy();
    expect(episodes).toBe(6);
    // Once for each kind of client, which it names.
    const advice = '.*several connections.*--new-episode-per never.*--open-episode';
    expect(warnings).toEqual([
      expect.stringMatching(`^two connections without a user-agent are open${advice}`),
      expect.stringMatching(`^two connections of "OpenAI/JS 6.0" are open${advice}`),
    ]);
  });

  it("takes the key in the address, and refuses in the client's own shape", async () => {
    const { running, at } = await start('door', '--new-episode-per', 'connection', '--body-limit', '1');
    const agent = new Agent({ keepAlive: true });
    const root = at.baseUrl.replace(/\/v1$/, '');
    expect((await ask(`${root}/e/${at.apiKey}/v1`, {}, agent)).status).toBe(200);
    expect((await ask(`${root}/e/${'f'.repeat(64)}/v1`, {}, agent)).status).toBe(401);
    const anthropic = await ask(
      at.baseUrl,
      { 'x-api-key': 'no', 'anthropic-version': '2023-06-01' },
      agent,
      '/messages',
    );
    expect(JSON.parse(anthropic.body)).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
    expect([anthropic.status, anthropic.again]).toEqual([401, 'false']);
    const large = await fetch(`${at.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${at.apiKey}` },
      body: JSON.stringify({ ...request, user: 'x'.repeat(2 ** 20) }),
    });
    expect([large.status, await large.text()]).toEqual([413, expect.stringContaining('request_too_large')]);
    expect((await end(running)).byStatus).toEqual({ complete: 1 });
    agent.destroy();
  });
});

it('fails fast and after the silence that it is told', async () => {
  server.turns = [{ raw: () => {} }];
  const { running, at } = await start('fast', '--on-upstream-failure', 'fail-fast', '--silence-seconds', '1');
  const reply = await ask(at.baseUrl, { authorization: `Bearer ${at.apiKey}` }, new Agent());
  expect([reply.status, reply.again, reply.body]).toEqual([424, 'false', expect.stringContaining('for 1 s')]);
  expect((await end(running)).byStatus).toEqual({ timeout: 1 });
});

it('takes requests up to the size that it is told', async () => {
  const { running, at } = await start('large', '--body-limit', '40');
  const post = (megabytes: number) =>
    fetch(`${at.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${at.apiKey}` },
      body: JSON.stringify({ ...request, user: 'x'.repeat(megabytes * 2 ** 20) }),
    }).then(
      ({ status }) => status,
      () => 413,
    );
  expect([await post(35), await post(41)]).toEqual([200, 413]);
  await end(running);
});

it('records the version of a served planner, and its plain completions', async () => {
  const init = { layers: 1, hidden: 32, intermediate: 48, heads: 2, kvHeads: 1, vocabulary: 300, context: 256 };
  await initialisePlanner(join(folder, 'tiny'), init, ['move to the lamp'], 1);
  const serving = startCli(folder, ['serve', 'tiny', '--json']);
  const { url } = JSON.parse(await serving.line(/"url"/)) as { url: string };
  const running = startCli(folder, [
    'proxy',
    '--upstream',
    url,
    '--record',
    'served',
    '--json',
    '--response-tokens',
    '4',
  ]);
  const at = JSON.parse(await running.line(/"listening"/)) as Listening;
  const client = new OpenAI({ baseURL: at.baseUrl, apiKey: at.apiKey, maxRetries: 0 });
  await client.chat.completions.create({ ...request, messages: [{ role: 'user', content: 'hi' }] });
  expect((await client.completions.create({ model: 'any', prompt: 'hi' })).choices).toHaveLength(1);
  expect(await end(running)).toMatchObject({ byStatus: { complete: 2 }, trainable: 1, notices: [] });
  await serving.end('SIGINT');
  expect((await recorded('served')).map(({ surface, policyVersion }) => [surface, policyVersion])).toEqual([
    ['chat', 0],
    ['completions', 0],
  ]);
});
