/** The example adapters: played by hand, and tried on output folders with `check-adapter`. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EpisodeRequest } from '../../protocol/adapter.ts';
import { packageRoot } from '../../trainer-daemon/bundles.ts';
import { loadAdapter } from '../../trainer-daemon/rollouts/index.ts';
import { createRun } from '../../trainer-daemon/store/index.ts';
import { call } from '../unit/trainer-daemon/store/runs.ts';
import { type Answer, type ChatServer, startChatServer } from './chat-server.ts';
import { cli } from './cli-process.ts';

const EXAMPLES = join(packageRoot(), 'examples', 'adapters');
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'arrl adapters ü-'));
  cpSync(EXAMPLES, join(folder, 'adapters'), { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An output folder with the note of what was asked for, as the scheduler leaves it. */
function output(
  name: string,
  files: Record<string, string>,
  asked: { task: string; init: number; exitCode?: number; timedOut?: boolean },
): string {
  const directory = join(folder, name);
  mkdirSync(directory, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(directory, file), text);
  const slash = asked.task.lastIndexOf('/');
  const request = {
    task: asked.task,
    suite: asked.task.slice(0, slash),
    taskIndex: Number(asked.task.slice(slash + 1)),
    init: asked.init,
    attempt: 0,
    role: 'evaluation',
    seed: 1,
  };
  const end = {
    exitCode: asked.exitCode ?? 0,
    signal: null,
    timedOut: asked.timedOut ?? false,
    stdoutTail: '',
    stderrTail: '',
    calls: [],
  };
  writeFileSync(join(directory, 'episode.json'), JSON.stringify({ request, end }));
  return name;
}

describe('the line robot', () => {
  /** Plays one episode as the scheduler would start it. */
  async function play(server: ChatServer, taskIndex: number, init: number, name: string): Promise<string> {
    const adapter = await loadAdapter('./adapters/line-robot.adapter.ts', folder);
    try {
      output(name, {}, { task: `line_robot/${taskIndex}`, init });
      const request: EpisodeRequest = {
        task: `line_robot/${taskIndex}`,
        suite: 'line_robot',
        taskIndex,
        init,
        attempt: 0,
        role: 'evaluation',
        seed: 1,
        limits: { turns: 6, seconds: 60, responseTokens: 100, idleSeconds: 60 },
        baseUrl: server.url,
        apiKey: 'key',
        model: 'm',
        outputDir: join(folder, name),
      };
      const launch = await adapter.launch(request);
      if ('worker' in launch) throw new Error('this harness is started anew for each episode');
      await promisify(execFile)(launch.command, launch.args ?? [], { env: { ...process.env, ...launch.env } }).catch(
        () => {},
      );
      return name;
    } finally {
      await adapter.close();
    }
  }

  /** A planner that reads both cells from the instruction, moves there and presses. */
  function good(request: { messages: { role: string; content?: unknown }[] }): Answer {
    const [, at, lamp] = /at cell (\d); the lamp is at cell (\d)/.exec(String(request.messages[1].content)) ?? [];
    const moved = request.messages.some((message) => message.role === 'tool');
    return {
      toolCalls: [
        moved
          ? { name: 'press', arguments: '{}' }
          : { name: 'move', arguments: JSON.stringify({ cells: Number(lamp) - Number(at) }) },
      ],
    };
  }

  it('solves, fails and breaks as its adapter says', async () => {
    const solver = await startChatServer(good);
    const talker = await startChatServer(() => ({ content: 'I would rather not.' }));
    const broken = await startChatServer(() => ({ status: 500 }));
    try {
      const outputs = await Promise.all([
        play(solver, 0, 3, 'reach'),
        play(solver, 1, 17, 'press'),
        play(talker, 1, 3, 'talk'),
        play(broken, 1, 3, 'broken'),
      ]);
      const { code, out } = await cli(folder, [
        'check-adapter',
        './adapters/line-robot.adapter.ts',
        ...outputs,
        '--json',
      ]);
      expect(code).toBe(0);
      const document = JSON.parse(out);
      expect(document.adapter).toMatchObject({
        name: 'line-robot',
        tasks: { line_robot: ['Go to the lamp.', 'Switch the lamp on.'] },
      });
      expect(document.outputs.map((one: { outcome: object }) => one.outcome)).toEqual([
        { task: 'line_robot/0', init: 3, attempt: 0, reward: 1, valid: true, successTurn: 0 },
        { task: 'line_robot/1', init: 17, attempt: 0, reward: 1, valid: true, successTurn: 1 },
        { task: 'line_robot/1', init: 3, attempt: 0, reward: 0, valid: true },
        {
          task: 'line_robot/1',
          init: 3,
          attempt: 0,
          reward: 0,
          valid: false,
          invalidReason: "the planner's server answered 500",
        },
      ]);
    } finally {
      await Promise.all([solver.close(), talker.close(), broken.close()]);
    }
  });

  it('is told apart: out of time is a failure, no result is not', async () => {
    const late = output('late', {}, { task: 'line_robot/0', init: 1, timedOut: true });
    const gone = output('gone', {}, { task: 'line_robot/0', init: 1, exitCode: 137 });
    const { code, out } = await cli(folder, ['check-adapter', './adapters/line-robot.adapter.ts', late, gone]);
    expect(code).toBe(0);
    expect(out).toMatch(/late\s+│ line_robot\/0\s+│\s+1 │\s+0 │\s+0 │ yes/);
    expect(out.replace(/[│\s]+/g, ' ')).toContain('no invalid: no result file, exit code 137');
  });
});

