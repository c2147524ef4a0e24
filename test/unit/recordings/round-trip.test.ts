/** What the store writes is what recordings/ reads: properties over any sequence of calls. */
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../protocol/chat.ts';
import type { ResolvedCall } from '../../../protocol/records.ts';
import { isDamaged, openRecording } from '../../../recordings/index.ts';
import { createRun, openRun } from '../../../trainer-daemon/store/index.ts';
import { call, runInfo, temporaryFolder } from '../trainer-daemon/store/runs.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', '"id":"x"', '\n', '\ud800', '\0'),
);
const part = fc.oneof(
  fc.record({ type: fc.constant('text'), text }),
  fc.record({
    type: fc.constant('image_url'),
    image_url: fc.record({ url: fc.constantFrom('https://a/b.png', 'data:image/png;base64,A') }),
  }),
);
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constantFrom('system', 'user'), content: fc.oneof(text, fc.array(part, { maxLength: 3 })) }),
  fc.record({
    role: fc.constant('assistant'),
    content: fc.constant(null),
    tool_calls: fc.array(
      fc.record({
        id: text,
        type: fc.constant('function'),
        function: fc.record({ name: text, arguments: text }),
      }),
      { maxLength: 2 },
    ),
  }),
  fc.constant({ role: 'user', content: 'z'.repeat(70_000) } as Message),
) as fc.Arbitrary<Message>;
const tools = fc.option(
  fc.array(
    fc.record({
      type: fc.constant('function'),
      function: fc.record({ name: text, parameters: fc.jsonValue() }),
    }),
    { maxLength: 2 },
  ),
);
const ids = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 8 });

/** A call to be made in one of a few episodes, with messages and prompts that often repeat earlier ones. */
const step = fc.record({
  episode: fc.constantFrom('e0', 'e1', 'odd "é'),
  messages: fc.array(message, { minLength: 1, maxLength: 4 }),
  extend: fc.boolean(),
  tools: tools as fc.Arbitrary<ResolvedCall['request']['tools']>,
  prompt: fc.option(ids),
  response: fc.option(ids),
  logprob: fc.double({ noNaN: true, noDefaultInfinity: true, max: 0 }),
  status: fc.constantFrom('complete', 'complete', 'aborted', 'upstream-error'),
  other: fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }),
});

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function callsOf(steps: Step[]): ResolvedCall[] {
  const turns = new Map<string, number>();
  const last = new Map<string, { messages: Message[]; prompt: number[] }>();
  return steps.map((made) => {
    const turn = turns.get(made.episode) ?? 0;
    turns.set(made.episode, turn + 1);
    const before = made.extend ? last.get(made.episode) : undefined;
    const messages = [...(before?.messages ?? []), ...made.messages];
    const prompt = made.prompt && [...(before?.prompt ?? []), ...made.prompt];
    last.set(made.episode, { messages, prompt: prompt ?? [] });
    return call({
      id: `${made.episode}.c${turn}`,
      episode: made.episode,
      turn,
      request: { messages, tools: made.tools, other: made.other },
      promptTokenIds: prompt,
      responseTokenIds: made.response,
      logprobs: made.response?.map(() => made.logprob) ?? null,
      status: made.status as ResolvedCall['status'],
    });
  });
}

/** As JSON holds it: no minus zero, no undefined. */
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

