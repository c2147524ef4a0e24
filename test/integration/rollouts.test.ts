/** Episodes of real harness processes through a real adapter and the real proxy. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { episodeId } from '../../protocol/ids.ts';
import { type EpisodeRecord, episodeSchema } from '../../protocol/records.ts';
import type { RecordingProxy } from '../../trainer-daemon/proxy/contract.ts';
import { createUpstream } from '../../trainer-daemon/proxy/index.ts';
import { startProxy } from '../../trainer-daemon/proxy/server.ts';
import { loadAdapter } from '../../trainer-daemon/rollouts/adapter.ts';
import { checkAdapter } from '../../trainer-daemon/rollouts/check-adapter.ts';
import type { EpisodeJob, LoadedAdapter, RolloutOptions } from '../../trainer-daemon/rollouts/contract.ts';
import { HarnessError, runEpisodes } from '../../trainer-daemon/rollouts/run-episodes.ts';
import { startScriptedTeacher } from '../../trainer-daemon/rollouts/scripted-teacher.ts';
import { WorkerPool } from '../../trainer-daemon/rollouts/worker-pool.ts';
import { sleep, startVllmServer, type VllmServer } from '../doubles/vllm-server.ts';
import { WatchedSection } from '../doubles/watched-section.ts';

const fixtures = resolve(import.meta.dirname, '../fixtures/harnesses');
let adapter: LoadedAdapter;
let proxy: RecordingProxy;
let server: VllmServer;
let section: WatchedSection;
let folder: string;

beforeAll(async () => {
  adapter = await loadAdapter('./fixture.adapter.ts', fixtures, { timeoutSeconds: 60 });
  proxy = await startProxy();
});
afterAll(async () => {
  await adapter?.close();
  await proxy?.close();
});
beforeEach(async () => {
  server = await startVllmServer();
  section = await WatchedSection.create();
  folder = section.directory;
});
afterEach(async () => {
  await server?.close();
  await section?.remove();
});

const job = (suite: string, init = 11, attempt = 0): EpisodeJob => ({
  key: { run: '0badcafe', role: 'rollout', round: 1, task: `${suite}/0`, init, attempt, tryNumber: 0 },
});

function play(jobs: EpisodeJob[], change: Partial<RolloutOptions> = {}): Promise<EpisodeRecord[]> {
  return runEpisodes({
    adapter,
    jobs,
    proxy,
    upstream: createUpstream({ kind: 'vllm', url: server.url, model: 'planner', policyVersion: () => 1 }),
    section,
    sampling: { temperature: 1, topP: 1, topK: -1, presencePenalty: 0 },
    limits: { turns: 5, seconds: 60, responseTokens: 64, idleSeconds: 30 },
    concurrency: 2,
    workspace: fixtures,
    ...change,
  });
}

const limits = (change: Partial<RolloutOptions['limits']>) => ({
  limits: { turns: 5, seconds: 60, responseTokens: 64, idleSeconds: 30, ...change },
});

const alive = (pid: number) => {
  try {
    process.kill(pid, 0);
    // A zombie that init has not reaped yet still takes signals.
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
};

/**
 * Whether a child of ours is gone and has been waited for. One with threads shows as a zombie before the last of them
 * has ended, and only then do we hear of it: until then it counts as running here, as it does for the pool.
 */
const reaped = (pid: number) => {
  try {
    return !process.kill(pid, 0);
  } catch {
    return true;
  }
};

