/** Writes calls of several episodes to a run until it is killed, and says which ones were acknowledged. */
import { writeSync } from 'node:fs';
import type { ResolvedCall } from '../../../../protocol/records.ts';
import { openRun } from '../../../../trainer-daemon/store/index.ts';

const [, , directory, life] = process.argv;
const run = await openRun(directory);
const section = run.section('teacher');

async function play(episode: string): Promise<void> {
  const messages: ResolvedCall['request']['messages'] = [];
  const prompt: number[] = [];
  for (let turn = 0; ; turn++) {
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${btoa(`${episode} ${turn}`)}` } };
    messages.push({ role: 'user', content: [{ type: 'text', text: `turn ${turn}` }, image] });
    prompt.push(turn, turn);
    const id = `${episode}.c${turn}`;
    await section.appendCall({
      id,
      episode,
      turn,
      surface: 'chat',
      policyVersion: 0,
      request: { messages: [...messages], tools: null, other: {} },
      samplingAsked: {},
      samplingSent: {},
      promptTokenIds: [...prompt],
      responseTokenIds: null,
      logprobs: null,
      response: null,
      finishReason: null,
      usage: null,
      startedAt: '2026-01-01T00:00:00.000Z',
      durations: { firstToken: null, total: 1 },
      status: 'complete',
      error: null,
      retryOf: null,
    });
    writeSync(1, `${id}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, (_, i) => play(`life${life}-e${i}`)));
