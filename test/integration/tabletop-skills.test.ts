/** The harness as a worker process, with the real world and the scripted teacher over HTTP; no proxy in between. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundlePath } from '../../trainer-daemon/bundles.ts';
import type { EpisodeResult } from '../../trainer-daemon/harnesses/tabletop-skills/episode.ts';
import type { ChatMessage } from '../../trainer-daemon/harnesses/tabletop-skills/model-client.ts';
import { startTeacher } from '../../trainer-daemon/harnesses/tabletop-skills/teacher/server.ts';
import { CAREFUL } from '../../trainer-daemon/harnesses/tabletop-skills/teacher/style.ts';
import { suiteNames } from '../../trainer-daemon/tabletop/index.ts';
import type { Trajectory } from '../../trainer-daemon/tabletop/types.ts';

let folder: string;
let worker: ChildProcessWithoutNullStreams;
let answers: AsyncIterator<string>;
let teacher: Awaited<ReturnType<typeof startTeacher>>;
let careful: Awaited<ReturnType<typeof startTeacher>>;
let outputs = 0;
/** Output folder of the episode played last. */
let lastOutput: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skills ü '));
  teacher = await startTeacher();
  careful = await startTeacher(CAREFUL);
  worker = spawn(process.execPath, [bundlePath('tabletop-skills')]);
  answers = createInterface({ input: worker.stdout })[Symbol.asyncIterator]();
});
afterAll(async () => {
  worker?.kill();
  for (const started of [teacher, careful]) {
    started?.server.closeAllConnections();
    started?.server.close();
  }
  await rm(folder, { recursive: true, force: true });
});

async function play(
  suite: string,
  taskIndex: number,
  init: number,
  baseUrl = teacher.url,
  limits = {},
  other = {},
): Promise<EpisodeResult> {
  const outputDir = join(folder, `${suite}-${taskIndex}-${init}-${outputs++}`);
  lastOutput = outputDir;
  worker.stdin.write(
    `${JSON.stringify({
      task: `${suite}/${taskIndex}`,
      suite,
      taskIndex,
      init,
      attempt: 0,
      seed: init,
      limits: { turns: 30, seconds: 60, responseTokens: 100, idleSeconds: 60, ...limits },
      baseUrl,
      apiKey: 'key',
      model: 'tabletop-expert',
      outputDir,
      ...other,
    })}\n`,
  );
  const answer = JSON.parse((await answers.next()).value) as { done: boolean; error?: string };
  if (!answer.done) throw new Error(answer.error);
  return JSON.parse(await readFile(join(outputDir, 'result.json'), 'utf8')) as EpisodeResult;
}

async function left<T>(file: string): Promise<T> {
  return JSON.parse(await readFile(join(lastOutput, file), 'utf8')) as T;
}

