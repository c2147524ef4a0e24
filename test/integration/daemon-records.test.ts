/** Reading runs, checks, single episodes, evaluations and serving through a real daemon, on one finished run. */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { DaemonClient } from '../../extension/daemon/client.ts';
import { FollowedRun } from '../../extension/daemon/followed-run.ts';
import { RunList } from '../../extension/runs/run-list.ts';
import type { CallSummary, GroupSummary } from '../../protocol/daemon.ts';
import { type EpisodeRecord, imageRefSchema, type SampleRecord } from '../../protocol/records.ts';
import { isDamaged } from '../../recordings/index.ts';
import { EPISODES, recordTalk, SECTION } from '../workbench/recorded-talk.ts';
import { type Bench, bench, news } from './daemon-bench.ts';
import { quickConfig } from './quick-run.ts';

const PATIENCE = { timeout: 20_000, interval: 50 };

let place: Bench;
let client: DaemonClient;
let run: string;
let directory: string;

/** Waits for the end of a run and says how it ended. */
async function end(started: { run: string }) {
  const followed = new FollowedRun(client, started.run, () => {});
  const over = ['finished', 'stopped', 'failed'];
  if (!over.includes(followed.state.phase)) await news(followed, () => over.includes(followed.state.phase));
  followed.dispose();
  // The daemon lets go of the run a moment after the last entry.
  await vi.waitFor(async () => expect((await client.request('daemon.status', {})).active).toBeNull(), PATIENCE);
  return followed.state;
}

beforeAll(async () => {
  place = bench((work) => afterAll(work));
  client = place.client();
  await client.start();
  place.writeConfig('quick.training.yaml', quickConfig);
  const started = await client.request('runs.start', { config: 'quick.training.yaml' });
  ({ run, directory } = started);
  expect((await end(started)).phase).toBe('finished');
});

const sound = <T extends object>(items: T[]) => items.filter((item) => !isDamaged(item));

