import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../protocol/chat.ts';
import { observationDoubts, type PlayedEpisode } from '../../../../trainer-daemon/rollouts/first-observations.ts';
import { createRun } from '../../../../trainer-daemon/store/index.ts';
import { call, runInfo, temporaryFolder } from '../store/runs.ts';

/** One episode: what it was shown first, and actions with what came of them. */
interface Lived {
  task?: string;
  init: number;
  attempt?: number;
  first: string | Message['content'];
  steps?: [action: string, shown: string][];
}

/** Writes a run whose teacher section holds these episodes, and gives the doubts about each. */
async function doubts(...lives: Lived[]): Promise<string[][]> {
  const run = join(temporaryFolder(), 'run');
  const store = await createRun(run, runInfo);
  const section = store.section('rounds/0001');
  const played: PlayedEpisode[] = [];
  for (const [number, { task = 's/0', init, attempt = 0, first, steps = [] }] of lives.entries()) {
    const episode = `episode${number}`;
    const messages: Message[] = [
      { role: 'system', content: 'You control an arm.' },
      { role: 'user', content: first },
    ];
    for (let turn = 0; turn <= steps.length; turn++) {
      await section.appendCall(call({ episode, turn, request: { messages: [...messages], tools: null, other: {} } }));
      if (turn === steps.length) break;
      const id = `${episode}-${turn}`;
      messages.push(
        {
          role: 'assistant',
          tool_calls: [{ id, type: 'function', function: { name: steps[turn][0], arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: id, content: steps[turn][1] },
      );
    }
    played.push({ directory: join(run, 'rounds/0001/output', episode), task, init, attempt });
  }
  await store.close();
  const found = await observationDoubts(played);
  return played.map(({ directory }) => found.get(directory) ?? []);
}

const AT = (x: number): [string, string][] => [
  ['detect', `cube at ${x}`],
  ['pick', 'held'],
];

describe('first observations of recorded episodes', () => {
  it('raise no doubt where attempts begin alike and states differ', async () => {
    expect(
      await doubts(
        { init: 3, attempt: 0, first: 'Pick the cube.', steps: AT(3) },
        { init: 3, attempt: 1, first: 'Pick the cube.', steps: AT(3) },
        { init: 4, attempt: 0, first: 'Pick the cube.', steps: AT(4) },
        { task: 's/1', init: 3, first: 'Pick the ball.', steps: AT(3) },
      ),
    ).toEqual([[], [], [], []]);
  });

  it('raise no doubt where noise differs after an instruction that is always the same', async () => {
    expect(
      await doubts(
        { init: 3, attempt: 0, first: 'Pick the cube.', steps: AT(3.01) },
        { init: 3, attempt: 1, first: 'Pick the cube.', steps: AT(2.99) },
      ),
    ).toEqual([[], []]);
  });

  it('tell two attempts of one state that began in different scenes', async () => {
    const [first, second] = await doubts(
      { init: 3, attempt: 0, first: 'The cube is at 3.' },
      { init: 3, attempt: 1, first: 'The cube is at 5.' },
    );
    expect(first).toEqual([]);
    expect(second).toEqual([expect.stringContaining('not that of attempt 0 on the same state')]);
  });

  it('tell two attempts that began with different pictures', async () => {
    const picture = (bytes: string): Message['content'] => [
      { type: 'image_url', image_url: { url: `data:image/png;base64,${Buffer.from(bytes).toString('base64')}` } },
    ];
    expect(
      (
        await doubts(
          { init: 3, attempt: 0, first: picture('one') },
          { init: 3, attempt: 1, first: picture('one') },
          { init: 3, attempt: 2, first: picture('another') },
        )
      ).map((one) => one.length),
    ).toEqual([0, 0, 1]);
  });

  it('tell states that look alike, whatever the planners did afterwards', async () => {
    const [, , second, third] = await doubts(
      { init: 3, attempt: 0, first: 'Pick the cube.', steps: AT(3) },
      {
        init: 3,
        attempt: 1,
        first: 'Pick the cube.',
        steps: [
          ['detect', 'cube at 3'],
          ['finish', 'bye'],
        ],
      },
      {
        init: 4,
        first: 'Pick the cube.',
        steps: [
          ['detect', 'cube at 3'],
          ['move', 'moved'],
        ],
      },
      { init: 5, first: 'Pick the cube.', steps: AT(5) },
    );
    expect(second).toEqual([
      'nothing the planner was shown tells state 4 from state 3: does launch() pass the state on?',
    ]);
    expect(third).toEqual([]);
  });

  it('say nothing of states where the planners never did the same, or only read the instruction', async () => {
    expect(
      await doubts(
        { init: 3, first: 'Pick the cube.', steps: [['detect', 'cube at 3']] },
        { init: 4, first: 'Pick the cube.', steps: [['open', 'ok']] },
        { init: 5, first: 'Pick the cube.' },
      ),
    ).toEqual([[], [], []]);
  });

  it('are passed over where there is no recording', async () => {
    const directory = join(temporaryFolder(), 'output', 'e1');
    expect(await observationDoubts([{ directory, task: 's/0', init: 1, attempt: 0 }])).toEqual(new Map());
  });
});