/** A model that answers as told, whatever it is asked. */
async function scriptedModel(
  reply: (turn: number, request: unknown) => { status?: number; body: string },
): Promise<{ url: string; server: Server }> {
  let turn = 0;
  const server = createServer(async (request, response) => {
    const { status = 200, body } = reply(turn++, await json(request));
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0.01' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, server };
}

const calls = (...made: [name: string, args: string][]) => ({
  body: JSON.stringify({
    choices: [
      {
        message: {
          role: 'assistant',
          content: null,
          tool_calls: made.map(([name, args], i) => ({
            id: `a${i}`,
            type: 'function',
            function: { name, arguments: args },
          })),
        },
      },
    ],
  }),
});
const call = (name: string, args: string) => calls([name, args]);

describe('the skills harness', () => {
  it('lets the scripted teacher solve most of a sample of all suites, one worker for all', async () => {
    const mixed: EpisodeResult[] = [];
    const perfect: EpisodeResult[] = [];
    for (const [i, suite] of suiteNames().entries()) {
      for (const task of [i % 10, (i + 5) % 10]) {
        mixed.push(await play(suite, task, 12));
        perfect.push(await play(suite, task, 12, careful.url));
      }
    }
    const solved = (results: EpisodeResult[]) => results.filter((result) => result.success);
    // Its styles and mistakes cost some episodes, not most.
    expect(solved(mixed).length).toBeGreaterThanOrEqual(16);
    expect(solved(perfect).length).toBeGreaterThanOrEqual(21);
    for (const result of [...mixed, ...perfect]) {
      expect(result).toMatchObject({ end: 'finish', failure: null });
      if (result.success) expect(result.successTurn).toBeLessThan(result.turns);
      else expect(result.successTurn).toBe(null);
    }
  });

  it('keeps what its tools answered from the planner when observations are blank', async () => {
    const seen: ChatMessage[][] = [];
    const model = await scriptedModel((turn, request) => {
      seen.push((request as { messages: ChatMessage[] }).messages);
      return turn === 0 ? calls(['detect', '{}'], ['look', '{"camera":"agent"}']) : call('finish', '{"status":"done"}');
    });
    try {
      await play('tabletop_spatial', 0, 12, model.url, {}, { observations: 'blank' });
      expect(seen[1].slice(3)).toEqual([
        { role: 'tool', tool_call_id: 'a0', content: '' },
        { role: 'tool', tool_call_id: 'a1', content: '' },
      ]);
      seen.length = 0;
      await play('tabletop_spatial', 0, 12, model.url);
      expect(seen).toHaveLength(1);
    } finally {
      model.server.close();
    }
  });

  it('leaves a transcript that only grew, and a trajectory with the names the planner was told', async () => {
    await play('tabletop_spatial_swap', 4, 12, careful.url);
    const messages = await left<ChatMessage[]>('transcript.json');
    expect(messages.map(({ role }) => role).slice(0, 4)).toEqual(['system', 'user', 'assistant', 'tool']);
    const { spans } = await left<Trajectory>('trajectory.json');
    const looks = messages.filter(({ role, content }) => role === 'tool' && / at \d+,/.test(`${content}`));
    const detects = spans.filter(({ name }) => name === 'detect');
    expect(detects.length).toBe(looks.length);
    detects.forEach(({ detections = [] }, i) => {
      const told = `${looks[i].content}`.split('\n').map((line) => {
        const [, name, kind] = /^((?:[a-z]+-)?([a-z]+)(?:-[A-Z]+)?) /.exec(line) ?? [];
        return `${kind} ${name}`;
      });
      expect(detections.map(({ kind, name }) => `${kind} ${name}`)).toEqual(told);
    });
    // What a small planner has to read in all.
    expect(JSON.stringify(messages).length).toBeLessThan(4000);
  });

  it('sends each request as the one before plus what was answered', async () => {
    const heard: unknown[][] = [];
    const calls = [call('detect', '{}'), call('look', '{"camera":"agent"}'), call('finish', '{"status":"failed"}')];
    const model = await scriptedModel((turn, body) => {
      heard.push((body as { messages: unknown[] }).messages);
      return calls[turn];
    });
    await play('tabletop_object_swap', 1, 14, model.url);
    expect(heard.map((messages) => messages.length)).toEqual([2, 4, 7]);
    for (const [i, messages] of heard.slice(1).entries()) expect(messages.slice(0, heard[i].length)).toEqual(heard[i]);
    // Tool messages hold text; the picture follows as a user message.
    expect(heard[2].slice(5)).toMatchObject([
      { role: 'tool', content: 'picture of the agent camera' },
      {
        role: 'user',
        content: [{ type: 'text' }, { image_url: { url: expect.stringMatching(/^data:image.png;base64,/) } }],
      },
    ]);
    expect(await readFile(join(lastOutput, 'transcript.json'), 'utf8')).not.toContain('base64');
    model.server.close();
  });

  it('carries out several calls of one response in order, and none after finish', async () => {
    const model = await scriptedModel(() =>
      calls(['detect', '{}'], ['release', '{}'], ['finish', '{"status":"done"}'], ['detect', '{}']),
    );
    await play('tabletop_object_swap', 2, 14, model.url);
    const answers = (await left<ChatMessage[]>('transcript.json')).filter(({ role }) => role === 'tool');
    expect(answers.map(({ content }) => `${content}`.split('\n')[0])).toEqual([
      expect.stringMatching(/^white-carton at /),
      'not-holding; gripper empty',
      'finished',
    ]);
    model.server.close();
  });

  it('plays an episode alike when asked again', async () => {
    const [first, again] = [await play('tabletop_goal_task', 2, 13), await play('tabletop_goal_task', 2, 13)];
    expect(again).toEqual(first);
  });

  it('takes the reward from the simulator, not from the planner', async () => {
    const boaster = await scriptedModel(() => call('finish', '{"status":"done"}'));
    const result = await play('tabletop_object_swap', 0, 14, boaster.url);
    expect(result).toMatchObject({ success: false, finishStatus: 'done', end: 'finish', successTurn: null });
    boaster.server.close();
  });

  it('answers nonsense with words and ends at the turn limit', async () => {
    const nonsense = [
      call('fly', '{}'),
      call('pick', 'not json'),
      call('pick', '{"object":"red-cube","grasp":"top"}'),
      call('place', '{"where":"under"}'),
      call('move_to', '{"x":1e9,"y":0,"z":0}'),
    ];
    const model = await scriptedModel((turn) => nonsense[turn % nonsense.length]);
    const result = await play('tabletop_object_swap', 0, 15, model.url, { turns: 6 });
    expect(result).toMatchObject({ turns: 6, end: 'turn-limit', success: false });
    model.server.close();
  });

  it('ends when the planner calls no tool', async () => {
    const model = await scriptedModel(() => ({
      body: JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'I would rather not.' } }] }),
    }));
    expect(await play('tabletop_object_swap', 0, 16, model.url)).toMatchObject({ turns: 1, end: 'no-tool-call' });
    model.server.close();
  });

  it('tells a failing endpoint from a reached limit', async () => {
    const broken = await scriptedModel(() => ({ status: 500, body: 'oops' }));
    expect(await play('tabletop_object_swap', 0, 17, broken.url)).toMatchObject({
      end: 'model-failure',
      failure: 'status 500',
      turns: 0,
    });
    broken.server.close();
    const full = await scriptedModel(() => ({
      status: 400,
      body: '{"error":{"message":"too long","code":"context_length_exceeded"}}',
    }));
    expect(await play('tabletop_object_swap', 0, 17, full.url)).toMatchObject({ end: 'context-full', failure: null });
    full.server.close();
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`;
    const hung = await play('tabletop_object_swap', 0, 17, url, { seconds: 1, idleSeconds: 0.5 });
    expect(hung).toMatchObject({ end: 'model-failure', failure: 'no reply within 1 s' });
    expect(await play('tabletop_object_swap', 0, 17, url, { seconds: 1 })).toMatchObject({
      end: 'time-limit',
      failure: null,
    });
    silent.closeAllConnections();
    silent.close();
  });

  it('ends at an empty reply, as one without a tool call', async () => {
    const model = await scriptedModel(() => ({ body: JSON.stringify({ choices: [{ message: {} }] }) }));
    expect(await play('tabletop_object_swap', 0, 16, model.url)).toMatchObject({ turns: 1, end: 'no-tool-call' });
    model.server.close();
  });

  it('tells a line that is no episode, or an episode that does not exist, and goes on', async () => {
    const ask = async (line: string) => {
      worker.stdin.write(`${line}\n`);
      return JSON.parse((await answers.next()).value) as unknown;
    };
    expect(await ask('play!')).toEqual({ done: false, error: 'the line is not JSON' });
    expect(await ask('{"suite":"x"}')).toMatchObject({ done: false, error: expect.stringContaining('taskIndex') });
    expect(await play('tabletop_nowhere', 0, 3)).toMatchObject({
      end: 'world-failure',
      failure: expect.stringMatching(/^there is no suite "tabletop_nowhere"/),
    });
    expect(await play('tabletop_goal', 2, 50)).toMatchObject({ end: 'world-failure' });
    expect(await play('tabletop_object', 0, 14, careful.url)).toMatchObject({ end: 'finish' });
  });
});