describe('records', () => {
  it('groups, episodes and calls of a round, page by page', async () => {
    const section = 'rounds/0001';
    const groups = await client.request('groups.list', { run, section });
    expect(groups.total).toBe(2);
    expect(groups.items).toMatchObject([
      { planned: 2, episodes: 2 },
      { planned: 2, episodes: 2 },
    ]);
    const all = sound((await client.request('episodes.list', { run, section })).items) as EpisodeRecord[];
    expect(all).toHaveLength(4);
    const paged: EpisodeRecord[] = [];
    for (let offset = 0; offset < 4; offset += 3) {
      const page = await client.request('episodes.list', { run, section, offset, limit: 3, newestFirst: true });
      expect(page.total).toBe(4);
      paged.push(...(sound(page.items) as EpisodeRecord[]));
    }
    expect(paged.map(({ id }) => id)).toEqual(all.map(({ id }) => id).reverse());
    const filter = { task: all[0].task, init: all[0].init };
    const some = await client.request('episodes.list', { run, section, filter, limit: 1 });
    expect(some.items).toHaveLength(1);
    expect(some.total).toBe(all.filter((each) => each.task === filter.task && each.init === filter.init).length);
    expect(await client.request('episodes.list', { run, section, filter: { outcome: 'invalid' } })).toEqual({
      total: 0,
      items: [],
    });

    const calls = await client.request('calls.list', { run, section, episode: all[0].id });
    expect(calls.total).toBe(all[0].turns);
    const [first] = calls.items as CallSummary[];
    expect(first).toMatchObject({ turn: 0, status: 'complete', sample: { call: first.id } });
    const details = await client.request('calls.get', { run, call: first.id });
    expect(details).toMatchObject({ section, sample: first.sample });
    expect(details.call.request.messages.length).toBeGreaterThan(0);
    expect(details.call.promptTokenIds).toHaveLength(first.promptTokens as number);
    expect(details.call.logprobs).toHaveLength(first.responseTokens as number);
    const episode = await client.request('episodes.get', { run, episode: all[0].id });
    expect(episode).toMatchObject({ section, episode: { id: all[0].id } });
    expect(episode.outputDirectory).toContain(directory);
  });

  it('samples by status and advantage, steps, policies and evaluations', async () => {
    const samples = await client.request('samples.get', { run, round: 1 });
    const items = sound(samples.items) as SampleRecord[];
    const counts: Record<string, number> = {};
    for (const { status } of items) counts[status] = (counts[status] ?? 0) + 1;
    expect(samples.counts).toEqual(counts);
    for (const status of Object.keys(counts)) {
      const page = await client.request('samples.get', { run, round: 1, status });
      expect(page.total).toBe(counts[status]);
    }
    const strong = await client.request('samples.get', { run, round: 1, leastAdvantage: 0.5 });
    expect(strong.total).toBe(items.filter(({ advantage }) => Math.abs(advantage ?? 0) >= 0.5).length);

    const steps = await client.request('steps.list', { run, section: 'sft' });
    expect(steps.items[0]).toMatchObject({ stage: 'sft', step: 1 });
    const policies = await client.request('policies.list', { run });
    expect(policies.map(({ policy, present }) => [policy.version, present])).toContainEqual([1, true]);
    const evaluations = await client.request('evaluations.list', { run });
    expect(evaluations.map((one) => (isDamaged(one) ? one.damaged : one.id))).toContain('evaluation-v0000');
    expect(await client.request('runs.report', { run })).toMatchObject({ directory, state: 'finished' });
    const compared = await client.request('evaluations.compare', {
      a: run,
      b: run,
      evaluationA: 'evaluation-v0000',
      evaluationB: 'evaluation-v0001',
    });
    expect(compared).toMatchObject({ a: { policyVersion: 0 }, b: { policyVersion: 1 } });
    await expect(client.request('evaluations.compare', { a: run, b: run, evaluationA: 'nope' })).rejects.toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('has no evaluation "nope"'),
    });
  });

  it('what is not there, or lies outside of the workspace, is refused in words', async () => {
    const refused = (work: Promise<unknown>, kind: string, message: string) =>
      expect(work).rejects.toMatchObject({ kind, message: expect.stringContaining(message) });
    const nearly = `${run.slice(0, -1)}X`;
    await refused(client.request('runs.snapshot', { run: nearly }), 'notFound', `did you mean "${run}"`);
    await refused(client.request('runs.snapshot', { run: '../..' }), 'outside', 'outside of the workspace');
    await refused(client.request('runs.start', { config: '/etc/passwd' }), 'outside', 'outside of the workspace');
    await refused(client.request('calls.get', { run, call: 'nope' }), 'notFound', 'no call nope');
    await refused(client.request('blobs.get', { run, sha256: '0'.repeat(64) }), 'notFound', 'no image');
    await refused(client.request('episodes.list', { run, section: '../runs' }), 'notFound', 'no name of a section');
    await refused(client.request('policies.activate', { run, policyVersion: 77 }), 'notFound', 'v0077');
    await refused(client.request('serving.start', { checkpoint: tmpdir() }), 'outside', 'outside of the workspace');
    symlinkSync('/etc', join(place.folder, 'shortcut'));
    await refused(client.request('runs.start', { config: 'shortcut/passwd' }), 'outside', 'outside of the workspace');
    rmSync(join(place.folder, 'shortcut'));
    expect((await client.request('runs.list', {})).length).toBe(1);
  });

  it('an image of a call, byte for byte', async () => {
    const talk = join(place.folder, 'runs', 'talk');
    await recordTalk(talk);
    const [episode] = EPISODES;
    const { call } = await client.request('calls.get', { run: 'talk', section: SECTION, call: `${episode}.c0` });
    const parts = call.request.messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
    const image = imageRefSchema.parse(parts.find(({ type }) => type === 'image_ref'));
    const { mediaType, base64 } = await client.request('blobs.get', { run: 'talk', sha256: image.sha256 });
    const bytes = Buffer.from(base64, 'base64');
    expect(mediaType).toBe('image/png');
    expect(bytes).toHaveLength(image.bytes);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(image.sha256);
    const { width, height } = PNG.sync.read(bytes);
    expect(Math.min(width, height)).toBeGreaterThan(0);
    // What lies there is not what was recorded.
    const [file] = readdirSync(join(talk, 'blobs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.png'),
    );
    writeFileSync(join(talk, 'blobs', file), bytes.subarray(0, 40));
    await expect(client.request('blobs.get', { run: 'talk', sha256: image.sha256 })).rejects.toMatchObject({
      kind: 'damaged',
    });
    rmSync(talk, { recursive: true });
  });

  it('a damaged record stands in its place', async () => {
    const copy = join(place.folder, 'runs', 'damaged');
    mkdirSync(copy);
    writeFileSync(join(copy, 'run.json'), '{}');
    const [broken] = (await client.request('runs.list', {})).filter((one) => one.run === 'runs/damaged');
    expect(broken).toMatchObject({ state: 'damaged', problem: expect.stringContaining('run.json') });
    await expect(client.request('runs.snapshot', { run: 'damaged' })).rejects.toMatchObject({ kind: 'notFound' });
    rmSync(copy, { recursive: true });
  });

  it('damaged episodes are listed with their group, or behind the groups where they do not tell it', async () => {
    const copy = join(place.folder, 'runs', 'hurt');
    cpSync(directory, copy, { recursive: true });
    const section = 'rounds/0001';
    const path = join(copy, section, 'episodes.jsonl');
    const [first, second, third, ...others] = readFileSync(path, 'utf8').split('\n');
    const hurt = [
      first.replace(/"reward":[^,]+/, '"reward":"high"'),
      second.replace('"version":1', '"version":9'),
      third.replace(/"init":\d+/, '"init":"?"'),
    ];
    writeFileSync(path, [...hurt, ...others].join('\n'));
    const { task, init } = JSON.parse(first) as EpisodeRecord;
    const { items, total } = await client.request('groups.list', { run: 'runs/hurt', section });
    const groups = items.filter((item) => !isDamaged(item)) as GroupSummary[];
    const counted = groups.reduce((sum, { episodes, unread = 0 }) => sum + episodes + unread, 0);
    expect([counted, groups.reduce((sum, { unread = 0 }) => sum + unread, 0), total]).toEqual([3, 2, items.length]);
    expect(items.at(-1)).toEqual({ damaged: expect.stringMatching(/^init: /), line: 3 });
    const group = await client.request('episodes.list', { run: 'runs/hurt', section, filter: { task, init } });
    const unread = groups.find((one) => one.task === task && one.init === init)?.unread;
    expect(group.items.filter(isDamaged)).toHaveLength(unread as number);
    expect(group.items).toContainEqual({ damaged: expect.stringMatching(/^reward: /), line: 1 });
    const elsewhere = { task, init: init + 1000 };
    const none = await client.request('episodes.list', { run: 'runs/hurt', section, filter: elsewhere });
    expect(none.total).toBe(0);
    rmSync(copy, { recursive: true });
  });
});

