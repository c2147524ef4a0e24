/**
 * The truth table of failures: each row is a fault that is really injected, with what the harness gets, what is recorded
 * and whether the episode stays trainable. docs/proxy-failures.md is written from these rows (`npx vitest run
 * test/integration/proxy-failures.test.ts -u`) and held against them.
 */
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { EpisodeRecord } from '../../protocol/records.ts';
import type { EpisodeOpening, ProxyEpisode, RecordingProxy } from '../../trainer-daemon/proxy/contract.ts';
import { createUpstream, startProxy } from '../../trainer-daemon/proxy/index.ts';
import { PolicyGate } from '../../trainer-daemon/proxy/policy-gate.ts';
import { judgeEpisode } from '../../trainer-daemon/rollouts/verdict.ts';
import { checkRecord } from '../../trainer-daemon/samples/record.ts';
import {
  type Fault,
  type FaultyServer,
  goodReply,
  json,
  startFaultyServer,
  streamBegin,
} from '../doubles/faulty-server.ts';
import { WatchedSection } from '../doubles/watched-section.ts';

type Manner = EpisodeOpening['onUpstreamFailure'];

interface Row {
  fault: string;
  stream?: boolean;
  /** The faults of the upstream, one a request. */
  upstream?: Fault[];
  url?: string;
  /** What else happens, in place of one plain request. @returns what the harness saw. */
  play?: (scene: Scene) => Promise<string>;
  opening?: Partial<EpisodeOpening>;
  /** What the harness gets: status, code, headers that matter. */
  pass: string;
  /** The same with `onUpstreamFailure: 'fail-fast'`; the same as `pass` when left out. */
  failFast?: string;
  /** Status of each record, in order. */
  recorded: string;
  trainable: string;
  /** What the record's error says. */
  says?: RegExp;
}

interface Scene {
  episode: ProxyEpisode;
  server: FaultyServer;
  sink: WatchedSection;
  ask(text?: string, headers?: Record<string, string>, signal?: AbortSignal): Promise<string>;
}

const NO_REPEAT = 'no: it failed and no repeat of it completed';
const send =
  (text: string, after?: 'end' | 'reset'): Fault =>
  (socket) => {
    socket.write(text);
    if (after === 'end') socket.end();
    if (after === 'reset') setTimeout(() => socket.resetAndDestroy(), 30);
  };
/** A server whose weights change for ever, and which holds no calls meanwhile. */
function changing() {
  const gate = new PolicyGate({ calls: 0 });
  gate.during(() => new Promise(() => {}));
  return createUpstream({ kind: 'vllm', url: 'http://127.0.0.1:9', model: 'm', policyVersion: () => 3, gate });
}
const hang: Fault = () => {};
const first = streamBegin;

