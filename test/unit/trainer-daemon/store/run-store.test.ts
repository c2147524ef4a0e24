import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CallRecord, ImageRef, ResolvedCall } from '../../../../protocol/records.ts';
import { StoreError } from '../../../../trainer-daemon/store/contract.ts';
import { createRun, openRun } from '../../../../trainer-daemon/store/index.ts';
import { call, episode, linesOf, runInfo, temporaryFolder } from './runs.ts';

const user = (text: string) => ({ role: 'user' as const, content: text });
const withImage = (url: string, more: Record<string, unknown> = {}): ResolvedCall['request'] => ({
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url, ...more } }] }],
  tools: null,
  other: {},
});

describe('a new run', () => {
  it('holds its description and an empty journal, and goes on where it stopped', async () => {
    const folder = join(temporaryFolder(), 'runs', 'first');
    const run = await createRun(folder, runInfo);
    expect(JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))).toEqual(runInfo);
    expect(run.seq).toBe(0);
    const lines = await Promise.all([
      run.journal({ type: 'stage-started', stage: 'teacher' }),
      run.journal({ type: 'warning', message: 'two' }),
    ]);
    expect(lines.map((line) => line.seq)).toEqual([1, 2]);
    await run.close();

    const again = await openRun(folder);
    expect(again.info).toEqual(runInfo);
    expect([again.seq, again.repairs]).toEqual([2, []]);
    expect((await again.journal({ type: 'warning', message: 'three' })).seq).toBe(3);
    await again.close();
    expect(linesOf(folder, 'journal.jsonl').map((line) => line.seq)).toEqual([1, 2, 3]);
  });

  it('needs a folder of its own', async () => {
    const folder = temporaryFolder();
    await (await createRun(folder, runInfo)).close();
    await expect(createRun(folder, runInfo)).rejects.toThrow(/holds a run already/);
    const other = temporaryFolder();
    writeFileSync(join(other, 'notes.txt'), 'mine');
    await expect(createRun(other, runInfo)).rejects.toThrow(/is not empty \(notes\.txt\)/);
    expect(readdirSync(other)).toEqual(['notes.txt']);
  });

  it('is refused when its description breaks the schema', async () => {
    await expect(createRun(join(temporaryFolder(), 'r'), { ...runInfo, id: 'XYZ' })).rejects.toThrow(/run\.json.*id/);
  });
});

describe('opening', () => {
  it('refuses what is no run', async () => {
    const folder = temporaryFolder();
    await expect(openRun(folder)).rejects.toThrow(/no run directory/);
    expect(readdirSync(folder)).toEqual([]);
    writeFileSync(join(folder, 'run.json'), '{"version":2,"id":"1f0c2ab9"}');
    await expect(openRun(folder)).rejects.toThrow(/newer version/);
  });

  it('cuts off torn last lines everywhere and says so', async () => {
    const folder = temporaryFolder();
    const run = await createRun(folder, runInfo);
    await run.journal({ type: 'warning', message: 'kept' });
    await run.section('rounds/0001').appendCall(call());
    await run.section('teacher').appendEpisode(episode('t'));
    await run.close();
    appendFileSync(join(folder, 'journal.jsonl'), '{"seq":2,"at":"20');
    appendFileSync(join(folder, 'messages.jsonl'), '{"sha256":"');
    appendFileSync(join(folder, 'rounds/0001/calls.jsonl'), '{"version":1,"id":"é'.slice(0, -1));
    appendFileSync(join(folder, 'teacher/episodes.jsonl'), '{"version":1,"id":"\0\0\0\n\0\0\n');
    writeFileSync(join(folder, 'teacher/calls.jsonl.tmp-1-1'), 'half');

    const again = await openRun(folder);
    expect(Object.fromEntries(again.repairs.map(({ file, bytes }) => [file, bytes]))).toEqual({
      'journal.jsonl': 17,
      'messages.jsonl': 11,
      'rounds/0001/calls.jsonl': 19,
      'teacher/episodes.jsonl': 26,
    });
    expect(again.seq).toBe(1);
    await again.section('rounds/0001').appendCall(call({ turn: 1 }));
    await again.close();
    expect(linesOf(folder, 'rounds/0001/calls.jsonl')).toHaveLength(2);
    expect(linesOf(folder, 'teacher/episodes.jsonl')).toHaveLength(1);
    expect(existsSync(join(folder, 'teacher/calls.jsonl.tmp-1-1'))).toBe(false);
  });

  it('refuses a journal with a gap or a damaged line, by number', async () => {
    const folder = temporaryFolder();
    const run = await createRun(folder, runInfo);
    await run.journal({ type: 'warning', message: 'one' });
    await run.close();
    const path = join(folder, 'journal.jsonl');
    appendFileSync(path, '{"at":"2026-01-01T00:00:00Z","seq":2,"event":{"type":"warning","message":"by hand"}}\n');
    const edited = await openRun(folder);
    expect(edited.seq).toBe(2);
    await edited.close();
    appendFileSync(path, '{"seq":4,\n');
    await expect(openRun(folder)).rejects.toThrow(/line 3 has number 4/);
    writeFileSync(path, 'nonsense\n');
    await expect(openRun(folder)).rejects.toThrow(/line 1 cannot be read/);
  });
});

