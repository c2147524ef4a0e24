import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Damaged, isDamaged, openRecording, RecordingError } from '../../../recordings/index.ts';
import { LONGEST_LINE } from '../../../recordings/lines.ts';
import { createRun, openRun } from '../../../trainer-daemon/store/index.ts';
import { call, episode, linesOf, runInfo, temporaryFolder } from '../trainer-daemon/store/runs.ts';

/** A run with two calls of one episode that share messages and prompt, an image and a large body. */
async function smallRun(): Promise<string> {
  const folder = temporaryFolder();
  const run = await createRun(folder, runInfo);
  const section = run.section('rounds/0001');
  const image = { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,/9j/AAEC' } };
  const messages = [
    { role: 'system' as const, content: 'y'.repeat(70_000) },
    { role: 'user' as const, content: [image] },
  ];
  await section.appendCall(
    call({ request: { messages: messages.slice(0, 1), tools: null, other: {} }, promptTokenIds: [1, 2] }),
  );
  await section.appendCall(
    call({ turn: 1, request: { messages, tools: [{ type: 'function' }], other: {} }, promptTokenIds: [1, 2, 3] }),
  );
  await section.appendEpisode(episode('e0'));
  await run.journal({ type: 'warning', message: 'hello' });
  await run.close();
  return folder;
}

const callsPath = (folder: string) => join(folder, 'rounds/0001/calls.jsonl');

async function resolveSecond(folder: string) {
  const recording = await openRecording(folder);
  try {
    const record = await (await recording.calls('rounds/0001')).byId('e0.c1');
    if (!record || isDamaged(record)) throw new Error('no call');
    return await recording.resolveCall(record);
  } finally {
    await recording.close();
  }
}

describe('a recording', () => {
  it('tells what the run holds', async () => {
    const folder = await smallRun();
    const run = await openRun(folder);
    const sample = {
      call: 'e0.c0',
      episode: 'e0',
      advantage: 1,
      u: 1,
      promptLength: 2,
      responseLength: 2,
      status: 'selected',
    };
    const score = { call: 'e0.c0', pass: 0, step: 1, logq: [-1], logp: [-1], w: [1], clipped: [0] };
    const plan = { round: 1, policyVersion: 1, attempts: 2, groups: [{ task: 's/0', init: 11 }] };
    const tally = { episodes: 2, successes: 1, invalid: 0 };
    const evaluation = {
      id: 'base',
      policyVersion: 0,
      kind: 'evaluation',
      total: tally,
      suites: { s: tally },
      seconds: 1,
    };
    const policy = { version: 0, parent: null, stage: 'base', round: 0, step: 0, validation: null };
    await run.section('rounds/0001').replaceLines('samples.jsonl', [sample]);
    await run.section('rounds/0001').replaceLines('scores.jsonl', [score, { ...score, pass: 1, step: 2 }]);
    await run.section('rounds/0001').writeJson('plan.json', plan);
    await run.section('evaluations/base').writeJson('summary.json', evaluation);
    await run.section('policies/v0000').writeJson('policy.json', policy);
    await run.section('teacher').appendEpisode(episode('t'));
    for (const round of [2, 10])
      await run.section(`rounds/000${round}`.replace('00010', '0010')).appendLines('steps.jsonl', []);
    mkdirSync(join(folder, 'policies/v0001'));

    const recording = await openRecording(folder);
    expect(recording.info).toEqual(runInfo);
    expect(await recording.sections()).toEqual({
      teacher: ['teacher'],
      sft: [],
      rounds: ['rounds/0001', 'rounds/0002', 'rounds/0010'],
      evaluations: ['evaluations/base'],
    });
    expect(await (await recording.samples(1)).byId('e0.c0')).toEqual(sample);
    expect(await (await recording.samples(1)).forEpisode('e0')).toEqual([sample]);
    expect((await (await recording.scores(1)).allById('e0.c0')).map((found) => 'pass' in found && found.pass)).toEqual([
      0, 1,
    ]);
    expect([await recording.plan(1), await recording.plan(2), await recording.roundSummary(1)]).toEqual([
      plan,
      undefined,
      undefined,
    ]);
    expect([await recording.evaluation('base'), await recording.evaluation('none')]).toEqual([evaluation, undefined]);
    expect(await recording.policies()).toEqual([
      policy,
      { damaged: 'policies/v0001/policy.json: is missing', line: 0 },
    ]);
    expect((await recording.targets()).length).toBe(0);
    const journal = await recording.journal();
    expect((await journal.read()).map((line) => 'seq' in line && line.seq)).toEqual([1]);

    // The run goes on; nothing is lost and nothing needs a new opening.
    expect(await recording.refresh()).toBe(false);
    await run.journal({ type: 'warning', message: 'again' });
    await run.section('rounds/0001').replaceLines('samples.jsonl', [{ ...sample, u: 0.5 }]);
    expect(await recording.refresh()).toBe(true);
    const seen: unknown[] = [];
    for await (const line of journal) seen.push('seq' in line && line.seq);
    expect(seen).toEqual([1, 2]);
    expect(await (await recording.samples(1)).byId('e0.c0')).toMatchObject({ u: 0.5 });
    await recording.close();
    await run.close();
  });

  it('is refused with words where there is none', async () => {
    await expect(openRecording(join(temporaryFolder(), 'none'))).rejects.toThrow(RecordingError);
    const folder = temporaryFolder();
    for (const [content, said] of [
      ['', /is empty/],
      ['[]', /record: /],
      ['{"version":7,"id":"1f0c2ab9"}', /newer version.*format 7/],
      ['\0\0', /zero bytes/],
    ] as const) {
      writeFileSync(join(folder, 'run.json'), content);
      await expect(openRecording(folder)).rejects.toThrow(said);
    }
  });

  it('takes no path for a section', async () => {
    const recording = await openRecording(await smallRun());
    for (const name of ['..', '../teacher', '/etc', 'a/b/c', '']) {
      expect(() => recording.calls(name)).toThrow(RecordingError);
      expect(() => recording.evaluation(`${name}/x`)).toThrow(RecordingError);
    }
    for (const sha of ['../../run.json', `${'a'.repeat(62)}/.`, '', 'A'.repeat(64)]) {
      expect(await recording.blob(sha)).toMatchObject({ damaged: expect.stringContaining('no SHA-256') });
    }
    expect(await recording.blob('0'.repeat(64))).toBeUndefined();
    await recording.close();
  });

  it('gives images back', async () => {
    const folder = await smallRun();
    const resolved = await resolveSecond(folder);
    if (isDamaged(resolved)) throw new Error(resolved.damaged);
    const [part] = resolved.request.messages[1].content as { type: string; sha256: string }[];
    expect(part.type).toBe('image_ref');
    const recording = await openRecording(folder);
    const blob = await recording.blob(part.sha256);
    expect(blob).toMatchObject({ mediaType: 'image/jpeg', bytes: Buffer.from('/9j/AAEC', 'base64') });
    writeFileSync((blob as { path: string }).path, 'other');
    expect(await recording.blob(part.sha256)).toMatchObject({ damaged: expect.stringContaining('was changed') });
    await recording.close();
  });
});

describe('a call that cannot be put together', () => {
  const broken: [string, (folder: string) => void, RegExp][] = [
    [
      'without messages.jsonl',
      (folder) => rmSync(join(folder, 'messages.jsonl')),
      /e0\.c1: the body [0-9a-f]{64} is missing/,
    ],
    [
      'without its large body',
      (folder) => rmSync(join(folder, 'blobs'), { recursive: true }),
      /the body [0-9a-f]{64} is missing/,
    ],
    [
      'without its base',
      (folder) => edit(folder, (lines) => lines.slice(1)),
      /its messages start from call e0\.c0, which is missing/,
    ],
    [
      'with a damaged base',
      (folder) => edit(folder, ([a, b]) => [a.replace('"turn":0', '"turn":-1'), b]),
      /e0\.c0, which is damaged/,
    ],
    [
      'that starts from itself',
      (folder) => edit(folder, ([a, b]) => [a, b.replaceAll('"base":"e0.c0"', '"base":"e0.c1"')]),
      /e0\.c1, which is missing/,
    ],
    [
      'that shares too much',
      (folder) => edit(folder, ([a, b]) => [a, b.replace('"shared":2', '"shared":9')]),
      /shares? 9 items with call e0\.c0, which has 2/,
    ],
    [
      'of another length',
      (folder) => edit(folder, ([a, b]) => [a, b.replace('"length":3', '"length":4')]),
      /has 3 ids where 4 are recorded/,
    ],
    [
      'that shares with nothing',
      (folder) =>
        edit(folder, ([a, b]) => [
          a,
          b.replace('"base":"e0.c0","shared":2,"suffix"', '"base":null,"shared":2,"suffix"'),
        ]),
      /its prompt shares 2 items with no call/,
    ],
    [
      'with an edited body',
      (folder) => replaceIn(join(folder, 'messages.jsonl'), 'image_ref', 'image_url'),
      /was changed/,
    ],
    [
      'with a body that is no message',
      (folder) => {
        const tools = /"tools":"([0-9a-f]{64})"/.exec(readFileSync(callsPath(folder), 'utf8'))?.[1];
        edit(folder, ([a, b]) => [a, b.replace(/"messages":\["[0-9a-f]{64}"\]/, `"messages":["${tools}"]`)]);
      },
      /is no message/,
    ],
  ];
  function edit(folder: string, change: (lines: string[]) => string[]): void {
    const lines = readFileSync(callsPath(folder), 'utf8').split('\n').slice(0, -1);
    const changed = change(lines);
    expect(changed).not.toEqual(lines);
    writeFileSync(callsPath(folder), changed.map((line) => `${line}\n`).join(''));
  }
  function replaceIn(path: string, from: string, to: string): void {
    writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
  }

  it.each(broken)('%s says so', async (_, damage, said) => {
    const folder = await smallRun();
    damage(folder);
    const resolved = await resolveSecond(folder);
    expect(resolved).toHaveProperty('damaged');
    expect((resolved as Damaged).damaged).toMatch(said);
  });

  it('is put together from the calls of its own interruption', async () => {
    const folder = temporaryFolder();
    const run = await createRun(folder, runInfo);
    const section = run.section('teacher');
    for (const first of [10, 20]) {
      await section.appendCall(call({ promptTokenIds: [first, 1] }));
      await section.appendCall(call({ turn: 1, promptTokenIds: [first, 1, 2] }));
      expect(await section.setAsideUnfinished()).toBe(2);
    }
    await run.close();
    const recording = await openRecording(folder);
    const prompts: unknown[] = [];
    for await (const record of await recording.interrupted('teacher')) {
      const resolved = isDamaged(record) ? record : await recording.resolveCall(record);
      prompts.push(isDamaged(resolved) ? resolved.damaged : resolved.promptTokenIds);
    }
    expect(prompts).toEqual([
      [10, 1],
      [10, 1, 2],
      [20, 1],
      [20, 1, 2],
    ]);
    await recording.close();
  });

  it('is found in the run when its record comes from elsewhere', async () => {
    const folder = await smallRun();
    const recording = await openRecording(folder);
    const [, record] = linesOf(callsPath(folder));
    expect(await recording.resolveCall(record as never)).toMatchObject({ promptTokenIds: [1, 2, 3] });
    expect(await recording.resolveCall({ ...record, id: 'x', episode: 'x' } as never)).toMatchObject({
      damaged: expect.stringContaining('no file of the run'),
    });
    await recording.close();
  });
});

describe('files that were edited or made to harm', () => {
  it('give damaged entries in the place of lines, and the rest as it is', async () => {
    const folder = await smallRun();
    const [first, second] = readFileSync(callsPath(folder), 'utf8').split('\n');
    const odd = [
      'nonsense',
      '',
      'null',
      '7',
      '[]',
      '{"id":7}',
      '\0\0\0\0',
      '{"version":1,"id":"e0.c9","episode":"e0"',
      first.replace('"version":1', '"version":2'),
      first.replace('"turn":0', '"turn":"0"'),
      first.replace('"logprobs":[', '"extra":[],"logprobs":['),
      `{"__proto__":{"id":"e0.c0"}}`,
    ];
    const lines = [...odd, second, JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(first)).reverse()))];
    writeFileSync(
      callsPath(folder),
      Buffer.concat([Buffer.from(`${lines.join('\n')}\n`), Buffer.from([0xff, 0xfe, 10])]),
    );
    const recording = await openRecording(folder);
    const index = await recording.calls('rounds/0001');
    expect(index.length).toBe(odd.length + 3);
    const entries = await index.read();
    entries.forEach((entry, i) => {
      const whole = i === odd.length || i === odd.length + 1;
      expect([i, isDamaged(entry)]).toEqual([i, !whole]);
      if (isDamaged(entry)) expect(entry.line).toBe(i + 1);
    });
    expect((entries[8] as Damaged).damaged).toMatch(/newer version/);
    expect((entries[9] as Damaged).damaged).toMatch(/^turn: /);
    // Keys in another order are still found by their ids.
    expect(await index.byId('e0.c0')).toMatchObject({ turn: 0 });
    expect(await index.byId('e0.c9')).toMatchObject({ line: 8 });
    expect(await index.byId('e0.c7')).toBeUndefined();
    await expect(index.get(-1)).rejects.toThrow(RangeError);
    await expect(index.get(odd.length + 3)).rejects.toThrow(RangeError);
    await recording.close();
  });

  it('never make reading fail, whatever bytes they hold', async () => {
    const folder = await smallRun();
    const good = readFileSync(callsPath(folder));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ at: fc.nat(good.length - 1), byte: fc.nat(255) }), { minLength: 1, maxLength: 6 }),
        async (flips) => {
          const bytes = Buffer.from(good);
          for (const { at, byte } of flips) bytes[at] = byte;
          writeFileSync(callsPath(folder), bytes);
          const recording = await openRecording(folder);
          const index = await recording.calls('rounds/0001');
          let lines = 0;
          for await (const record of index) {
            lines++;
            if (!isDamaged(record)) await recording.resolveCall(record);
          }
          expect(lines).toBe(index.length);
          expect(lines).toBe(bytes.filter((byte) => byte === 10).length + (bytes.at(-1) === 10 ? 0 : 1));
          await index.forEpisode('e0');
          await recording.close();
        },
      ),
      { numRuns: 150, seed: 3 },
    );
  });

  it('are not read when a line is huge', async () => {
    const folder = await smallRun();
    const path = callsPath(folder);
    const second = readFileSync(path, 'utf8').split('\n')[1];
    const block = Buffer.alloc(1024 * 1024, 'x');
    for (let written = 0; written <= LONGEST_LINE; written += block.length) appendFileSync(path, block);
    appendFileSync(path, `\n${second.replace('e0.c1', 'e0.c2')}\n`);
    const recording = await openRecording(folder);
    const before = process.memoryUsage().rss;
    const index = await recording.calls('rounds/0001');
    expect(index.length).toBe(4);
    expect(await index.get(2)).toMatchObject({ damaged: expect.stringContaining('too long'), line: 3 });
    expect(await index.get(3)).toMatchObject({ id: 'e0.c2' });
    expect((await index.read()).length).toBe(4);
    expect(process.memoryUsage().rss - before).toBeLessThan(LONGEST_LINE / 2);
    await recording.close();
  });

  it('are not opened when they are links, folders, pipes or devices', async () => {
    const folder = await smallRun();
    const outside = temporaryFolder();
    renameSync(callsPath(folder), join(outside, 'calls.jsonl'));
    symlinkSync(join(outside, 'calls.jsonl'), callsPath(folder));
    mkdirSync(join(folder, 'rounds/0001/steps.jsonl'));
    execFileSync('mkfifo', [join(folder, 'rounds/0001/samples.jsonl'), join(folder, 'rounds/0001/plan.json')]);
    symlinkSync(outside, join(folder, 'teacher'));
    const recording = await openRecording(folder);
    expect(await (await recording.calls('rounds/0001')).read()).toEqual([
      { damaged: expect.stringContaining('symbolic link'), line: 0 },
    ]);
    expect(await (await recording.calls('teacher')).read()).toEqual([
      { damaged: expect.stringContaining('outside'), line: 0 },
    ]);
    expect(await (await recording.steps('rounds/0001')).read()).toEqual([{ damaged: 'is no plain file', line: 0 }]);
    expect(await (await recording.samples(1)).read()).toEqual([{ damaged: 'is no plain file', line: 0 }]);
    expect(await recording.plan(1)).toEqual({ damaged: 'is no plain file', line: 0 });
    expect((await recording.sections()).teacher).toEqual([]);
    await recording.close();
  });

  it('may be cut and written again while they are read', async () => {
    const folder = await smallRun();
    const path = callsPath(folder);
    const recording = await openRecording(folder);
    const index = await recording.calls('rounds/0001');
    const [first, second] = readFileSync(path, 'utf8').split('\n');
    truncateSync(path, first.length + 1);
    expect(await index.get(1)).toMatchObject({ damaged: expect.stringContaining('cut while') });
    appendFileSync(path, `${second.replace('e0.c1', 'e0.c8')}\n${second.replace('e0.c1', 'e0.c9')}\n`);
    expect(await index.refresh()).toBe(true);
    expect((await index.read()).map((record) => 'id' in record && record.id)).toEqual(['e0.c0', 'e0.c8', 'e0.c9']);
    rmSync(path);
    expect([await index.refresh(), index.length]).toEqual([true, 0]);
    writeFileSync(path, `${first}\n`);
    expect([await index.refresh(), index.length]).toEqual([true, 1]);
    await recording.close();
    expect(await index.get(0)).toMatchObject({ damaged: expect.stringContaining('closed') });
  });

  it('are read to the end by who began before they were replaced', async () => {
    const folder = await smallRun();
    const recording = await openRecording(folder);
    const index = await recording.calls('rounds/0001');
    const reading = [index.read(), index.forEpisode('e0'), index.byId('e0.c1').then((record) => [record])];
    writeFileSync(`${callsPath(folder)}.new`, '');
    renameSync(`${callsPath(folder)}.new`, callsPath(folder));
    expect([await index.refresh(), index.length]).toEqual([true, 0]);
    const ids = (await Promise.all(reading)).map((records) =>
      records.map((record) => record && 'id' in record && record.id),
    );
    expect(ids).toEqual([['e0.c0', 'e0.c1'], ['e0.c0', 'e0.c1'], ['e0.c1']]);
    await recording.close();
  });

  it('leave no file open', async () => {
    const folder = await smallRun();
    const lowest = () => {
      const descriptor = openSync('/dev/null', 'r');
      closeSync(descriptor);
      return descriptor;
    };
    const first = lowest();
    for (let i = 0; i < 5; i++) {
      const recording = await openRecording(folder);
      const index = await recording.calls('rounds/0001');
      writeFileSync(`${callsPath(folder)}.new`, readFileSync(callsPath(folder)));
      renameSync(`${callsPath(folder)}.new`, callsPath(folder));
      await Promise.all([index.read(), index.refresh(), index.read()]);
      const record = await index.get(1);
      if (!isDamaged(record)) await recording.resolveCall(record);
      await recording.close();
    }
    expect(lowest()).toBe(first);
  });
});
