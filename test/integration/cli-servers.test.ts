/** Commands that serve until they are told to end: `proxy`, `serve` and `daemon`. */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isDamaged, openRecording } from '../../recordings/index.ts';
import { initialisePlanner } from '../../trainer-daemon/planner/initialise.ts';
import { startVllm } from '../doubles/wire/vllm.ts';
import { type ChatServer, startChatServer } from './chat-server.ts';
import { cli, startCli } from './cli-process.ts';

let folder: string;
let upstream: ChatServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'arrl servers ü-'));
  upstream = await startChatServer((request) => ({ content: `you said ${request.messages.length}` }));
});
afterAll(async () => {
  await upstream?.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Listening {
  baseUrl: string;
  apiKey: string;
  directory: string;
}

/** One chat request over an agent of its own, so that tests decide which requests share a connection. */
function ask(
  at: Pick<Listening, 'baseUrl' | 'apiKey'>,
  text: string,
  agent: Agent,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${at.baseUrl}/chat/completions`,
      { method: 'POST', agent, headers: { authorization: `Bearer ${at.apiKey}`, 'content-type': 'application/json' } },
      (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          body += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      },
    );
    request.on('error', reject);
    request.end(JSON.stringify({ model: 'any', messages: [{ role: 'user', content: text }], temperature: 0.3 }));
  });
}

const options = (record: string, ...more: string[]) => [
  'proxy',
  '--upstream',
  upstream.url,
  '--upstream-kind',
  'openai',
  '--model',
  'big',
  '--record',
  record,
  '--json',
  ...more,
];

describe('proxy', () => {
  it('records one episode, tells the calls as they come, and sums up at Ctrl-C', async () => {
    const running = startCli(folder, options('one', '--temperature', '0.7', '--api-key-environment', 'UP_KEY'), {
      UP_KEY: 'upstream-secret',
    });
    const at = JSON.parse(await running.line(/"listening"/)) as Listening;
    const agent = new Agent({ keepAlive: true });
    expect((await ask(at, 'hello', agent)).body).toContain('you said 1');
    expect((await ask({ ...at, apiKey: 'x'.repeat(64) }, 'hello', agent)).status).toBe(401);
    await ask(at, 'again', agent);
    await running.line(/"turn":1/);
    const { code, out, err } = await running.end('SIGINT');
    agent.destroy();
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out.trim().split('\n').at(-1) ?? '')).toMatchObject({
      kind: 'summary',
      episodes: 1,
      calls: 2,
      byStatus: { complete: 2 },
      lost: 0,
    });
    expect(out).not.toContain('upstream-secret');
    expect(upstream.requests.at(-1)).toMatchObject({
      authorization: 'Bearer upstream-secret',
      body: { model: 'big', temperature: 0.7 },
    });

    const recording = await openRecording(join(folder, 'one'));
    const calls = await recording.calls('evaluations/recorded');
    const call = await calls.get(0);
    if (isDamaged(call)) throw new Error(call.damaged);
    expect([call.samplingAsked.temperature, call.samplingSent.temperature]).toEqual([0.3, 0.7]);
    const resolved = await recording.resolveCall(call);
    expect(isDamaged(resolved) ? null : resolved.request.messages).toEqual([{ role: 'user', content: 'hello' }]);
    const episodes = await recording.episodes('evaluations/recorded');
    expect(await episodes.get(0)).toMatchObject({
      valid: false,
      turns: 2,
      invalidReason: expect.stringMatching(
        /^recorded without an adapter: no outcome; not to be trained on: turn 0: .* tells no token ids/,
      ),
    });
    await recording.close();
  });

  it('serves other dialects at the address it tells, and notes once what has no counterpart', async () => {
    const running = startCli(folder, options('dialects'));
    const { environment } = JSON.parse(await running.line(/"listening"/)) as { environment: Record<string, string> };
    const post = async () => {
      const response = await fetch(`${environment.ANTHROPIC_BASE_URL}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': environment.ANTHROPIC_API_KEY, 'anthropic-version': '2023-06-01' },
        body: JSON.stringify({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }], odd: 1 }),
      });
      return (await response.json()) as { type: string; content: unknown };
    };
    expect(await post()).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'you said 1' }] });
    await post();
    const { out } = await running.end('SIGINT');
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string; text?: string });
    const notices = lines.filter(({ kind }) => kind === 'notice');
    expect(notices).toEqual([{ kind: 'notice', text: expect.stringContaining('"odd"') }]);
  });

  it('makes every connection an episode, all under one key', async () => {
    const running = startCli(folder, options('many', '--new-episode-per', 'connection'));
    const at = JSON.parse(await running.line(/"listening"/)) as Listening;
    const first = new Agent({ keepAlive: true, maxSockets: 1 });
    await ask(at, 'a', first);
    await ask(at, 'b', first);
    const second = new Agent({ keepAlive: true, maxSockets: 1 });
    await ask(at, 'c', second);
    expect((await ask({ ...at, apiKey: 'wrong' }, 'd', second)).status).toBe(401);
    first.destroy();
    const { code, out } = await running.end('SIGTERM');
    second.destroy();
    expect(code).toBe(0);
    expect(JSON.parse(out.trim().split('\n').at(-1) ?? '')).toMatchObject({ episodes: 2, calls: 3 });
    const recording = await openRecording(join(folder, 'many'));
    const turns: number[] = [];
    for await (const episode of await recording.episodes('evaluations/recorded'))
      if (!isDamaged(episode)) turns.push(episode.turns);
    expect(turns.sort()).toEqual([1, 2]);
    await recording.close();
  });

  it('prints what a shell can take over, and refuses a folder that holds something', async () => {
    const running = startCli(
      folder,
      options('shell').filter((word) => word !== '--json'),
    );
    const base = await running.line(/^export OPENAI_BASE_URL=/);
    expect(base).toMatch(/^export OPENAI_BASE_URL=http:\/\/127\.0\.0\.1:\d+\/v1$/);
    expect(await running.line(/^export OPENAI_API_KEY=/)).toMatch(/^export OPENAI_API_KEY=[0-9a-f]{64}$/);
    const { out } = await running.end('SIGINT');
    expect(out).toContain('1 episode, 0 calls in');
    const again = await cli(folder, options('shell'));
    expect([again.code, again.err]).toEqual([
      2,
      expect.stringMatching(/holds a run already, and a recording cannot be gone on with: name another folder/),
    ]);
  });

  it.each([
    [['--upstream-kind', 'vllmm'], 'Allowed choices are auto, vllm, sglang, llamacpp, embedded, openai'],
    [['--temperature', 'hot'], 'it must be a number from 0 to 5'],
    [['--api-key-environment', 'NO_SUCH_VARIABLE'], 'the environment variable NO_SUCH_VARIABLE is not set'],
    [['--upstream', 'ftp://x'], 'is not an http or https URL'],
  ])('refuses %j', async (words, sentence) => {
    const { code, err } = await cli(folder, options('refused', ...words));
    expect([code, err]).toEqual([2, expect.stringContaining(sentence)]);
  });
});