describe("RPent's adapter", () => {
  const states = (terminated: boolean) =>
    JSON.stringify({
      run_artifacts: {},
      steps: [
        { step_idx: 0, terminated: false },
        { step_idx: 1, terminated },
      ],
    });

  it("believes the simulator, not the planner's own report", async () => {
    const task = 'libero_goal_swap/3';
    const outputs = [
      output('rpent-solved', { 'states.json': states(true), 'run.log': 'fine' }, { task, init: 4 }),
      output(
        'rpent-boast',
        { 'states.json': states(false), 'goal_3.json': '{"finish":{"status":"success"}}' },
        { task, init: 4 },
      ),
      output('rpent-nothing', {}, { task, init: 4, exitCode: 1 }),
      output('rpent-rpc', { 'states.json': states(true), 'env_server.log': 'x RPC timeout y' }, { task, init: 4 }),
    ];
    const { out } = await cli(folder, ['check-adapter', './adapters/rpent.ts', ...outputs, '--json']);
    const outcomes = JSON.parse(out).outputs.map(
      ({ outcome }: { outcome: { reward: number; valid: boolean; invalidReason?: string } }) => [
        outcome.reward,
        outcome.valid,
        outcome.invalidReason,
      ],
    );
    expect(outcomes).toEqual([
      [1, true, undefined],
      [0, true, undefined],
      [0, false, 'no steps in states.json (exit code 1)'],
      [0, false, 'env_server.log: RPC timeout'],
    ]);
  });

  it('starts RPent for the task, the state and the server it is given', async () => {
    const adapter = await loadAdapter('./adapters/rpent.ts', folder);
    try {
      const launch = await adapter.launch({
        task: 'libero_10_task/7',
        suite: 'libero_10_task',
        taskIndex: 7,
        init: 12,
        attempt: 1,
        role: 'rollout',
        seed: 99,
        limits: { turns: 100, seconds: 7200, responseTokens: 4096, idleSeconds: 600 },
        baseUrl: 'http://127.0.0.1:1/e/k/v1',
        apiKey: 'secret',
        model: 'planner',
        outputDir: '/out',
      });
      if ('worker' in launch) throw new Error('RPent plays one episode a process');
      expect(launch.command).toBe('rpent');
      const line = (launch.args ?? []).join(' ');
      expect(line).toContain('--suite libero_10_task --task 7 --seed 12');
      expect(line).toContain('--model openai-chat:planner --base-url http://127.0.0.1:1/e/k/v1');
      expect(line).not.toContain('secret');
      expect(launch.env).toMatchObject({ OPENAI_API_KEY: 'secret', HF_HUB_OFFLINE: '1' });
    } finally {
      await adapter.close();
    }
  });
});