const ROWS: Row[] = [
  {
    fault: 'nobody listens at the address (connection refused)',
    url: 'http://127.0.0.1:9',
    pass: '502 upstream_failed',
    failFast: '424 upstream_failed, x-should-retry: false',
    recorded: 'upstream-error',
    trainable: NO_REPEAT,
    says: /ECONNREFUSED/,
  },
  {
    fault: 'the connection is reset before a reply',
    // Twice: the first time may be on a connection kept from an earlier call, which is replaced by a fresh one.
    upstream: [(socket) => socket.resetAndDestroy(), (socket) => socket.resetAndDestroy()],
    pass: '502 upstream_failed',
    failFast: '424 upstream_failed, x-should-retry: false',
    recorded: 'upstream-error',
    trainable: NO_REPEAT,
    says: /ECONNRESET|hang up/,
  },
  {
    fault: 'the connection is reset in the middle of a reply',
    upstream: [send(goodReply().slice(0, -40), 'reset')],
    pass: '502 upstream_failed',
    failFast: '424 upstream_failed, x-should-retry: false',
    recorded: 'upstream-error',
    trainable: NO_REPEAT,
    says: /ECONNRESET|aborted|hang up/,
  },
  {
    fault: 'content-length is longer than the body',
    upstream: [send(json('200 OK', '{"choices":[]}', '', 500), 'end')],
    pass: '502 upstream_failed',
    failFast: '424 upstream_failed, x-should-retry: false',
    recorded: 'upstream-error',
    trainable: NO_REPEAT,
    says: /ECONNRESET|aborted|hang up/,
  },
  {
    fault: 'content-length is shorter than the body',
    upstream: [send(json('200 OK', '{"choices":[{"index":0,"message":{}}]}', '', 20))],
    pass: '502 upstream_failed',
    failFast: '424 upstream_failed, x-should-retry: false',
    recorded: 'upstream-error',
    trainable: NO_REPEAT,
    says: /not JSON/,
  },
  {
    fault: 'no byte of a reply within the limit',
    upstream: [hang],
    opening: { silenceSeconds: 0.2 },
    pass: '504 upstream_failed',
    failFast: '424 upstream_failed, x-should-retry: false',
    recorded: 'timeout',
    trainable: NO_REPEAT,
    says: /nothing came from it for 0.2 s/,
  },
  {
    fault: 'status 429',
    upstream: [send(json('429 Too Many Requests', '{"error":{"message":"slow down"}}', 'retry-after: 7\r\n'))],
    pass: '429 as the upstream wrote it, retry-after: 7',
    failFast: '424 upstream_failed, x-should-retry: false',
    recorded: 'upstream-error',
    trainable: NO_REPEAT,
    says: /HTTP 429: slow down/,
  },
  {
    fault: 'status 500',
    upstream: [send(json('500 Internal Server Error', 'boom'))],
    pass: '500 upstream_failed',
    failFast: '424 upstream_failed, x-should-retry: false',
    recorded: 'upstream-error',
    trainable: NO_REPEAT,
    says: /HTTP 500: boom/,
  },
  {
    fault: 'status 500, then well when the client repeats the request (retry header, same body)',
    upstream: [send(json('500 Internal Server Error', 'boom'))],
    play: async ({ ask }) => {
      await ask();
      return ask('go', { 'x-stainless-retry-count': '1' });
    },
    pass: '200',
    recorded: 'upstream-error, complete (retryOf the first)',
    trainable: 'yes',
  },
  {
    fault: 'the reply is not JSON',
    upstream: [send(json('200 OK', '<html>gateway</html>'))],
    pass: '502 upstream_failed',
    failFast: '424 upstream_failed, x-should-retry: false',
    recorded: 'upstream-error',
    trainable: NO_REPEAT,
    says: /not JSON/,
  },
  {
    fault: 'the reply is JSON, but no chat completion',
    upstream: [send(json('200 OK', '{"choices":[]}'))],
    pass: '502 upstream_failed',
    failFast: '424 upstream_failed, x-should-retry: false',
    recorded: 'upstream-error',
    trainable: NO_REPEAT,
    says: /no choices/,
  },
  {
    fault: 'the server broke the response off (finish reason `abort` or `error`)',
    upstream: [send(goodReply((reply) => ({ ...reply, choices: [{ ...reply.choices[0], finish_reason: 'abort' }] })))],
    pass: '502 upstream_failed',
    failFast: '424 upstream_failed, x-should-retry: false',
    recorded: 'upstream-error',
    trainable: NO_REPEAT,
    says: /broken off by the server \(finish reason "abort"\)/,
  },
  {
    fault: 'the reply has no finish reason',
    upstream: [send(goodReply((reply) => ({ ...reply, choices: [{ ...reply.choices[0], finish_reason: null }] })))],
    pass: '502 upstream_failed',
    failFast: '424 upstream_failed, x-should-retry: false',
    recorded: 'upstream-error',
    trainable: NO_REPEAT,
    says: /no finish reason/,
  },
  {
    fault: 'the prompt is longer than the context',
    upstream: [send(json('400 Bad Request', '{"error":{"message":"maximum context length is 2048 tokens"}}'))],
    pass: '400 as the upstream wrote it, x-should-retry: false',
    recorded: 'limit',
    trainable: 'yes (without this call)',
  },
  {
    fault: 'the stream ends before its finish chunk',
    stream: true,
    upstream: [send(first, 'end')],
    pass: '200, the events so far, then an error event (upstream_failed), no [DONE]',
    recorded: 'upstream-error',
    trainable: NO_REPEAT,
    says: /broke off before its finish chunk/,
  },
  {
    fault: 'the stream is reset',
    stream: true,
    upstream: [send(first, 'reset')],
    pass: '200, the events so far, then an error event (upstream_failed), no [DONE]',
    recorded: 'upstream-error',
    trainable: NO_REPEAT,
    says: /ECONNRESET|aborted|broke off/,
  },
  {
    fault: 'the stream stops for longer than the limit',
    stream: true,
    upstream: [send(first)],
    opening: { silenceSeconds: 0.2 },
    pass: '200, the events so far, then an error event (upstream_failed), no [DONE]',
    recorded: 'timeout',
    trainable: NO_REPEAT,
    says: /nothing came/,
  },
  {
    fault: 'an event of the stream is not JSON',
    stream: true,
    upstream: [send(`${first}data: {"choi\n\n`, 'end')],
    pass: '200, the events so far, then an error event (upstream_failed), no [DONE]',
    recorded: 'upstream-error',
    trainable: NO_REPEAT,
    says: /not JSON/,
  },
  {
    fault: 'JSON comes where a stream was asked for',
    stream: true,
    upstream: [send(goodReply())],
    pass: '502 upstream_failed',
    failFast: '424 upstream_failed, x-should-retry: false',
    recorded: 'upstream-error',
    trainable: NO_REPEAT,
    says: /a streamed reply was asked for/,
  },
  {
    fault: 'the reply is of another policy version than the call was sent to',
    upstream: [send(goodReply((reply) => ({ ...reply, policy_version: 4 })))],
    pass: '502 upstream_failed',
    failFast: '424 upstream_failed, x-should-retry: false',
    recorded: 'upstream-error',
    trainable: NO_REPEAT,
    says: /sent to version 3, answered by version 4/,
  },
  {
    fault: 'the reply lacks token ids',
    upstream: [
      send(
        goodReply(({ prompt_token_ids: _, ...reply }) => ({
          ...reply,
          choices: reply.choices.map(({ token_ids: _ids, logprobs: _logprobs, ...choice }) => choice),
        })),
      ),
    ],
    pass: '200',
    recorded: 'complete',
    trainable: 'no: no prompt token ids came',
  },
  {
    fault: 'there are more log-probs than token ids',
    upstream: [
      send(
        goodReply((reply) => {
          reply.choices[0].token_ids = [5];
          return reply;
        }),
      ),
    ],
    pass: '200',
    recorded: 'complete',
    trainable: 'no: the ids told with the log-probs are not the response token ids',
  },
  {
    fault: 'the reply has several choices (the one of index 0 is recorded and handed on)',
    upstream: [
      send(
        goodReply((reply) => ({
          ...reply,
          choices: [{ index: 1, message: { content: 'other' } }, ...reply.choices],
        })),
      ),
    ],
    pass: '200',
    recorded: 'complete',
    trainable: 'no: the reply has several choices where one was asked for',
  },
  {
    fault: 'the lists of token ids and log-probs are empty',
    upstream: [
      send(
        goodReply(({ usage: _, ...reply }) => ({
          ...reply,
          choices: [{ ...reply.choices[0], token_ids: [], logprobs: { content: [] } }],
        })),
      ),
    ],
    pass: '200',
    recorded: 'complete',
    trainable: 'no: the list of response token ids is empty',
  },
  {
    fault: 'the client hangs up before the reply',
    upstream: [hang],
    play: async ({ ask, server, sink }) => {
      const hangUp = new AbortController();
      const reply = ask('go', {}, hangUp.signal).catch((error: Error) => error.name);
      await expect.poll(() => server.requests).toBe(1);
      hangUp.abort();
      expect(await reply).toBe('AbortError');
      await expect.poll(() => sink.calls.length).toBe(1);
      return 'nothing';
    },
    pass: 'nothing',
    recorded: 'aborted',
    trainable: NO_REPEAT,
  },
  {
    fault: 'the client hangs up before the reply and repeats the request',
    upstream: [hang],
    play: async ({ ask, server, sink }) => {
      const hangUp = new AbortController();
      const reply = ask('go', {}, hangUp.signal).catch(() => undefined);
      await expect.poll(() => server.requests).toBe(1);
      hangUp.abort();
      await reply;
      await expect.poll(() => sink.calls.length).toBe(1);
      return ask('go', { 'x-stainless-retry-count': '1' });
    },
    pass: '200',
    recorded: 'aborted, complete (retryOf the first)',
    trainable: 'yes',
  },
  {
    fault: 'the client repeats a request that was answered (its connection broke)',
    play: async ({ ask, server }) => {
      await ask('go', { 'idempotency-key': 'k' });
      const again = await ask('go', { 'idempotency-key': 'k' });
      expect(server.requests).toBe(1);
      return again;
    },
    pass: '200',
    recorded: 'complete',
    trainable: 'yes',
  },
  {
    fault: 'the client sends its request too slowly',
    play: ({ episode }) =>
      new Promise((resolve) => {
        const { hostname, port, pathname } = new URL(`${episode.baseUrl}/chat/completions`);
        const socket = connect(Number(port), hostname);
        let text = '';
        socket.on('data', (part) => {
          text += part;
        });
        socket.on('error', () => {});
        socket.on('close', () => {
          clearInterval(drip);
          resolve(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 'nothing');
        });
        socket.write(`POST ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-length: 1000\r\n\r\n`);
        const drip = setInterval(() => socket.write(' '), 50);
      }),
    pass: '408',
    recorded: 'nothing',
    trainable: 'yes',
  },
  {
    fault: 'the disk is full while the call is recorded',
    play: async ({ ask, sink }) => {
      sink.full = /calls/;
      const reply = await ask();
      sink.full = undefined;
      return reply;
    },
    pass: '503 recording_failed, x-should-retry: false',
    failFast: '424 recording_failed, x-should-retry: false',
    recorded: 'nothing',
    trainable: 'no: a call is lost',
  },
  {
    fault: 'the disk is full while a streamed call is recorded',
    stream: true,
    play: async ({ ask, sink }) => {
      sink.full = /calls/;
      const reply = await ask();
      sink.full = undefined;
      return reply;
    },
    pass: '200, the events so far, then an error event (recording_failed), no [DONE]',
    recorded: 'nothing',
    trainable: 'no: a call is lost',
  },
  {
    fault: 'our own limit (time, turns) ends the episode while a call is in flight',
    upstream: [hang],
    play: async ({ ask, episode, server }) => {
      const reply = ask();
      await expect.poll(() => server.requests).toBe(1);
      await episode.close('limit');
      return reply;
    },
    pass: '409 episode_closed, x-should-retry: false',
    recorded: 'limit',
    trainable: 'yes (without this call)',
  },
  {
    fault: 'a call after the turn limit',
    opening: { turns: 0 },
    pass: '400 turn_limit, x-should-retry: false',
    recorded: 'nothing',
    trainable: 'yes',
  },
  {
    fault: 'a call after the end of its episode',
    play: async ({ ask, episode }) => {
      await episode.close('done');
      return ask();
    },
    pass: '409 episode_closed, x-should-retry: false',
    recorded: 'nothing',
    trainable: 'yes',
  },
  {
    fault: 'a call to an address that the proxy does not serve',
    play: async ({ episode }) => told(await fetch(`${episode.baseUrl}/chat/completion`, { method: 'POST' })),
    pass: '404 unknown_url, x-should-retry: false',
    failFast: '424 unknown_url, x-should-retry: false',
    recorded: 'nothing',
    trainable: 'yes',
  },
  {
    fault: 'a call that cannot be held while the weights change',
    opening: { upstream: changing() },
    pass: '503 upstream_failed',
    failFast: '424 upstream_failed, x-should-retry: false',
    recorded: 'upstream-error',
    trainable: NO_REPEAT,
    says: /weights are changing and 0 calls wait/,
  },
  {
    fault: 'a number beyond double precision in the request (`"temperature": 1e999`)',
    play: async ({ episode }) =>
      told(
        await fetch(`${episode.baseUrl}/chat/completions`, {
          method: 'POST',
          body: '{"messages": [{"role": "user", "content": "x"}], "temperature": 1e999}',
        }),
      ),
    pass: '400 invalid_request',
    recorded: 'nothing',
    trainable: 'yes',
  },
  {
    fault: 'a call with a key of no episode',
    play: async ({ episode }) => told(await fetch(episode.baseUrl.replace(episode.key, 'f'.repeat(64)))),
    pass: '401 invalid_api_key, x-should-retry: false',
    recorded: 'nothing',
    trainable: 'yes',
  },
];

