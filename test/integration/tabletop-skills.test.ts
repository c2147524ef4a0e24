/** The harness as a worker process, with the real world and the scripted teacher over HTTP; no proxy in between. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundlePath } from '../../trainer-daemon/bundles.ts';
import type { EpisodeResult } from '../../trainer-daemon/harnesses/tabletop-skills/episode.ts';
import { startTeacher } from '../../trainer-daemon/harnesses/tabletop-skills/teacher/server.ts';

let folder: string;
let worker: ChildProcessWithoutNullStreams;
let answers: AsyncIterator<string>;
let teacher: Awaited<ReturnType<typeof startTeacher>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skills ü '));
  teacher = await startTeacher();
  worker = spawn(process.execPath, [bundlePath('tabletop-skills')]);
  answers = createInterface({ input: worker.stdout })[Symbol.asyncIterator]();
});
afterAll(async () => {
  worker.kill();
  teacher.server.closeAllConnections();
  teacher.server.close();
  await rm(folder, { recursive: true, force: true });
});

async function play(
  suite: string,
  taskIndex: number,
  init: number,
  baseUrl = teacher.url,
  limits = {},
): Promise<EpisodeResult> {
  const outputDir = join(folder, `${suite}-${taskIndex}-${init}-${Math.random()}`);
  worker.stdin.write(
    `${JSON.stringify({
      task: `${suite}/${taskIndex}`,
      suite,
      taskIndex,
      init,
      attempt: 0,
      seed: init,
      limits: { turns: 20, seconds: 60, responseTokens: 100, ...limits },
      baseUrl,
      apiKey: 'key',
      model: 'tabletop-expert',
      outputDir,
    })}\n`,
  );
  const answer = JSON.parse((await answers.next()).value) as { done: boolean; error?: string };
  if (!answer.done) throw new Error(answer.error);
  return JSON.parse(await readFile(join(outputDir, 'result.json'), 'utf8')) as EpisodeResult;
}

/** A model that answers as told, whatever it is asked. */
async function scriptedModel(
  reply: (turn: number) => { status?: number; body: string },
): Promise<{ url: string; server: Server }> {
  let turn = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const { status = 200, body } = reply(turn++);
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, server };
}

const call = (name: string, args: string) => ({
  body: JSON.stringify({
    choices: [
      {
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name, arguments: args } }],
        },
      },
    ],
  }),
});

describe('the skills harness', () => {
  it('lets the scripted teacher solve most of a sample of tasks, one worker for all', async () => {
    const results: EpisodeResult[] = [];
    for (const suite of ['tabletop_spatial_swap', 'tabletop_object_task', 'tabletop_goal_swap']) {
      for (const task of [0, 2, 3, 6]) results.push(await play(suite, task, 12));
    }
    const solved = results.filter((result) => result.success);
    expect(solved.length).toBeGreaterThanOrEqual(8);
    for (const result of solved) expect(result.successTurn).toBeLessThan(result.turns);
    for (const result of results) expect(result.end).toBe('finish');
  }, 60_000);

  it('plays an episode alike when asked again', async () => {
    const [first, again] = [await play('tabletop_goal_task', 2, 13), await play('tabletop_goal_task', 2, 13)];
    expect(again).toEqual(first);
  }, 60_000);

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
      call('pick', '{"object":"bowl_1","grasp":"top"}'),
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
    expect(await play('tabletop_object_swap', 0, 17, url, { seconds: 1 })).toMatchObject({ end: 'model-failure' });
    silent.closeAllConnections();
    silent.close();
  }, 30_000);
});