describe('the lock', () => {
  it('lets one process write and names it', async () => {
    const folder = temporaryFolder();
    const run = await createRun(folder, runInfo);
    const refused = await openRun(folder).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StoreError);
    expect((refused as Error).message).toContain(`this process (${process.pid})`);
    await run.close();
    await run.close();
    expect(existsSync(join(folder, 'run.lock'))).toBe(false);
    await (await openRun(folder)).close();
  });

  it.each([
    ['a dead process', { pid: 2 ** 22 + 1, startTime: '5', boot: null, host: hostname() }, true],
    [
      'an earlier process of the same number',
      { pid: process.ppid, startTime: '1', boot: null, host: hostname() },
      true,
    ],
    ['an earlier boot', { pid: process.ppid, startTime: null, boot: 'another', host: hostname() }, true],
    ['a live process', { pid: process.ppid, startTime: null, boot: null, host: hostname() }, false],
    ['another machine', { pid: 1, startTime: null, boot: null, host: 'elsewhere' }, false],
  ])('of %s', async (_, lock, replaced) => {
    const folder = temporaryFolder();
    await (await createRun(folder, runInfo)).close();
    writeFileSync(join(folder, 'run.lock'), JSON.stringify(lock));
    if (replaced) {
      const run = await openRun(folder);
      expect(JSON.parse(readFileSync(join(folder, 'run.lock'), 'utf8')).pid).toBe(process.pid);
      await run.close();
    } else {
      await expect(openRun(folder)).rejects.toThrow(new RegExp(`process ${lock.pid}`));
      expect(JSON.parse(readFileSync(join(folder, 'run.lock'), 'utf8'))).toEqual(lock);
    }
  });

  it('is a link where a full disk took no file; a link is never followed', async () => {
    const folder = temporaryFolder();
    await (await createRun(folder, runInfo)).close();
    const lock = join(folder, 'run.lock');
    symlinkSync(JSON.stringify([process.ppid, null, null, hostname()]), lock);
    await expect(openRun(folder)).rejects.toThrow(`being written by process ${process.ppid}`);
    for (const target of [JSON.stringify([2 ** 22 + 1, '5', null, hostname()]), '[]', '/dev/zero']) {
      rmSync(lock, { force: true });
      symlinkSync(target, lock);
      await (await openRun(folder)).close();
      expect(existsSync(lock)).toBe(false);
    }
  });

  it('goes to one of many who find the same stale lock, each time', async () => {
    const folder = temporaryFolder();
    await (await createRun(folder, runInfo)).close();
    for (let time = 0; time < 15; time++) {
      writeFileSync(join(folder, 'run.lock'), 'broken');
      const results = await Promise.allSettled(Array.from({ length: 8 }, () => openRun(folder)));
      const winners = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      const losers = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
      expect(winners).toHaveLength(1);
      for (const loser of losers) expect(loser).toMatch(/being written by this process/);
      await winners[0].close();
      expect(readdirSync(folder).filter((name) => name.includes('lock'))).toEqual([]);
    }
  });

  it('is not kept by the crash of one who was replacing it', async () => {
    const folder = temporaryFolder();
    await (await createRun(folder, runInfo)).close();
    writeFileSync(join(folder, 'run.lock'), 'broken');
    const guard = join(folder, 'run.lock.replacing');
    writeFileSync(guard, '');
    utimesSync(guard, 0, 0);
    await (await openRun(folder)).close();
    expect(existsSync(guard)).toBe(false);
  });
});