describe('checks', () => {
  it('a config with errors is told with lines, and is not started', async () => {
    place.writeConfig('bad.training.yaml', { ...quickConfig, rl: { ...quickConfig.rl, attemptsPerGroup: 1 } });
    const { ok, files } = await client.request('config.validate', { files: ['bad.training.yaml'] });
    expect(ok).toBe(false);
    expect(files[0].findings).toMatchObject([{ severity: 'error', line: 1, path: 'rl.attemptsPerGroup' }]);
    const failure = client.request('runs.start', { config: 'bad.training.yaml' });
    await expect(failure).rejects.toMatchObject({
      kind: 'config',
      data: { findings: files[0].findings.map(({ code }) => expect.objectContaining({ code })) },
    });
    // What only the adapter knows is told at its place, too.
    place.writeConfig('suite.training.yaml', {
      ...quickConfig,
      harness: { ...quickConfig.harness, suites: ['quik'] },
    });
    await expect(client.request('runs.start', { config: 'suite.training.yaml' })).rejects.toMatchObject({
      kind: 'config',
      data: { findings: [expect.objectContaining({ code: 'unknown-suite', path: 'harness.suites.0' })] },
    });
    expect((await client.request('daemon.status', {})).active).toBeNull();
    expect((await client.request('runs.list', {})).length).toBe(1);
  });

  it('an adapter on recorded outputs: the five fields, and what is wrong', async () => {
    const section = 'teacher';
    const { items } = await client.request('episodes.list', { run, section, limit: 1 });
    const [{ id, task, reward }] = items as EpisodeRecord[];
    const { outputDirectory } = await client.request('episodes.get', { run, episode: id });
    place.writeConfig('mine.adapter.mjs', {} as never);
    const source = readFileSync(quickConfig.harness?.adapter as string, 'utf8');
    writeFileSync(join(place.folder, 'mine.adapter.mjs'), source);
    const checked = await client.request('adapter.check', {
      adapter: './mine.adapter.mjs',
      outputs: [outputDirectory as string, 'runs/nowhere'],
    });
    expect(checked.ok).toBe(false);
    expect(checked.outputs).toMatchObject([
      { known: true, outcome: { task, reward }, problem: null },
      { outcome: null, problem: 'there is no such folder' },
    ]);
    writeFileSync(join(place.folder, 'broken.adapter.mjs'), 'export default 7;\n');
    await expect(
      client.request('adapter.check', { adapter: './broken.adapter.mjs', outputs: [] }),
    ).rejects.toMatchObject({ kind: 'failed', message: expect.stringContaining('broken.adapter.mjs') });
  });

  it('the machine', async () => {
    const { checks } = await client.request('doctor.run', {});
    expect(checks).toContainEqual(expect.objectContaining({ name: 'ONNX Runtime, cpu', state: 'ok' }));
  });
});