describe('the environment of adapter and harness', () => {
  const secrets = {
    TEACHERS_SECRET_WORD: 'a',
    ROBOT_PASSWORD: 'b',
    HF_TOKEN: 'c',
    OPENAI_API_KEY: 'd',
    CAMERA_TOKEN: 'e',
  };
  beforeEach(() => Object.assign(process.env, secrets, { HARMLESS: 'yes' }));
  afterEach(() => {
    for (const name of [...Object.keys(secrets), 'HARMLESS']) delete process.env[name];
  });

  it('holds no secret of ours but those that launch() asks for', async () => {
    const watched = await loadAdapter('./fixture.adapter.ts', fixtures, { withheld: ['TEACHERS_SECRET_WORD'] });
    try {
      const [record] = await play([job('shows-environment')], { adapter: watched });
      expect(record).toMatchObject({ valid: true, reward: 1 });
      const file = join(folder, 'output', record.id, 'environment.json');
      const seen = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
      expect(seen).toMatchObject({ HARMLESS: 'yes', CAMERA_TOKEN: 'e', PATH: process.env.PATH });
      for (const name of ['TEACHERS_SECRET_WORD', 'ROBOT_PASSWORD', 'HF_TOKEN', 'ABSENT_TOKEN'])
        expect(seen).not.toHaveProperty(name);
      // What launch() gives by value is the harness's: the key of its episode.
      expect(seen.OPENAI_API_KEY).not.toBe('d');
      const adapterSees = seen.ADAPTER_SEES.split(',');
      expect(adapterSees).toContain('HARMLESS');
      for (const name of Object.keys(secrets)) expect(adapterSees).not.toContain(name);
    } finally {
      await watched.close();
    }
  });
});