describe('calls', () => {
  it('are stored as what they add to the last complete call of their episode', async () => {
    const folder = temporaryFolder();
    const run = await createRun(folder, runInfo);
    const section = run.section('rounds/0001');
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(user);
    const tools = [{ type: 'function', function: { name: 'grip', parameters: { z: 1, a: 2 } } }];
    const request = (messages: (typeof a)[]) => ({ messages, tools, other: { zeta: 1, alpha: 2 } });
    await Promise.all([
      section.appendCall(call({ turn: 0, request: request([a]), promptTokenIds: [1, 2, 3] })),
      section.appendCall(
        call({ turn: 1, request: request([a, b]), promptTokenIds: [1, 2, 3, 4, 5], status: 'aborted' }),
      ),
      section.appendCall(call({ turn: 2, request: request([a, b, c]), promptTokenIds: [1, 2, 9] })),
      section.appendCall(call({ turn: 3, request: request([d, b]), promptTokenIds: [7] })),
      section.appendCall(call({ turn: 4, request: request([d]), promptTokenIds: null })),
      section.appendCall(call({ episode: 'e1', request: request([a]), promptTokenIds: [1, 2, 3] })),
    ]);
    await run.close();
    const records = linesOf(folder, 'rounds/0001/calls.jsonl') as unknown as CallRecord[];
    const first = records.filter((record) => record.episode === 'e0');
    expect(first.map((record) => record.turn)).toEqual([0, 1, 2, 3, 4]);
    expect(first.map((record) => record.prompt)).toEqual([
      { base: null, shared: 0, suffix: [1, 2, 3], length: 3 },
      { base: 'e0.c0', shared: 3, suffix: [4, 5], length: 5 },
      { base: 'e0.c0', shared: 2, suffix: [9], length: 3 },
      { base: null, shared: 0, suffix: [7], length: 1 },
      null,
    ]);
    expect(first.map((record) => [record.request.start?.base, record.request.messages.length])).toEqual([
      [undefined, 1],
      ['e0.c0', 1],
      ['e0.c0', 2],
      [undefined, 2],
      ['e0.c3', 0],
    ]);
    expect(records.find((record) => record.episode === 'e1')?.prompt?.base).toBeNull();
    const bodies = linesOf(folder, 'messages.jsonl');
    expect(bodies).toHaveLength(5);
    // Templates render tools in the order in which they came.
    expect(JSON.stringify(bodies.find((line) => Array.isArray(line.body))?.body)).toBe(JSON.stringify(tools));
    for (const { sha256, body } of bodies) {
      expect(createHash('sha256').update(JSON.stringify(body)).digest('hex')).toBe(sha256);
    }
  });

  it('keep bodies once, also across openings', async () => {
    const folder = temporaryFolder();
    const large = user('x'.repeat(70_000));
    for (const turn of [0, 1, 2]) {
      const run = turn === 0 ? await createRun(folder, runInfo) : await openRun(folder);
      await run
        .section('teacher')
        .appendCall(call({ turn, request: { messages: [user('a'), large], tools: null, other: {} } }));
      await run.close();
    }
    expect(linesOf(folder, 'messages.jsonl')).toHaveLength(1);
    const blobs = readdirSync(join(folder, 'blobs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.includes('.'),
    );
    expect(blobs).toHaveLength(1);
    expect(JSON.parse(readFileSync(join(folder, 'blobs', blobs[0]), 'utf8'))).toEqual(large);
  });

  it('move images into files and keep what else the part said', async () => {
    const folder = temporaryFolder();
    const run = await createRun(folder, runInfo);
    const bytes = Buffer.from([0x89, 0x50, 1, 2, 3]);
    const url = `data:image/png;base64,${bytes.toString('base64')}`;
    const request = withImage(url, { detail: 'high' });
    await run.section('teacher').appendCall(call({ request }));
    await run.section('teacher').appendCall(call({ turn: 1, request: withImage(url) }));
    await run.close();
    const sha = createHash('sha256').update(bytes).digest('hex');
    expect(readFileSync(join(folder, 'blobs', sha.slice(0, 2), `${sha}.png`))).toEqual(bytes);
    const parts = linesOf(folder, 'messages.jsonl').map((line) => (line.body as { content: ImageRef[] }).content[0]);
    expect(parts).toEqual([
      { type: 'image_ref', sha256: sha, mediaType: 'image/png', bytes: 5, rest: { image_url: { detail: 'high' } } },
      { type: 'image_ref', sha256: sha, mediaType: 'image/png', bytes: 5 },
    ]);
    expect(request.messages[0].content).toEqual([{ type: 'image_url', image_url: { url, detail: 'high' } }]);
  });

  it.each([
    'data:image/png;base64,not base64!',
    'data:image/png;base64,AAA',
    'data:image/png;base64,',
    'data:image/png,plain',
    'https://example.org/a.png',
    'data:',
  ])('keep %s as it is', async (url) => {
    const folder = temporaryFolder();
    const run = await createRun(folder, runInfo);
    await run.section('teacher').appendCall(call({ request: withImage(url) }));
    await run.close();
    expect(linesOf(folder, 'messages.jsonl')[0].body).toEqual(withImage(url).messages[0]);
  });

  it('tell images apart that look alike', async () => {
    const folder = temporaryFolder();
    const run = await createRun(folder, runInfo);
    const bytes = Array.from({ length: 3 }, (_, i) => Buffer.alloc(3000, 7).fill(i, 30, 31));
    for (const [turn, image] of [...bytes, bytes[0]].entries()) {
      const request = withImage(`data:image/png;base64,${image.toString('base64')}`);
      await run.section('teacher').appendCall(call({ turn, request }));
    }
    await run.close();
    const shas = linesOf(folder, 'messages.jsonl').map(
      (line) => (line.body as { content: ImageRef[] }).content[0].sha256,
    );
    expect(shas).toEqual(bytes.map((image) => createHash('sha256').update(image).digest('hex')));
  });

  it('that break their schema leave nothing', async () => {
    const folder = temporaryFolder();
    const run = await createRun(folder, runInfo);
    const section = run.section('teacher');
    await expect(section.appendCall(call({ logprobs: [Number.NaN] }))).rejects.toThrow(
      /teacher\/calls\.jsonl: the record e0\.c0 .*logprobs\.0/,
    );
    const robot = { messages: [{ role: 'robot', content: 'x' } as never], tools: null, other: {} };
    await expect(section.appendCall(call({ request: robot }))).rejects.toThrow(/message is not stored.* at role/);
    const cyclic: Record<string, unknown> = { role: 'user' };
    cyclic.self = cyclic;
    await expect(
      section.appendCall(call({ request: { messages: [cyclic as never], tools: null, other: {} } })),
    ).rejects.toThrow(/no JSON/);
    await section.appendCall(call());
    await run.close();
    expect(linesOf(folder, 'teacher/calls.jsonl')).toHaveLength(1);
    expect(linesOf(folder, 'messages.jsonl')).toHaveLength(1);
    await expect(section.appendCall(call({ turn: 1 }))).rejects.toThrow(/closed/);
  });
});

describe('a section', () => {
  it.each(['', '..', '../x', 'a/../b', '/etc', 'rounds/', 'a/b/c', 'blobs', 'blobs/ab', '.hidden', 'a\\b', 'a\0'])(
    'is not called %j',
    async (name) => {
      const run = await createRun(temporaryFolder(), runInfo);
      expect(() => run.section(name)).toThrow(StoreError);
      await run.close();
    },
  );

  it('has no files outside of it', async () => {
    const root = temporaryFolder();
    const run = await createRun(join(root, 'run'), runInfo);
    const section = run.section('sft');
    for (const name of ['../x.jsonl', '/x.jsonl', 'a/b.jsonl', '.jsonl', 'x.txt']) {
      await expect(section.appendLines(name, [1])).rejects.toThrow(/no name of a record file/);
      await expect(section.replaceLines(name, [1])).rejects.toThrow(/no name of a record file/);
      await expect(section.writeJson(name.replace('jsonl', 'json'), 1)).rejects.toThrow(/no name of a record file/);
    }
    mkdirSync(join(root, 'outside'));
    symlinkSync(join(root, 'outside'), join(root, 'run', 'teacher'));
    await expect(run.section('teacher').appendEpisode(episode('t'))).rejects.toThrow(/symbolic link/);
    await section.appendLines('notes.jsonl', [{ any: 'thing' }]);
    writeFileSync(join(root, 'outside', 'target.jsonl'), '');
    symlinkSync(join(root, 'outside', 'target.jsonl'), join(root, 'run', 'sft', 'link.jsonl'));
    await expect(section.appendLines('link.jsonl', [1])).rejects.toThrow(/symbolic link/);
    await run.close();
    expect(readdirSync(join(root, 'outside'))).toEqual(['target.jsonl']);
    expect(linesOf(root, 'run/sft/notes.jsonl')).toEqual([{ any: 'thing' }]);
  });

  it('replaces files as a whole or not at all', async () => {
    const folder = temporaryFolder();
    const run = await createRun(folder, runInfo);
    const section = run.section('rounds/0001');
    const sample = {
      call: 'c',
      episode: 'e',
      advantage: 0.5,
      u: 1,
      promptLength: 1,
      responseLength: 1,
      status: 'selected',
    };
    await section.replaceLines('samples.jsonl', [sample, { ...sample, call: 'd' }]);
    await section.appendLines('samples.jsonl', [{ ...sample, call: 'e' }]);
    await expect(section.replaceLines('samples.jsonl', [sample, { ...sample, u: 'much' }])).rejects.toThrow(/at u/);
    expect(linesOf(section.directory, 'samples.jsonl').map((line) => line.call)).toEqual(['c', 'd', 'e']);
    await section.replaceLines('samples.jsonl', []);
    await section.appendLines('samples.jsonl', [sample]);
    const plan = { round: 1, policyVersion: 1, attempts: 2, groups: [{ task: 's/0', init: 11 }] };
    await section.writeJson('plan.json', plan);
    await expect(section.writeJson('plan.json', { ...plan, attempts: 1 })).rejects.toThrow(/attempts/);
    await run.close();
    expect(linesOf(section.directory, 'samples.jsonl').map((line) => line.call)).toEqual(['c']);
    expect(JSON.parse(readFileSync(join(section.directory, 'plan.json'), 'utf8'))).toEqual(plan);
    expect(readdirSync(section.directory).sort()).toEqual(['plan.json', 'samples.jsonl']);
  });

  it('sets aside the calls of unfinished episodes, which can then run again', async () => {
    const folder = temporaryFolder();
    const run = await createRun(folder, runInfo);
    const section = run.section('rounds/0001');
    for (const turn of [0, 1]) for (const id of ['done', 'lost']) await section.appendCall(call({ episode: id, turn }));
    await section.appendEpisode(episode('done'));
    appendFileSync(join(section.directory, 'calls.jsonl'), 'damaged by hand\n');
    expect(await section.setAsideUnfinished()).toBe(2);
    expect(await section.setAsideUnfinished()).toBe(0);
    await section.appendCall(call({ episode: 'lost', turn: 0, promptTokenIds: [1, 2, 3, 0] }));
    await run.close();
    const text = readFileSync(join(section.directory, 'calls.jsonl'), 'utf8').split('\n');
    expect(text[2]).toBe('damaged by hand');
    const kept = [text[0], text[1], text[3]].map((line) => JSON.parse(line) as CallRecord);
    expect(kept.map((record) => record.id)).toEqual(['done.c0', 'done.c1', 'lost.c0']);
    expect(kept[2].prompt?.base).toBeNull();
    expect(linesOf(section.directory, 'interrupted.jsonl').map((line) => line.id)).toEqual(['lost.c0', 'lost.c1']);
  });
});