/** A reply in the words of the table. */
async function told(response: Response): Promise<string> {
  const text = await response.text();
  if (response.headers.get('content-type')?.includes('event-stream')) {
    if (text.includes('[DONE]')) return '200';
    const last = text.trimEnd().split('\n\n').at(-1) ?? '';
    const { error } = JSON.parse(last.slice(6)) as { error: { code: string } };
    return `${response.status}, the events so far, then an error event (${error.code}), no [DONE]`;
  }
  if (response.status === 200) return '200';
  const { error } = JSON.parse(text) as { error: { code?: string } };
  const headers = ['retry-after', 'x-should-retry'].flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [`${name}: ${value}`];
  });
  const what = error.code === undefined ? ' as the upstream wrote it' : ` ${error.code}`;
  return [`${response.status}${what}`, ...headers].join(', ');
}

let proxy: RecordingProxy;
let server: FaultyServer;
let sink: WatchedSection;
beforeAll(async () => {
  proxy = await startProxy({ requestSeconds: 0.4 });
});
afterAll(() => proxy?.close());
beforeEach(async () => {
  server = await startFaultyServer();
  sink = await WatchedSection.create();
});
afterEach(async () => {
  await server?.close();
  await sink?.remove();
});

let count = 0;
async function inject(row: Row, manner: Manner): Promise<{ got: string; recorded: string; trainable: string }> {
  const opening: EpisodeOpening = {
    id: `fault.${count++}`,
    role: 'rollout',
    upstream: createUpstream({ kind: 'vllm', url: row.url ?? server.url, model: 'm', policyVersion: () => 3 }),
    sampling: { temperature: 1, topP: 1, topK: -1, presencePenalty: 0 },
    responseTokens: 64,
    turns: 100,
    sink,
    onUpstreamFailure: manner,
    ...row.opening,
  };
  const episode = proxy.openEpisode(opening);
  const ask = async (text = 'go', headers: Record<string, string> = {}, signal?: AbortSignal) =>
    told(
      await fetch(`${episode.baseUrl}/chat/completions`, {
        method: 'POST',
        headers,
        signal,
        body: JSON.stringify({ messages: [{ role: 'user', content: text }], stream: row.stream ?? false }),
      }),
    );
  server.faults = [...(row.upstream ?? [])];
  server.requests = 0;
  const got = await (row.play?.({ episode, server, sink, ask }) ?? ask());
  if (row.says) expect(sink.calls[0].error).toMatch(row.says);
  for (const call of sink.calls) {
    // Nothing is invented: what did not come is not there.
    if (call.status !== 'complete' && !row.stream)
      expect([call.responseTokenIds, call.logprobs]).not.toContainEqual([]);
    if (call.status === 'complete') expect(call.error === null || call.untrainable !== undefined).toBe(true);
  }
  const recorded = sink.calls
    .map(({ status, retryOf }) => (retryOf === null ? status : `${status} (retryOf the first)`))
    .join(', ');

  // The harness goes on with another call, where it can.
  server.faults = [];
  const goesOn =
    opening.turns > 0 &&
    opening.upstream.gate === undefined &&
    !episode.untrainable?.includes('recorded') &&
    row.url === undefined;
  if (goesOn && sink.calls.every(({ status }) => status !== 'limit')) {
    const next = await ask('next');
    if (!row.fault.includes('end of its episode')) expect(next, 'the next call').toBe('200');
  }
  const { lostCalls, calls } = episode;
  await episode.close('done');
  return { got, recorded: recorded || 'nothing', trainable: trainabilityOf(episode.id, calls, lostCalls) };
}