describe('calls', () => {
  it('read back equal, whatever they hold', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), fc.nat(12), async (steps, reopenAt) => {
        const folder = temporaryFolder();
        let run = await createRun(folder, runInfo);
        const calls = callsOf(steps);
        for (const [i, made] of calls.entries()) {
          if (i === reopenAt) {
            await run.close();
            run = await openRun(folder);
          }
          await run.section('rounds/0001').appendCall(made);
        }
        await run.close();
        const recording = await openRecording(folder);
        const index = await recording.calls('rounds/0001');
        expect(index.length).toBe(calls.length);
        // From the last to the first: no help from what was resolved before.
        for (let i = calls.length - 1; i >= 0; i--) {
          const record = await index.get(i);
          if (isDamaged(record)) throw new Error(record.damaged);
          expect(await recording.resolveCall(record)).toEqual(plain(calls[i]));
          expect(await index.byId(calls[i].id)).toEqual(record);
        }
        for (const id of new Set(calls.map((made) => made.episode))) {
          const found = await index.forEpisode(id);
          const expected = calls.filter((made) => made.episode === id).map((made) => made.id);
          expect(found.map((record) => 'id' in record && record.id)).toEqual(expected);
        }
        await recording.close();
      }),
      { numRuns: 40, seed: 7 },
    );
  });

  it('of many episodes at once all read back, each in its order', async () => {
    const folder = temporaryFolder();
    const run = await createRun(folder, runInfo);
    const section = run.section('teacher');
    const shared: Message = { role: 'system', content: 'the same for all' };
    const calls = Array.from({ length: 200 }, (_, i) =>
      call({
        episode: `e${i % 20}`,
        turn: Math.floor(i / 20),
        request: { messages: [shared, { role: 'user', content: `${i}` }], tools: null, other: {} },
        promptTokenIds: Array.from({ length: 1 + Math.floor(i / 20) }, (_, j) => j),
      }),
    );
    await Promise.all(calls.map((made) => section.appendCall(made)));
    await run.close();
    const recording = await openRecording(folder);
    const index = await recording.calls('teacher');
    expect(index.length).toBe(200);
    for (const made of calls) {
      const record = await index.byId(made.id);
      if (!record || isDamaged(record)) throw new Error(`no ${made.id}`);
      expect(await recording.resolveCall(record)).toEqual(made);
    }
    const third = await index.forEpisode('e3');
    expect(third.map((record) => 'turn' in record && record.turn)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(readFileSync(join(folder, 'messages.jsonl'), 'utf8').split('the same for all')).toHaveLength(2);
    await recording.close();
  });
});

describe('a file cut anywhere in its last record', () => {
  it('loses that record alone, for readers at once and for the writer when it opens the run', async () => {
    const folder = temporaryFolder();
    const run = await createRun(folder, runInfo);
    for (const turn of [0, 1, 2])
      await run.section('teacher').appendCall(call({ turn, responseTokenIds: null, logprobs: null }));
    await run.close();
    const path = join(folder, 'teacher/calls.jsonl');
    const whole = readFileSync(path);
    const start = whole.lastIndexOf(10, whole.length - 2) + 1;
    for (let cut = start; cut < whole.length; cut++) {
      writeFileSync(path, whole.subarray(0, cut));
      const recording = await openRecording(folder);
      const index = await recording.calls('teacher');
      expect(index.length).toBe(cut === start ? 2 : 3);
      expect((await index.read(0, 2)).map((record) => 'id' in record && record.id)).toEqual(['e0.c0', 'e0.c1']);
      if (cut > start) expect(await index.get(2)).toMatchObject({ torn: true, line: 3 });
      expect(await index.byId('e0.c2')).toBeUndefined();
      if (cut % 50 === 0 || cut > whole.length - 3) {
        const again = await openRun(folder);
        expect(again.repairs).toEqual([{ file: 'teacher/calls.jsonl', bytes: cut - start }]);
        await again.section('teacher').appendCall(call({ turn: 3 }));
        await again.close();
        await index.refresh();
        expect((await index.read()).map((record) => 'id' in record && record.id)).toEqual(['e0.c0', 'e0.c1', 'e0.c3']);
      }
      await recording.close();
    }
  });

  it('is whole again for a reader once the writer has finished the line', async () => {
    const folder = temporaryFolder();
    const run = await createRun(folder, runInfo);
    await run.section('teacher').appendCall(call());
    await run.close();
    const path = join(folder, 'teacher/calls.jsonl');
    const whole = readFileSync(path);
    truncateSync(path, whole.length - 30);
    const recording = await openRecording(folder);
    const index = await recording.calls('teacher');
    expect(await index.get(0)).toMatchObject({ torn: true });
    expect(await index.refresh()).toBe(false);
    appendFileSync(path, whole.subarray(whole.length - 30));
    expect(await index.refresh()).toBe(true);
    expect([index.length, await index.get(0)]).toMatchObject([1, { id: 'e0.c0' }]);
    await recording.close();
  });
});