describe('check-adapter', () => {
  it('names the problem of every folder and gives 1', async () => {
    writeFileSync(
      join(folder, 'wrong.mjs'),
      `import { defineAdapter } from 'agentic-robo-rl';
export default defineAdapter({
  name: 'wrong', tasks: { s: ['a'] }, launch: () => ({ command: 'true' }),
  outcome: (o) => o.readText('mode') === 'reward' ? { ...o.episode, reward: 'yes', valid: true } : { task: 's/0', init: 99, attempt: 0, reward: 0.5, valid: true },
});\n`,
    );
    const outputs = [
      output('w1', { mode: 'reward' }, { task: 's/0', init: 1 }),
      output('w2', {}, { task: 's/0', init: 1 }),
      'no-such-folder',
    ];
    const { code, out } = await cli(folder, ['check-adapter', './wrong.mjs', ...outputs, '--json']);
    expect(code).toBe(1);
    const problems = JSON.parse(out).outputs.map((one: { problem: string }) => one.problem);
    expect(problems[0]).toContain('reward: must be a finite number');
    expect(problems[1]).toBe('init became 99, but 1 was asked for');
    expect(problems[2]).toBe('there is no such folder');
  });

  it.each([
    ['./missing.ts', 'there is no such file'],
    ['tabletop-skils', 'no adapter of this name is shipped'],
    ['./broken.ts', 'broken.ts:2:'],
    ['./empty.mjs', 'it has no default export'],
  ])('gives 2 for %s', async (reference, sentence) => {
    writeFileSync(
      join(folder, 'broken.ts'),
      "import { defineAdapter } from 'agentic-robo-rl';\nexport default defineAdapter({ name: 'x' launch() {} });\n",
    );
    writeFileSync(join(folder, 'empty.mjs'), 'export const x = 1;\n');
    const { code, err } = await cli(folder, ['check-adapter', reference]);
    expect(code).toBe(2);
    expect(err).toContain(sentence);
  });

  it('doubts a harness whose scenes do not follow the state', async () => {
    const run = join(folder, 'runs', 'doubtful');
    const store = await createRun(run, {
      version: 1,
      id: '0badcafe',
      name: 'doubtful',
      createdAt: '2026-01-01T00:00:00.000Z',
      config: {},
      configFolder: folder,
      software: {},
      adapterSha256: null,
      workspaceCommit: null,
    });
    const outputs = ['at 2', 'at 2', 'at 7'].map((lamp, attempt) => ({ id: `e${attempt}`, lamp }));
    for (const { id, lamp } of outputs) {
      await store.section('teacher').appendCall(
        call({
          episode: id,
          request: { messages: [{ role: 'user', content: `the lamp is ${lamp}` }], tools: null, other: {} },
        }),
      );
      output(join('runs/doubtful/teacher/output', id), {}, { task: 'line_robot/0', init: 95, timedOut: true });
    }
    await store.close();
    const words = [
      'check-adapter',
      './adapters/line-robot.adapter.ts',
      ...outputs.map(({ id }) => join(run, 'teacher/output', id)),
    ];
    const { code, out } = await cli(folder, words);
    expect(code).toBe(0);
    expect(out).toContain('90 initial states a task');
    expect(out).toContain('1 output folder with a warning about the harness');
    const document = JSON.parse((await cli(folder, [...words, '--json'])).out);
    expect(document.adapter.states).toBe(90);
    expect(
      document.outputs.map((one: { remark: string; warnings: string[] }) => [one.remark, one.warnings.length]),
    ).toEqual([
      ['the adapter has 90 initial states, so none numbered 95', 0],
      ['the adapter has 90 initial states, so none numbered 95', 0],
      ['the adapter has 90 initial states, so none numbered 95', 1],
    ]);
  });

  it('loads every shipped adapter', async () => {
    for (const name of ['tabletop-skills', 'result-json']) {
      const { code, out } = await cli(folder, ['check-adapter', name]);
      expect([code, out.includes(`adapter ${name}`)]).toEqual([0, true]);
    }
  });
});
