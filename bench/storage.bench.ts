/**
 * What a growing transcript costs on disk. Every request of an episode repeats all messages and images before it; the
 * store keeps each once. Compared with writing each request whole, as it went over the wire.
 */
import { randomFillSync } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ResolvedCall } from '../protocol/records.ts';
import { isDamaged, openRecording } from '../recordings/index.ts';
import { createRun } from '../trainer-daemon/store/index.ts';
import { benchRun } from './run-info.ts';
import type { BenchTable } from './table.ts';

const TURNS = [10, 50, 100];
const IMAGE_BYTES = 100_000;
const PROMPT_TOKENS_A_TURN = 300;
const RESPONSE_TOKENS = 120;

const tokens = (count: number) => Array.from({ length: count }, (_, i) => (i * 7919) % 1024);

function nextCall(turn: number, history: ResolvedCall['request']['messages'], prompt: number[]): ResolvedCall {
  const image = randomFillSync(Buffer.alloc(IMAGE_BYTES)).toString('base64');
  history.push({
    role: 'user',
    content: [
      { type: 'text', text: `Turn ${turn}: what the camera shows after the last skill.` },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } },
    ],
  });
  prompt.push(...tokens(PROMPT_TOKENS_A_TURN));
  const answer = `I move the arm ${'a little further '.repeat(20)}(${turn}).`;
  const call: ResolvedCall = {
    id: `e.c${turn}`,
    episode: 'e',
    turn,
    surface: 'chat',
    policyVersion: 0,
    request: { messages: [...history], tools: null, other: { model: 'planner' } },
    samplingAsked: { temperature: 0.7 },
    samplingSent: { temperature: 1, top_p: 1, max_tokens: 4096, seed: turn },
    promptTokenIds: [...prompt],
    responseTokenIds: tokens(RESPONSE_TOKENS),
    logprobs: tokens(RESPONSE_TOKENS).map((token) => -Math.log(1 + token)),
    response: { content: answer, reasoning: null, toolCalls: [] },
    finishReason: 'stop',
    usage: null,
    startedAt: new Date().toISOString(),
    durations: { firstToken: 1, total: 2 },
    status: 'complete',
    error: null,
    retryOf: null,
  };
  history.push({ role: 'assistant', content: answer });
  return call;
}

async function bytesUnder(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}

export default async function storage(): Promise<BenchTable[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-storage-'));
  const sizes: BenchTable['rows'] = [];
  const times: BenchTable['rows'] = [];
  try {
    const directory = join(folder, 'run');
    const run = await createRun(directory, benchRun);
    const section = run.section('teacher');
    const history: ResolvedCall['request']['messages'] = [];
    const prompt: number[] = [];
    let whole = 0;
    const wrote: number[] = [];
    for (let turn = 0; turn < Math.max(...TURNS); turn++) {
      const call = nextCall(turn, history, prompt);
      whole += Buffer.byteLength(JSON.stringify(call));
      const started = performance.now();
      await section.appendCall(call);
      wrote.push(performance.now() - started);
      if (!TURNS.includes(turn + 1)) continue;
      const stored = await bytesUnder(directory);
      const perTurn = (bytes: number) => Math.round(bytes / (turn + 1));
      const beside = perTurn(stored) - IMAGE_BYTES;
      sizes.push([turn + 1, perTurn(stored), beside, perTurn(whole), `${(whole / stored).toFixed(1)}x`]);
      const fetched = await readOnce(directory, `e.c${turn}`);
      times.push([turn + 1, median(wrote.slice(-10)).toFixed(1), fetched.toFixed(1)]);
    }
    await run.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return [
    {
      title: 'Bytes a turn on disk: growing transcript, one 100 kB image a turn',
      columns: ['turns', 'stored', 'without images', 'requests whole', 'saved'],
      rows: sizes,
      note: 'stored: the whole run directory by its turns; it does not grow with the number of turns.',
    },
    {
      title: 'Milliseconds for the call at that turn',
      columns: ['turns', 'append (median of 10)', 'open and resolve'],
      rows: times,
      note: 'append: hashing the whole request, writing and flushing; open and resolve: a fresh reader, last call.',
    },
  ];
}

async function readOnce(directory: string, id: string): Promise<number> {
  const started = performance.now();
  const recording = await openRecording(directory);
  const record = await (await recording.calls('teacher')).byId(id);
  if (!record || isDamaged(record) || isDamaged(await recording.resolveCall(record))) throw new Error(`${id} is lost`);
  await recording.close();
  return performance.now() - started;
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}