/** Whether the episode may be trained on, by the rules of rollouts and sample building. */
function trainabilityOf(id: string, calls: ProxyEpisode['calls'], lostCalls: number): string {
  const verdict = judgeEpisode({
    task: 'suite/0',
    init: 0,
    attempt: 0,
    ending: 'exit',
    detail: '',
    calls,
    lostCalls,
    idleSeconds: 1,
    outcome: { ok: true, value: { task: 'suite/0', init: 0, attempt: 0, reward: 1, valid: true } },
  });
  if (verdict.invalidReason?.startsWith('lost call')) return 'no: a call is lost';
  const episode = { id, turns: verdict.turns } as EpisodeRecord;
  const { problem } = checkRecord(episode, sink.calls);
  if (problem === null) return sink.calls.some(({ status }) => status === 'limit') ? 'yes (without this call)' : 'yes';
  if (/failed \(.*\) and no resend of it completed/.test(problem)) return NO_REPEAT;
  return `no: ${problem.replace(/^call \S+ may not be trained on: /, '')}`;
}

describe('the truth table of failures', () => {
  it.each(ROWS)('$fault', async (row) => {
    for (const manner of ['pass', 'fail-fast'] as const) {
      sink.calls.length = 0;
      const { got, recorded, trainable } = await inject(row, manner);
      expect({ got, recorded, trainable }, manner).toEqual({
        got: manner === 'pass' ? row.pass : (row.failFast ?? row.pass),
        recorded: row.recorded,
        trainable: row.trainable,
      });
    }
  });

  it('is what docs/proxy-failures.md says', async () => {
    await expect(page()).toMatchFileSnapshot('../../docs/proxy-failures.md');
  });
});