describe('proxy before a server that tells token ids', () => {
  it('finds out kind and model, serves further episodes, and sums up what may be trained on', async () => {
    const server = await startVllm({ model: 'qwen' });
    const words = ['proxy', '--upstream', server.url, '--record', 'auto', '--json'];
    const running = startCli(folder, words);
    const at = JSON.parse(await running.line(/"listening"/)) as Listening & Record<string, Record<string, string>>;
    expect(at).toMatchObject({ model: 'qwen', upstream: 'vllm' });
    expect(at.environment).toMatchObject({
      OPENAI_BASE_URL: at.baseUrl,
      CODEX_BASE_URL: at.baseUrl,
      ANTHROPIC_BASE_URL: at.baseUrl.replace('/v1', ''),
      ANTHROPIC_API_KEY: at.apiKey,
    });
    const agent = new Agent({ keepAlive: true });
    expect((await ask(at, 'one', agent)).status).toBe(200);

    const opened = await cli(folder, ['proxy', '--open-episode', '--record', 'auto', '--json']);
    expect([opened.code, opened.err]).toEqual([0, '']);
    const next = JSON.parse(opened.out) as { key: string; baseUrl: string; model: string };
    expect(next.key).not.toBe(at.apiKey);
    expect(next.model).toBe('qwen');
    expect((await ask({ baseUrl: next.baseUrl, apiKey: next.key }, 'two', agent)).status).toBe(200);
    expect((await ask({ baseUrl: at.baseUrl, apiKey: next.key }, 'three', agent)).status).toBe(200);

    expect((await cli(folder, ['proxy', '--close-episode', next.key, '--record', 'auto'])).code).toBe(0);
    expect((await ask({ baseUrl: next.baseUrl, apiKey: next.key }, 'late', agent)).status).toBe(409);
    const again = await cli(folder, ['proxy', '--close-episode', next.key, '--record', 'auto']);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('no open episode')]);
    if (process.platform !== 'win32') expect(statSync(join(folder, 'auto', 'proxy.json')).mode & 0o077).toBe(0);

    const { code, out } = await running.end('SIGINT');
    agent.destroy();
    await server.close();
    expect(code).toBe(0);
    expect(JSON.parse(out.trim().split('\n').at(-1) ?? '')).toMatchObject({
      episodes: 2,
      calls: 3,
      trainable: 2,
      untrainable: {},
    });
    expect(existsSync(join(folder, 'auto', 'proxy.json'))).toBe(false);
    const late = await cli(folder, ['proxy', '--open-episode', '--record', 'auto']);
    expect([late.code, late.err]).toEqual([2, expect.stringContaining('no proxy records into')]);
  });

  it('takes the key in the headers of other dialects, also where each connection is an episode', async () => {
    const server = await startVllm();
    const words = ['proxy', '--upstream', server.url, '--record', 'each', '--new-episode-per', 'connection', '--json'];
    const running = startCli(folder, words);
    const at = JSON.parse(await running.line(/"listening"/)) as Listening;
    for (const name of ['x-api-key', 'x-agentic-robo-rl-episode']) {
      const response = await fetch(`${at.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { [name]: at.apiKey },
        body: JSON.stringify({ messages: [{ role: 'user', content: name }] }),
      });
      expect(response.status, name).toBe(200);
    }
    const { out } = await running.end('SIGINT');
    await server.close();
    expect(JSON.parse(out.trim().split('\n').at(-1) ?? '')).toMatchObject({ calls: 2 });
  });

  it('says why calls may not be trained on', async () => {
    const server = await startVllm({ lies: { noLogprobs: true } });
    const running = startCli(folder, ['proxy', '--upstream', server.url, '--record', 'why']);
    const url = (await running.line(/^export OPENAI_BASE_URL=/)).split('=')[1];
    const key = (await running.line(/^export OPENAI_API_KEY=/)).split('=')[1];
    const agent = new Agent();
    await ask({ baseUrl: url, apiKey: key }, 'one', agent);
    const { out } = await running.end('SIGINT');
    await server.close();
    expect(out).toContain('vLLM; its models are owned by "vllm"');
    expect(out).toMatch(/Anthropic Messages\s+http:.*\/v1\/messages/);
    expect(out).toContain('not to be trained on: 1 episode, because no log-probs came with the response');
  });

  it('says that nobody answers', async () => {
    const { code, err } = await cli(folder, ['proxy', '--upstream', 'http://127.0.0.1:9', '--record', 'nobody']);
    expect([code, err]).toEqual([2, expect.stringContaining('ECONNREFUSED')]);
    expect(existsSync(join(folder, 'nobody'))).toBe(false);
  });
});

describe('serve', () => {
  beforeAll(async () => {
    const init = { layers: 1, hidden: 32, intermediate: 48, heads: 2, kvHeads: 1, vocabulary: 300, context: 256 };
    await initialisePlanner(join(folder, 'tiny planner'), init, ['move to the lamp'], 1);
  });

  it('answers chat completions under the key it was given, and ends at Ctrl-C', async () => {
    const running = startCli(
      folder,
      ['serve', 'tiny planner', '--model', 'tiny', '--api-key-environment', 'KEY', '--json'],
      { KEY: 'abc' },
    );
    const { url, context } = JSON.parse(await running.line(/"url"/)) as { url: string; context: number };
    expect(context).toBe(256);
    const body = JSON.stringify({
      model: 'tiny',
      messages: [{ role: 'user', content: 'hi' }],
      max_tokens: 4,
      logprobs: true,
    });
    const post = (key: string) =>
      fetch(`${url}/chat/completions`, { method: 'POST', body, headers: { authorization: `Bearer ${key}` } });
    expect((await post('wrong')).status).toBe(401);
    const reply = (await (await post('abc')).json()) as { choices: { logprobs: { content: unknown[] } }[] };
    expect(reply.choices[0].logprobs.content.length).toBeGreaterThan(0);
    expect((await running.end('SIGINT')).code).toBe(0);
  });

  it('says what is wrong with a checkpoint', async () => {
    const { code, err } = await cli(folder, ['serve', 'nowhere']);
    expect(code).toBe(2);
    expect(err).toMatch(/nowhere/);
  });
});

describe('daemon', () => {
  const alive = (pid: number) => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  };

  it('serves the folder until Ctrl-C, once, and does not outlive its command', async () => {
    const env = { AGENTIC_ROBO_RL_STATE: join(folder, 'state') };
    const first = startCli(folder, ['daemon', '--json'], env);
    const ready = JSON.parse(await first.line(/"ready"/)) as { pid: number; workspace: string; log: string };
    expect(ready).toMatchObject({ type: 'ready', workspace: folder });
    const second = await cli(folder, ['daemon', '.'], env);
    expect([second.code, second.err]).toEqual([1, expect.stringContaining(`${folder} has a daemon already: process`)]);
    const { code, err } = await first.end('SIGINT');
    expect([code, err]).toEqual([0, expect.stringContaining('ending; a run at work')]);
    expect(alive(ready.pid)).toBe(false);

    const third = startCli(folder, ['daemon'], env);
    const pid = Number(/^process (\d+),/.exec(await third.line(/^process/))?.[1]);
    third.child.kill('SIGKILL');
    await third.ended;
    await expect.poll(() => alive(pid), { timeout: 20_000 }).toBe(false);
    expect(existsSync(join(folder, '.agentic-robo-rl', 'daemon.json'))).toBe(false);
  });

  it('says what is wrong with a folder', async () => {
    const { code, err } = await cli(folder, ['daemon', 'nowhere']);
    expect([code, err]).toEqual([1, expect.stringContaining('nowhere')]);
  });
});
