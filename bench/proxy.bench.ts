/**
 * What the recording proxy costs: against a bare pass-through in Node and against an LLM gateway from npm, before an
 * upstream that answers like a served planner (200 ms to the first token, 50 tokens/s) and before one that answers at
 * once. The three are asked in turn, in processes of their own.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import * as http from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { median } from './measure.ts';
import type { ProxyEpisodes, ProxyReady, ProxyState } from './sides/proxy.side.ts';
import { processorTime, Side } from './sides/side.ts';
import type { BenchTable } from './table.ts';

const GATEWAY = '@portkey-ai/gateway@1.15.2';
const LARGE = 5_000_000;
/**
 * Loaded before the gateway: it writes to the headers of the reply that it streams on, which Node's fetch forbids, and
 * answers 500 then. A copy of the reply may be written to.
 */
const WRITABLE_REPLIES = `data:text/javascript,${encodeURIComponent(
  'const ask = fetch; globalThis.fetch = async (...all) => { const reply = await ask(...all); return new Response(reply.body, reply); };',
)}`;

interface Timed {
  /** Milliseconds from the request to the reply's end. */
  whole: number;
  /** To its first content. */
  first: number;
}

interface Contender {
  name: string;
  /** Addresses (ending in /v1) for so many concurrent episodes. */
  addresses(count: number, speed: 'slow' | 'instant'): Promise<string[]>;
  headers(speed: 'slow' | 'instant'): Record<string, string>;
  pid: number | undefined;
  close(): Promise<void>;
}

const side = () => new Side(process.execPath, ['--expose-gc', join(import.meta.dirname, 'proxy.side.mjs')]);
const newAgent = () => new http.Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

function call(url: string, headers: Record<string, string>, body: Buffer, agent: http.Agent): Promise<Timed> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    let first = 0;
    const request = http.request(
      `${url}/chat/completions`,
      {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', 'content-length': body.length, ...headers },
      },
      (response) => {
        response.on('data', (part: Buffer) => {
          if (first === 0 && part.includes('word')) first = performance.now() - started;
        });
        response.on('end', () => {
          if (response.statusCode === 200) resolve({ whole: performance.now() - started, first });
          else reject(new Error(`${url} answered ${response.statusCode}`));
        });
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

const bodyOf = (more: Record<string, unknown>, image = 0) => {
  const url = `data:image/png;base64,${'A'.repeat(image)}`;
  const parts = [
    { type: 'text', text: 'Pick the red cup.' },
    ...(image ? [{ type: 'image_url', image_url: { url } }] : []),
  ];
  return Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: parts }], ...more }));
};

