/** The embedded default as a whole: shipped harness, scripted teacher, the planner's own server, proxy and store. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { EpisodeRecord } from '../../protocol/records.ts';
import { type RunningServer, startPlannerServer } from '../../trainer-daemon/planner/serving/server.ts';
import { createUpstream, type RecordingProxy, startProxy, type Upstream } from '../../trainer-daemon/proxy/index.ts';
import {
  type LoadedAdapter,
  loadAdapter,
  runEpisodes,
  startScriptedTeacher,
} from '../../trainer-daemon/rollouts/index.ts';
import { WatchedSection } from '../doubles/watched-section.ts';
import { tinyPlanner } from '../unit/trainer-daemon/planner/tiny-planner.ts';

let adapter: LoadedAdapter;
let proxy: RecordingProxy;
let planner: RunningServer;
let section: WatchedSection;

beforeAll(async () => {
  adapter = await loadAdapter('tabletop-skills', import.meta.dirname);
  proxy = await startProxy();
  planner = await startPlannerServer({ checkpoint: await tinyPlanner(), policyVersion: 2, modelName: 'planner' });
});
afterAll(async () => {
  await adapter?.close();
  await proxy?.close();
  await planner?.close();
});
beforeEach(async () => {
  section = await WatchedSection.create();
  const watched = section;
  return () => watched.remove();
});

const play = (
  upstream: Upstream,
  inits: number[],
  role: 'teacher' | 'rollout',
  turns: number,
): Promise<EpisodeRecord[]> =>
  runEpisodes({
    adapter,
    jobs: inits.map((init) => ({
      key: { run: '0badcafe', role, round: 1, task: 'tabletop_spatial/0', init, attempt: 0, tryNumber: 0 },
    })),
    proxy,
    upstream,
    section,
    sampling: { temperature: 1, topP: 1, topK: -1, presencePenalty: 0 },
    limits: { turns, seconds: 120, responseTokens: 48, idleSeconds: 60 },
    concurrency: 2,
    workspace: import.meta.dirname,
  });

describe('the embedded default', () => {
  it('lists the suites of the shipped harness', async () => {
    expect((await adapter.tasks()).tabletop_spatial).toHaveLength(10);
  });

  it('the scripted teacher plays recorded, successful episodes', async () => {
    const teacher = await startScriptedTeacher(adapter);
    const records = await play(teacher.upstream, [11, 12, 13], 'teacher', 40);
    await teacher.close();
    expect(records.map((record) => [record.valid, record.invalidReason, record.policyVersion])).toEqual(
      records.map(() => [true, null, null]),
    );
    expect(records.filter((record) => record.reward === 1).length).toBeGreaterThan(1);
    for (const record of records) {
      const calls = section.calls.filter((call) => call.episode === record.id);
      expect(calls.map((call) => call.turn)).toEqual(calls.map((_, i) => i));
      expect(calls.length).toBe(record.turns);
      expect(record.trajectory).toBe('trajectory.json');
      const output = join(section.directory, 'output', record.id);
      expect(readFileSync(join(output, 'trajectory.json'), 'utf8').length).toBeGreaterThan(1000);
    }
  });

  it('an untrained planner fails validly, and every call can be trained on', async () => {
    const upstream = createUpstream({
      kind: 'embedded',
      url: planner.url,
      model: planner.modelName,
      policyVersion: () => planner.policyVersion,
    });
    const records = await play(upstream, [11, 12], 'rollout', 3);
    expect(records.map((record) => [record.valid, record.invalidReason, record.reward, record.policyVersion])).toEqual(
      records.map(() => [true, null, 0, 2]),
    );
    expect(section.calls.length).toBeGreaterThan(1);
    for (const call of section.calls) {
      expect(call).toMatchObject({ status: 'complete', error: null, policyVersion: 2 });
      expect(call.promptTokenIds?.length).toBeGreaterThan(10);
      expect(call.responseTokenIds?.length).toBeGreaterThan(0);
      expect(call.logprobs?.length).toBe(call.responseTokenIds?.length);
      expect(call.usage?.completion_tokens).toBe(call.responseTokenIds?.length);
      expect(call.samplingSent).toMatchObject({ temperature: 1, top_p: 1, top_k: -1, max_tokens: 48 });
    }
  });

  it('a stream of the planner is recorded like a whole reply', async () => {
    const upstream = createUpstream({ kind: 'embedded', url: planner.url, model: 'planner', policyVersion: () => 2 });
    const episode = (id: string) =>
      proxy.openEpisode({
        id,
        role: 'rollout',
        upstream,
        sampling: { temperature: 1, topP: 1, topK: -1, presencePenalty: 0 },
        responseTokens: 24,
        turns: 10,
        sink: section,
        onUpstreamFailure: 'pass',
      });
    const messages = [{ role: 'user', content: 'go' }];
    const one = episode('stream');
    const reply = await fetch(`${one.baseUrl}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ messages, stream: true }),
    });
    const text = await reply.text();
    expect(text).toContain('[DONE]');
    expect(text).not.toMatch(/token_ids|policy_version/);
    const [call] = section.calls;
    expect(call).toMatchObject({ status: 'complete', error: null });
    expect(call.logprobs?.length).toBe(call.responseTokenIds?.length);
    const long = await fetch(`${one.baseUrl}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ messages: [{ role: 'user', content: 'word '.repeat(5000) }] }),
    });
    expect(long.status).toBe(400);
    expect(section.calls[1].status).toBe('limit');
    expect(one.contextLimitReached).toBe(true);
    await one.close('done');
  });
});
