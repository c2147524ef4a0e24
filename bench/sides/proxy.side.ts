/**
 * The processes of the proxy's benchmark, one role each: the upstream (answers as a served planner does, or at once), a
 * bare pass-through, and the recording proxy with durable recording on.
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createUpstream, startProxy } from '../../trainer-daemon/proxy/index.ts';
import { createRun } from '../../trainer-daemon/store/index.ts';
import { median } from '../measure.ts';
import { benchRun } from '../run-info.ts';

export type ProxyRole =
  | { role: 'upstream' }
  | { role: 'pass-through'; url: string }
  | { role: 'recording'; url: string };
export interface ProxyReady {
  url: string;
}
export interface ProxyEpisodes {
  baseUrls: string[];
}
export interface ProxyState {
  /** After a collection, as the kernel counts it, and the parts that Node tells. */
  residentBytes: number;
  heapBytes: number;
  /** What V8 holds for its heap, in use or not. */
  heapHeldBytes: number;
  externalBytes: number;
  diskBytes: number;
  /** What one write to this disk takes until it is durable (median). */
  flushMilliseconds: number;
}

const FIRST_TOKEN = 200;
const TOKEN = 20;
const TOKENS = 20;

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const entry = (i: number) => ({ token: `token_id:${i}`, logprob: -0.5, bytes: [97], top_logprobs: [] });
const ids = Array.from({ length: TOKENS }, (_, i) => 100 + i);
const usage = { prompt_tokens: 3, completion_tokens: TOKENS, total_tokens: 3 + TOKENS };
const WHOLE = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  prompt_token_ids: [1, 2, 3],
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'word '.repeat(TOKENS) },
      token_ids: ids,
      logprobs: { content: ids.map(entry) },
      finish_reason: 'stop',
    },
  ],
  usage,
});
const chunk = (choice: object, root: object = {}) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...root, choices: [{ index: 0, ...choice }] })}\n\n`;

async function answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const instant = request.url?.startsWith('/instant') ?? false;
  // Only the end of a large body is looked at.
  const stream = Buffer.concat(parts).includes('"stream":true');
  if (!stream) {
    if (!instant) await sleep(FIRST_TOKEN + TOKENS * TOKEN);
    response.setHeader('content-type', 'application/json');
    response.end(WHOLE);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (!instant) await sleep(FIRST_TOKEN);
  const began = performance.now();
  for (const [i, id] of ids.entries()) {
    if (!instant) await sleep(began + i * TOKEN - performance.now());
    const prompt = i === 0 ? { prompt_token_ids: [1, 2, 3] } : {};
    response.write(
      chunk(
        { delta: { content: 'word ' }, token_ids: [id], logprobs: { content: [entry(id)] }, finish_reason: null },
        prompt,
      ),
    );
  }
  response.write(chunk({ delta: {}, finish_reason: 'stop' }));
  response.end(
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [], usage })}\n\ndata: [DONE]\n\n`,
  );
}

function passOn(upstream: string): http.RequestListener {
  const agent = new http.Agent({ keepAlive: true });
  return (request, response) => {
    const onward = http.request(
      upstream + request.url,
      { method: request.method, headers: request.headers, agent },
      (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  };
}

async function serve(listener: http.RequestListener): Promise<ProxyReady> {
  const server = http.createServer(listener);
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function flush(directory: string): number {
  const file = join(directory, 'flush');
  const handle = openSync(file, 'w');
  const taken = Array.from({ length: 51 }, () => {
    const started = performance.now();
    writeSync(handle, 'x'.repeat(1000));
    fdatasyncSync(handle);
    return performance.now() - started;
  });
  closeSync(handle);
  rmSync(file);
  return median(taken);
}

async function recording(upstream: string) {
  const directory = mkdtempSync(join(tmpdir(), 'proxy-bench-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  const run = await createRun(join(directory, 'run'), benchRun);
  const proxy = await startProxy();
  let number = 0;
  let running: ReturnType<typeof proxy.openEpisode>[] = [];
  const open = (speed: string) =>
    proxy.openEpisode({
      id: `bench.${number++}`,
      role: 'rollout',
      upstream: createUpstream({ kind: 'vllm', url: `${upstream}/${speed}/v1`, model: 'm', policyVersion: () => 0 }),
      sampling: { temperature: 1, topP: 1, topK: -1, presencePenalty: 0 },
      responseTokens: 64,
      turns: Number.MAX_SAFE_INTEGER,
      sink: run.section('rounds/0001'),
      onUpstreamFailure: 'pass',
    });
  const disk = () =>
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .reduce((sum, each) => sum + statSync(join(each.parentPath, each.name)).size, 0);
  return {
    url: proxy.url,
    /** Ends the episodes that were opened before, as those of a training end. */
    async episodes(count: number, speed: string): Promise<ProxyEpisodes> {
      await Promise.all(running.map((episode) => episode.close('done')));
      running = Array.from({ length: count }, () => open(speed));
      return { baseUrls: running.map(({ baseUrl }) => baseUrl) };
    },
    state(): ProxyState {
      globalThis.gc?.();
      const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
      return {
        residentBytes: rss,
        heapBytes: heapUsed,
        heapHeldBytes: heapTotal,
        externalBytes: external,
        diskBytes: disk(),
        flushMilliseconds: flush(directory),
      };
    },
  };
}

let recorder: Awaited<ReturnType<typeof recording>> | undefined;
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line) as ProxyRole | { episodes: number; speed: string } | { state: true };
  let reply: object;
  try {
    if ('episodes' in asked) reply = (await recorder?.episodes(asked.episodes, asked.speed)) ?? {};
    else if ('state' in asked) reply = recorder?.state() ?? {};
    else if (asked.role === 'upstream') reply = await serve((request, response) => void answer(request, response));
    else if (asked.role === 'pass-through') reply = await serve(passOn(asked.url));
    else {
      recorder = await recording(asked.url);
      reply = { url: recorder.url };
    }
  } catch (error) {
    reply = { error: (error as Error).message };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
process.exit(0);