/** `episodes` clients, each making its calls one after the other. */
async function load(contender: Contender, speed: 'slow' | 'instant', episodes: number, calls: number, body: Buffer) {
  const addresses = await contender.addresses(episodes, speed);
  const headers = contender.headers(speed);
  const timed: Timed[] = [];
  // Of its own: servers close connections that wait while the others are measured.
  const agent = newAgent();
  const before = processorTime(contender.pid);
  const started = performance.now();
  await Promise.all(
    addresses.map(async (url) => {
      for (let i = 0; i < calls; i++) timed.push(await call(url, headers, body, agent));
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  agent.destroy();
  return { timed, seconds, processor: processorTime(contender.pid) - before };
}

/** The status of a failure to answer at all, for example of a gateway that cannot stream. */
async function fails(contender: Contender, body: Buffer): Promise<string | undefined> {
  const [url] = await contender.addresses(1, 'instant');
  return call(url, contender.headers('instant'), body, newAgent()).then(
    () => undefined,
    (error: Error) => error.message.split(' ').at(-1),
  );
}

/** Empty where nothing is known. */
const rounded = (value: number) => (Number.isFinite(value) ? Number(value.toPrecision(2)) : '');
const at = (values: number[], share: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))];

async function gatewayOf(upstream: string): Promise<Contender | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  try {
    const npm = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', GATEWAY];
    await promisify(execFile)('npm', npm, { timeout: 180_000 });
  } catch {
    rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
  const free = createServer();
  const port = await new Promise<number>((resolve) =>
    free.listen(0, '127.0.0.1', () => resolve((free.address() as { port: number }).port)),
  );
  free.close();
  const program = join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  const args = ['--import', WRITABLE_REPLIES, program, `--port=${port}`, '--headless'];
  const child = spawn(process.execPath, args, { stdio: 'ignore', cwd: folder });
  const url = `http://127.0.0.1:${port}/v1`;
  for (let tries = 0; tries < 60; tries++) {
    if (
      await fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      )
    )
      break;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return {
    name: GATEWAY,
    pid: child.pid,
    addresses: async (count) => Array.from({ length: count }, () => url),
    headers: (speed) => ({
      authorization: 'Bearer none',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${upstream}/${speed}/v1`,
    }),
    async close() {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export default async function proxyBench(): Promise<BenchTable[]> {
  const [upstreamSide, passSide, ourSide] = [side(), side(), side()];
  const contenders: Contender[] = [];
  try {
    const upstream = (await upstreamSide.ask<ProxyReady>({ role: 'upstream' })).url;
    const pass = (await passSide.ask<ProxyReady>({ role: 'pass-through', url: upstream })).url;
    await ourSide.ask<ProxyReady>({ role: 'recording', url: upstream });
    contenders.push({
      name: 'bare pass-through',
      pid: passSide.pid,
      addresses: async (count, speed) => Array.from({ length: count }, () => `${pass}/${speed}/v1`),
      headers: () => ({}),
      close: () => passSide.close(),
    });
    contenders.push({
      name: 'recording proxy',
      pid: ourSide.pid,
      addresses: async (count, speed) => (await ourSide.ask<ProxyEpisodes>({ episodes: count, speed })).baseUrls,
      headers: () => ({}),
      close: () => ourSide.close(),
    });
    const state = () => ourSide.ask<ProxyState>({ state: true });
    const gateway = await gatewayOf(upstream);
    if (gateway) contenders.push(gateway);
    // First: large requests leave memory behind in which growth could not be seen.
    const endurance = await long(ourSide, state);
    return [await served(contenders), await instant(contenders, state), ...endurance];
  } finally {
    for (const contender of contenders) await contender.close();
    await upstreamSide.close();
  }
}

/** Concurrent episodes, and how many calls each makes in one measurement: enough for a p99 that says something. */
const LOADS = [
  { episodes: 1, calls: 5 },
  { episodes: 16, calls: 2 },
  { episodes: 64, calls: 1 },
];
const ROUNDS = 2;
/** A busy machine measures each load once after so many seconds, so that the whole takes four minutes at most. */
const SECONDS = { served: 100, instant: 25 };

async function served(contenders: Contender[]): Promise<BenchTable> {
  const end = performance.now() + 1000 * SECONDS.served;
  const rows: BenchTable['rows'] = [];
  const kinds = [
    { what: 'small, streamed', body: bodyOf({ stream: true }) },
    { what: 'small, whole', body: bodyOf({}) },
    { what: '5 MB, streamed', body: bodyOf({ stream: true }, LARGE) },
    { what: '5 MB, whole', body: bodyOf({}, LARGE) },
  ];
  for (const { what, body } of kinds) {
    const failing: (string | undefined)[] = [];
    for (const contender of contenders) failing.push(await fails(contender, body));
    for (const { episodes, calls } of LOADS) {
      const measured = contenders.map(() => [] as Timed[]);
      const processor = contenders.map(() => 0);
      for (let round = 0; round < ROUNDS && (round === 0 || performance.now() < end); round++)
        for (const [i, contender] of contenders.entries()) {
          if (failing[i] !== undefined) continue;
          // Connections and code of so many episodes are warm before the clock counts.
          if (round === 0) await load(contender, 'instant', episodes, 1, body);
          const loaded = await load(contender, 'slow', episodes, calls, body);
          measured[i].push(...loaded.timed);
          processor[i] += loaded.processor;
        }
      const base = measured[0].map(({ whole }) => whole);
      for (const [i, { name }] of contenders.entries()) {
        if (failing[i] !== undefined) {
          rows.push([what, episodes, name, 0, `answers ${failing[i]}`, '', '', '', '', '', '']);
          continue;
        }
        const whole = measured[i].map((each) => each.whole);
        const first = measured[i].map((each) => each.first);
        const against = (share: number) => Number((at(whole, share) / at(base, share)).toFixed(3));
        rows.push([
          what,
          episodes,
          name,
          whole.length,
          Math.round(at(whole, 0.5)),
          Math.round(at(whole, 0.99)),
          Math.round(at(first, 0.5)),
          Math.round(at(first, 0.99)),
          against(0.5),
          against(0.99),
          rounded(processor[i] / whole.length),
        ]);
      }
    }
  }
  return {
    title: 'Before an upstream like a served planner (200 ms to the first token, 20 tokens at 50 a second)',
    columns: [
      'request',
      'episodes',
      'through',
      'calls',
      'p50 ms',
      'p99 ms',
      'first token p50 ms',
      'first token p99 ms',
      'p50 against pass-through',
      'p99 against pass-through',
      'processor ms a call',
    ],
    rows,
    note: 'Aim: at most 1.1 times the pass-through, with every call on disk before its reply ends. The gateway runs with replies of fetch copied, without which it answers streams with 500. Processor time is that of the program in between alone; upstream (8 ms for 5 MB) and clients (2 ms) share the cores with it, so that at 64 episodes of 5 MB the latency follows the sum of all three. Of the 5 MB the proxy compares each part with the image that it knows and sends on the bytes it has: before, when it held and copied them, such a call took it 22 ms against 11 of the pass-through (1.35 and 1.39 times the latency); 13 ms and 1.07 times were predicted. What is left above the pass-through: that comparison (1 ms), the record, the collections it takes.',
  };
}

async function instant(contenders: Contender[], state: () => Promise<ProxyState>): Promise<BenchTable> {
  const end = performance.now() + 1000 * SECONDS.instant;
  const rows: BenchTable['rows'] = [];
  const kinds = [
    { what: 'small', body: bodyOf({}), loads: [1, 16, 64], calls: (episodes: number) => Math.max(10, 120 / episodes) },
    { what: '5 MB', body: bodyOf({}, LARGE), loads: [1, 16], calls: (episodes: number) => Math.max(1, 6 / episodes) },
  ];
  for (const { what, body, loads, calls } of kinds)
    for (const episodes of loads) {
      const rates = contenders.map(() => [] as number[]);
      const processor = contenders.map(() => [] as number[]);
      for (let round = 0; round < 4 && (round < 2 || performance.now() < end); round++)
        for (const [i, contender] of contenders.entries()) {
          const each = Math.round(calls(episodes));
          const loaded = await load(contender, 'instant', episodes, each, body);
          if (round === 0) continue;
          rates[i].push((episodes * each) / loaded.seconds);
          processor[i].push(loaded.processor / (episodes * each));
        }
      for (const [i, { name }] of contenders.entries())
        rows.push([
          what,
          episodes,
          name,
          Number(median(rates[i]).toPrecision(3)),
          Number((episodes * (1000 / median(rates[i]))).toPrecision(3)),
          Number((median(rates[0]) / median(rates[i])).toFixed(2)),
          rounded(median(processor[i])),
        ]);
    }
  const { flushMilliseconds } = await state();
  return {
    title: 'Before an upstream that answers at once',
    columns: [
      'request',
      'episodes',
      'through',
      'calls/s',
      'ms a call',
      'times the pass-through',
      'processor ms a call',
    ],
    rows,
    note: `Aim: at most 2 times the pass-through. Nothing hides the cost here: the proxy reads, checks and stores each call and waits for the disk; one such wait took ${flushMilliseconds.toFixed(1)} ms (median), and calls of the same moment share one. For one episode that wait and the processor time come to more than the whole of a call through the pass-through, so that 2 times is out of reach while each record is durable; more episodes are bound by the processor, of which each call takes several times what copying bytes takes: two HTTP messages are read and written anew, the request and the reply are parsed, checked and hashed. (Every call here sends the same message. A message that is new is on disk before the line of the call that refers to it is written, which is a second wait.)`,
  };
}

/** Calls before an upstream that answers at once: of episodes that end, as those of a training do, and of some that do not. */
async function long(ours: Side, state: () => Promise<ProxyState>): Promise<BenchTable[]> {
  const together = 20;
  const body = bodyOf({});
  const open = async () => (await ours.ask<ProxyEpisodes>({ episodes: together, speed: 'instant' })).baseUrls;
  const make = async (addresses: string[], each: number) => {
    const agent = newAgent();
    const answered = addresses.map(async (url) => {
      for (let i = 0; i < each; i++) await call(url, {}, body, agent);
    });
    await Promise.all(answered);
    agent.destroy();
  };
  const columns = ['calls so far', 'heap MB', 'heap held MB', 'resident MB', 'bytes on disk a call'];
  const row = (calls: number, more: number, before: ProxyState, now: ProxyState) => [
    calls,
    Number((now.heapBytes / 1e6).toFixed(1)),
    ...[now.heapHeldBytes, now.residentBytes].map((bytes) => Math.round(bytes / 1e6)),
    Math.round((now.diskBytes - before.diskBytes) / more),
  ];
  const tables: BenchTable[] = [];
  for (const { ends, stages } of [
    { ends: true, stages: [1000, 2000, 3000, 4000, 5000, 5000] },
    { ends: false, stages: [1000, 2000, 3000, 4000] },
  ]) {
    const rows: BenchTable['rows'] = [];
    const states = [await state()];
    let addresses = await open();
    let calls = 0;
    for (const more of stages) {
      if (!ends) await make(addresses, more / together);
      else
        for (let done = 0; done < more; done += 50 * together) {
          addresses = await open();
          await make(addresses, 50);
        }
      states.push(await state());
      calls += more;
      rows.push(row(calls, more, states.at(-2)!, states.at(-1)!));
    }
    const growth = Math.round((states.at(-1)!.heapBytes - states[1].heapBytes) / (calls - stages[0]));
    tables.push({
      title: ends
        ? `Over ${calls.toLocaleString('en')} calls in episodes of 50`
        : `Over ${calls.toLocaleString('en')} calls of ${together} episodes that stay open`,
      columns,
      rows,
      note: ends
        ? `After a collection. From the first row on the heap in use grew by ${growth} bytes a call; what is held and resident goes up and down with what the engine keeps for its next allocations.`
        : `${growth} bytes a call: an open episode knows all its calls, so that none is made twice, with their responses for its outcome, and keeps replies to give them again (8 MB of each, 16 MB of all). They go when it ends.`,
    });
  }
  return tables;
}