describe('work on a finished run', () => {
  it('one episode, by the teacher and by a planner', async () => {
    const taught = await client.request('episodes.run', {
      config: 'quick.training.yaml',
      task: 'quick/0',
      init: 12,
      player: 'teacher',
    });
    expect(taught.name).toBe('quick-episode');
    expect((await end(taught)).sections).toMatchObject([{ section: 'teacher', episodes: 1 }]);
    const played = await client.request('episodes.run', {
      config: 'quick.training.yaml',
      task: 'quick/0',
      init: 2,
      player: { checkpoint: `${run}/policies/v0001` },
    });
    const state = await end(played);
    expect(state.sections).toMatchObject([{ section: 'evaluations/evaluation-v0000', episodes: 1 }]);
    const section = state.sections[0].section;
    expect((await client.request('episodes.list', { run: played.run, section })).items).toMatchObject([
      { task: 'quick/0', init: 2 },
    ]);
  });

  it('an evaluation of one policy, under a config and of the run itself', async () => {
    const started = await client.request('evaluations.start', {
      config: 'quick.training.yaml',
      checkpoint: `${run}/policies/v0001`,
    });
    expect(started.run).toMatch(/^runs\/quick-evaluation-\d{8}T/);
    expect((await end(started)).evaluations).toMatchObject([{ kind: 'evaluation', policyVersion: 0 }]);
    const again = await client.request('evaluations.start', { run, policies: [2] });
    expect(again.run).toBe(run);
    expect((await end(again)).evaluations.map(({ id }) => id)).toContain('evaluation-v0002');
  });

  it('an evaluation of what is evaluated already is over at once, and its end is told all the same', async () => {
    const list = new RunList(client, () => {});
    const ended: string[] = [];
    list.onNews((told) => {
      if (told.kind === 'ended') ended.push(`${told.ended.run} ${told.ended.outcome}`);
    });
    await list.reload();
    list.began(await client.request('evaluations.start', { run }));
    await vi.waitFor(() => expect(ended).toEqual([`${run} finished`]), PATIENCE);
    list.dispose();
  });

  it('a served policy answers, under its own key; activating another keeps the address', async () => {
    const changes: number[] = [];
    client.on('serving.changed', ({ served }) => changes.push(served.length));
    const first = await client.request('policies.activate', { run, policyVersion: 1 });
    expect(first).toMatchObject({ run, policyVersion: 1, active: true, model: 'planner' });
    expect(await post(first.url, 'wrong')).toBe(401);
    expect(await post(first.url, first.apiKey)).toBe(200);
    const second = await client.request('policies.activate', { run, policyVersion: 2 });
    expect(second).toMatchObject({ url: first.url, policyVersion: 2 });
    expect(await client.request('serving.list', {})).toEqual([second]);
    const policies = await client.request('policies.list', { run });
    expect(policies.filter(({ active }) => active).map(({ policy }) => policy.version)).toEqual([2]);
    const other = await client.request('serving.start', { checkpoint: `${run}/policies/v0000` });
    expect(await post(other.url, other.apiKey, 'v0000')).toBe(200);
    for (const { checkpoint } of [second, other])
      expect(await client.request('serving.stop', { checkpoint })).toEqual({ accepted: true });
    await expect(post(second.url, second.apiKey)).rejects.toThrow('ECONNREFUSED');
    expect(changes.at(-1)).toBe(0);
    expect(place.log()).not.toContain(first.apiKey);
  });
});

/** The status of a chat completion. */
function post(url: string, key: string, model = 'planner'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(
      `${url}/chat/completions`,
      { method: 'POST', headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` } },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode));
      },
    );
    asked.on('error', reject);
    asked.end(JSON.stringify({ model, messages: [{ role: 'user', content: 'go' }], max_tokens: 2 }));
  });
}