function page(): string {
  const rows = ROWS.map(({ fault, stream, pass, failFast, recorded, trainable }) =>
    [stream ? `${fault} (streamed)` : fault, pass, failFast ?? 'the same', recorded, trainable].join(' | '),
  );
  return `# What happens when something fails

Between a harness and the planner's server stands the recording proxy. This page says, for each failure, what the harness
gets, what is recorded, and whether the episode may still be trained on. Every row is injected for real by
\`test/integration/proxy-failures.test.ts\`, and this table is written from it.

Two things hold in every row: **nothing is invented** (no token id, log-prob or text is filled in, re-encoded or cut to
fit), and **a reply reaches the harness only when its record is on disk** (of a stream: its last part).

An adapter chooses what its harness gets with \`onUpstreamFailure\`:

- \`pass\` (the default): the upstream's status and message, so that a client's own retrying works. A repeat that its client
  marks (\`Idempotency-Key\`, or \`x-stainless-retry-count\` with the same body) keeps the turn of the failed call; it goes to
  the planner's server anew with \`retryOf\` in its record, and makes the failed call good.
- \`fail-fast\`: status 424 with \`x-should-retry: false\`, for harnesses that repeat server errors for ever (CaP-X does). A
  call that could not be recorded and an address that is not served are answered so as well.

A refusal is sent before the request is read to its end; the rest is read and dropped (at most 256 MB or 20 s of it), so
that a client which writes a large request before it reads gets the refusal and not a broken connection.

A reply that has begun to stream cannot change its status: there the failure is an error event, and the stream ends
without \`[DONE]\`. A connection kept from an earlier call that turns out to be closed before anything was answered is
replaced by a fresh one, once; that is no failure.

| Failure | The harness gets (\`pass\`) | With \`fail-fast\` | Recorded | Episode trainable |
|---|---|---|---|---|
${rows.map((row) => `| ${row} |`).join('\n')}

An episode that may not be trained on is still recorded, read and replayed; sample building gives its calls the status
\`zero-weight:incomplete-record\`. One whose last call failed for good, or that lost a call, is invalid as well
(\`zero-weight:invalid-episode\`): it takes no part in its group's advantages.

## While the planner's weights change

Calls under way are answered by the old weights; the change waits for them. Calls that arrive meanwhile are held and then
sent to the new weights, whose version they are stamped with; a streamed one shows every 15 s, by a comment in the stream,
that it lives. At most 4096 calls are held, each for at most 15 minutes; beyond that a call is answered 503 and recorded as
\`upstream-error\`. Where the server tells its version (the embedded planner and SGLang do), a reply of another version than
the call was sent to is a failure of the table above.
`;
}