describe('how an episode ends', () => {
  const cases: [string, Partial<RolloutOptions>, Partial<EpisodeRecord> | { invalidReason: unknown }][] = [
    ['good', {}, { reward: 1, valid: true, end: 'exit', turns: 3, successTurn: 2, trajectory: 'path.json' }],
    ['fails', {}, { reward: 0, valid: true, end: 'exit', turns: 1 }],
    ['never-calls', {}, { valid: false, end: 'exit', invalidReason: 'no planner call: exit code 0' }],
    [
      'crashes-at-start',
      {},
      { valid: false, end: 'crash', invalidReason: expect.stringMatching(/^no planner call: exit code 1/) },
    ],
    [
      'crashes',
      {},
      {
        valid: false,
        end: 'adapter-error',
        invalidReason: expect.stringMatching(/adapter-error: .*no result.json \(exit code 1\)/),
      },
    ],
    [
      'hangs',
      limits({ idleSeconds: 1 }),
      { valid: false, end: 'hang', turns: 1, invalidReason: 'hang: no call and no output for 1 s' },
    ],
    ['thinks-long', limits({ idleSeconds: 1 }), { valid: true, reward: 1, end: 'exit' }],
    ['loops', {}, { valid: true, reward: 0, end: 'turn-limit', turns: 5 }],
    ['loops-politely', {}, { valid: true, reward: 0.25, end: 'turn-limit', turns: 5 }],
    ['slow', limits({ seconds: 1, turns: 1000 }), { valid: true, reward: 0, end: 'time-limit' }],
    [
      'prints-without-end',
      limits({ seconds: 2, idleSeconds: 1 }),
      {
        valid: false,
        end: 'time-limit',
        invalidReason:
          'no planner call: the harness was still running at its time limit of 2 s and was ended (harness.limits.seconds), last words: xxx…',
      },
    ],
    ['success-then-crash', {}, { valid: true, reward: 1, end: 'crash', successTurn: 0 }],
    [
      'wrong-task',
      {},
      { valid: false, end: 'adapter-error', invalidReason: expect.stringContaining('answered task "other/1"') },
    ],
    [
      'late-success',
      {},
      { valid: false, end: 'adapter-error', invalidReason: expect.stringContaining('successTurn 1') },
    ],
    [
      'garbage-result',
      {},
      { valid: false, end: 'adapter-error', invalidReason: expect.stringContaining('result.json is not JSON') },
    ],
    ['says-invalid', {}, { valid: false, end: 'exit', invalidReason: 'camera lost' }],
    [
      'outcome-throws',
      {},
      {
        valid: false,
        invalidReason: expect.stringMatching(/outcome\(\): cannot read the states \(.*fixture\.adapter\.ts:\d+/),
      },
    ],
    [
      'outcome-exits',
      {},
      { valid: false, invalidReason: expect.stringContaining('outcome(): ended its process (exit code 4)') },
    ],
  ];

  it('outcome-hangs', async () => {
    const hasty = await loadAdapter('./fixture.adapter.ts', fixtures, { timeoutSeconds: 3 });
    try {
      const [record] = await play([job('outcome-hangs')], { adapter: hasty });
      expect(record).toMatchObject({ valid: false });
      expect(record.invalidReason).toContain('outcome(): gave no result within 3 s');
    } finally {
      await hasty.close();
    }
  });

  it.each(cases)('%s', async (suite, change, expected) => {
    const [record] = await play([job(suite)], change);
    expect(record).toMatchObject(expected);
    expect(episodeSchema.safeParse(record).error?.message).toBeUndefined();
    expect(section.episodes).toEqual([record]);
    expect(section.calls.filter((call) => call.status === 'complete')).toHaveLength(record.turns);
    expect(record.outputDir).toBe(`rounds/0001/output/${record.id}`);
    const output = join(folder, 'output', record.id);
    expect(existsSync(join(output, 'harness.log'))).toBe(true);
    expect(readFileSync(join(output, 'episode.json'), 'utf8')).not.toMatch(/"(apiKey|baseUrl)"|\/e\/[0-9a-f]{64}/);
  });

  it('a planner server that fails makes the episode invalid', async () => {
    server.turns = [{ raw: (response) => response.destroy() }];
    const [record] = await play([job('upstream-fails')]);
    expect(record).toMatchObject({ valid: false, invalidReason: expect.stringContaining('upstream failure') });
  });

  it('a full context is a valid failure', async () => {
    const body = '{"error":{"message":"maximum context length is 10 tokens"}}';
    server.turns = [
      {
        raw: (response) => {
          response.writeHead(400);
          response.end(body);
        },
      },
    ];
    const [record] = await play([job('crashes')]);
    expect(record).toMatchObject({ valid: true, reward: 0, end: 'token-limit', turns: 0 });
  });

  it('a lost call makes the episode invalid', async () => {
    section.full = /calls/;
    const [record] = await play([job('upstream-fails')]);
    expect(record).toMatchObject({ valid: false, invalidReason: expect.stringContaining('lost call') });
  });

  it('ends everything that a stubborn harness started', async () => {
    const [record] = await play([job('hangs-stubbornly')], limits({ idleSeconds: 1 }));
    expect(record.end).toBe('hang');
    const pids = JSON.parse(readFileSync(join(folder, 'output', record.id, 'pids.json'), 'utf8')) as number[];
    await expect.poll(() => pids.filter(alive)).toEqual([]);
  });

  it('keeps the end of long output and no key', async () => {
    const [record] = await play([job('noisy')]);
    expect(record.reward).toBe(1);
    const log = readFileSync(join(folder, 'output', record.id, 'harness.log'), 'utf8');
    expect(log).toContain('line 2999');
    expect(log).toContain('characters before this left out');
    expect(log.length).toBeLessThan(140_000);
    expect(log).toContain('my key is <key>');
  });
});

describe('workers', () => {
  it('are reused, one an episode in flight', async () => {
    const records = await play(
      [0, 1, 2, 3, 4, 5].map((init) => job('worker', init)),
      { concurrency: 2 },
    );
    expect(records.map((record) => [record.init, record.reward])).toEqual([0, 1, 2, 3, 4, 5].map((init) => [init, 1]));
    const answers = records.map(
      (record) => JSON.parse(readFileSync(join(folder, 'output', record.id, 'episode.json'), 'utf8')).end.answer,
    );
    expect(new Set(answers.map((answer) => answer.pid)).size).toBe(2);
    await expect.poll(() => answers.some((answer) => alive(answer.pid))).toBe(false);
  });

  it('of a pool outlast the jobs, unless those are cancelled', async () => {
    const workers = new WorkerPool(fixtures, []);
    const pidOf = ({ id }: EpisodeRecord) =>
      JSON.parse(readFileSync(join(folder, 'output', id, 'episode.json'), 'utf8')).end.answer.pid as number;
    try {
      const [first] = await play([job('worker', 0)], { workers });
      const [second] = await play([job('worker', 1)], { workers });
      expect(pidOf(second)).toBe(pidOf(first));
      expect(alive(pidOf(first))).toBe(true);

      process.kill(pidOf(first), 'SIGKILL');
      await expect.poll(() => reaped(pidOf(first))).toBe(true);
      const [third] = await play([job('worker', 2)], { workers });
      expect(third).toMatchObject({ valid: true, reward: 1 });
      expect(pidOf(third)).not.toBe(pidOf(first));

      const cancel = new AbortController();
      const rest = await play([job('worker', 3), job('worker-loops', 4)], {
        workers,
        concurrency: 1,
        signal: cancel.signal,
        onEpisode: () => cancel.abort(),
      });
      expect(rest).toHaveLength(1);
      expect(alive(pidOf(third))).toBe(false);
    } finally {
      await workers.close();
    }
  });

  it('that are gone are not used again, also while what they started holds their output open', async () => {
    const workers = new WorkerPool(fixtures, []);
    const spec = { command: process.execPath, args: ['leaves-a-child.mjs'] };
    let left: number | undefined;
    try {
      const first = await workers.take(spec);
      const { child } = (await first.play({})) as { child: number };
      left = child;
      workers.release(first);
      process.kill(first.process.pid as number, 'SIGKILL');
      await expect.poll(() => reaped(first.process.pid as number)).toBe(true);
      expect(first.process.end).toBeUndefined();
      const second = await workers.take(spec);
      expect(second).not.toBe(first);
      const answer = (await second.play({})) as { child: number };
      process.kill(answer.child, 'SIGKILL');
      await workers.close();
      workers.release(second);
      expect(await workers.take(spec)).not.toBe(second);
    } finally {
      if (left !== undefined) process.kill(left, 'SIGKILL');
      await workers.close();
    }
  });

  it('a death ends only the episode in flight', async () => {
    const records = await play(
      [0, 1, 2, 3].map((init) => job('worker-dies', init)),
      { concurrency: 1 },
    );
    expect(records.map((record) => record.valid)).toEqual([true, false, true, false]);
    expect(records[1]).toMatchObject({ end: 'adapter-error', invalidReason: expect.stringContaining('exit code 9') });
  });

  it('a worker that goes on beyond the limit is replaced', async () => {
    const records = await play([job('worker-loops', 0), job('worker', 1)], { concurrency: 1 });
    expect(records).toMatchObject([
      { end: 'turn-limit', valid: true, reward: 0, turns: 5 },
      { end: 'exit', valid: true, reward: 1, turns: 1 },
    ]);
  });
});

describe('the run of many', () => {
  it('keeps the order of the jobs and tells of each after it is written', async () => {
    const told: string[] = [];
    const jobs = [job('thinks-long'), job('good', 1), job('fails', 2)];
    const records = await play(jobs, {
      concurrency: 3,
      onEpisode: (record) => {
        expect(section.episodes.map((each) => each.id)).toContain(record.id);
        told.push(record.task);
      },
    });
    expect(records.map((record) => record.id)).toEqual(jobs.map((each) => episodeId(each.key)));
    expect(told.at(-1)).toBe('thinks-long/0');
  });

  it.each([
    ['no-such-command', /cannot start "no-such-harness-command".*ENOENT/],
    ['launch-throws', /no robot in sight/],
  ])('a harness that cannot be started stops the run: %s', async (suite, says) => {
    const jobs = Array.from({ length: 20 }, (_, init) => job(suite, init));
    const run = play(jobs, { concurrency: 1 });
    await expect(run).rejects.toThrow(HarnessError);
    await expect(run).rejects.toThrow(says);
    expect(readdirSync(join(folder, 'output'))).toHaveLength(3);
    expect(section.episodes).toEqual([]);
    await expect(play([job(suite)])).rejects.toThrow(says);
  });

  it('a launch() that gives nothing stops the run, and no command is blamed', async () => {
    const hasty = await loadAdapter('./fixture.adapter.ts', fixtures, { timeoutSeconds: 3 });
    try {
      const run = play([job('launch-loops')], { adapter: hasty });
      await expect(run).rejects.toThrow(
        /^the harness cannot be started \(tried with 1 episode\): adapter .*fixture\.adapter\.ts, launch\(\): gave no result within 3 s and was stopped: it says how/,
      );
      await expect(run).rejects.not.toThrow(/check command/);
    } finally {
      await hasty.close();
    }
  });

  it('one that cannot be started among others is only invalid', async () => {
    const records = await play([job('no-such-command'), job('fails', 1), job('no-such-command', 2)], {
      concurrency: 1,
    });
    expect(records.map((record) => record.valid)).toEqual([false, true, false]);
  });

  it('a harness that keeps crashing before its first call stops the run', async () => {
    const jobs = Array.from({ length: 20 }, (_, init) => job('crashes-at-start', init));
    await expect(play(jobs)).rejects.toThrow(/5 times in a row before its first planner call.*no module named robot/);
    expect(section.episodes.length).toBeLessThan(8);
  });

  it('stops starting when asked and lets running episodes finish', async () => {
    let started = 0;
    const records = await play(
      [0, 1, 2, 3].map((init) => job('fails', init)),
      { concurrency: 1, stopStarting: () => ++started > 2 },
    );
    expect(records).toHaveLength(2);
  });

  it('cancels at once and leaves no record of what was running', async () => {
    const abort = new AbortController();
    const run = play([job('fails'), job('hangs-stubbornly', 1), job('slow', 2)], {
      signal: abort.signal,
      ...limits({ turns: 1000 }),
    });
    await expect.poll(() => section.episodes.length).toBe(1);
    await sleep(500);
    const from = performance.now();
    abort.abort();
    const records = await run;
    expect(performance.now() - from).toBeLessThan(4000);
    expect(records.map((record) => record.task)).toEqual(['fails/0']);
    expect(section.episodes).toHaveLength(1);
    const stubborn = join(folder, 'output', episodeId(job('hangs-stubbornly', 1).key), 'pids.json');
    const pids = JSON.parse(readFileSync(stubborn, 'utf8')) as number[];
    await expect.poll(() => pids.filter(alive)).toEqual([]);
  });

  it('a record that cannot be written ends the run with that error', async () => {
    section.full = /episodes/;
    await expect(play([job('fails'), job('hangs', 1)])).rejects.toThrow('the disk is full');
  });
});

describe('beside the run', () => {
  it('result-json runs any command', async () => {
    const program = [
      'const { writeFileSync } = require("node:fs"); const { OPENAI_BASE_URL: url, OPENAI_API_KEY: key, OUTPUT_DIR: out } = process.env;',
      'fetch(url + "/chat/completions", { method: "POST", headers: { authorization: "Bearer " + key }, body: JSON.stringify({ messages: [{ role: "user", content: "x" }] }) })',
      '.then((r) => r.json()).then((r) => writeFileSync(out + "/result.json", JSON.stringify({ reward: 0.5, valid: true, said: r.choices[0].message.content })));',
    ].join('');
    process.env.AGENTIC_ROBO_RL_HARNESS = JSON.stringify([process.execPath, '-e', program]);
    const shipped = await loadAdapter('result-json', fixtures);
    delete process.env.AGENTIC_ROBO_RL_HARNESS;
    const [record] = await play([job('any')], { adapter: shipped });
    expect(record).toMatchObject({ reward: 0.5, valid: true, turns: 1, end: 'exit' });
    await shipped.close();
  });

  it('a scripted teacher serves through the proxy like any other', async () => {
    const teacher = await startScriptedTeacher(adapter);
    const [record] = await play([job('fails')], { upstream: teacher.upstream });
    expect(record).toMatchObject({ valid: true, turns: 1, policyVersion: null });
    expect(section.calls[0]).toMatchObject({
      response: { content: 'as taught' },
      logprobs: null,
      responseTokenIds: null,
    });
    await teacher.close();
    const [after] = await play([job('upstream-fails')], { upstream: teacher.upstream });
    expect(after.valid).toBe(false);
  });

  it('check-adapter tries outcome() on recorded folders', async () => {
    const [good, wrong] = await play([job('good'), job('wrong-task', 1)]);
    const at = (record: EpisodeRecord) => join(folder, 'output', record.id);
    rmSync(join(at(good), 'harness.log'));
    const checked = await checkAdapter(adapter, [at(good), at(wrong), join(folder, 'nowhere'), folder]);
    expect(checked[0]).toMatchObject({
      known: true,
      problem: null,
      outcome: { task: 'good/0', reward: 1, valid: true },
    });
    expect(checked[1].problem).toContain('task became "other/1"');
    expect(checked[2].problem).toBe('there is no such folder');
    expect(checked[3]).toMatchObject({
      known: false,
      outcome: null,
      problem: expect.stringContaining('no result.json'),
    });
  });
});
