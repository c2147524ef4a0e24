import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../../trainer-daemon/harnesses/tabletop-skills/model-client.ts';
import {
  describeDetections,
  describeSkill,
} from '../../../../trainer-daemon/harnesses/tabletop-skills/observations.ts';
import { answerAsExpert } from '../../../../trainer-daemon/harnesses/tabletop-skills/teacher/expert.ts';
import { looksDone, readDetections } from '../../../../trainer-daemon/harnesses/tabletop-skills/teacher/reading.ts';
import { taskMessage } from '../../../../trainer-daemon/harnesses/tabletop-skills/tools.ts';
import { goalOf, suiteNames, tasks } from '../../../../trainer-daemon/tabletop/index.ts';
import type { Detection } from '../../../../trainer-daemon/tabletop/types.ts';

function detection(name: string, colour: string, x: number, y: number, open?: boolean): Detection {
  return {
    name,
    kind: name.split('_')[0],
    colour,
    position: [x, y, 0.02],
    size: [0.04, 0.04, 0.04],
    yaw: 0,
    confidence: 1,
    camera: 'agent',
    box: [0, 0, 1, 1],
    ...(open !== undefined && { open }),
  };
}

/** A transcript in which the given calls were made and answered. */
function transcript(instruction: string, ...past: [tool: string, args: object, answer: string][]): ChatMessage[] {
  const messages: ChatMessage[] = [
    { role: 'system', content: 'rules' },
    { role: 'user', content: taskMessage(instruction) },
  ];
  past.forEach(([tool, args, answer], i) => {
    messages.push({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `c${i}`, type: 'function', function: { name: tool, arguments: JSON.stringify(args) } }],
    });
    messages.push({ role: 'tool', tool_call_id: `c${i}`, content: answer });
  });
  return messages;
}

const TABLE = describeDetections([
  detection('bowl_1', 'black', 0.48, 0.33),
  detection('plate_1', '', 0.44, 0.15),
  detection('bowl_2', 'black', 0.46, -0.31),
]);

describe('observations', () => {
  it('list objects from left to right with their nearest neighbour, in centimetres', () => {
    expect(TABLE).toBe(
      'bowl_1 black x=48 y=33 z=2 near plate_1 18\nplate_1 x=44 y=15 z=2 near bowl_1 18\nbowl_2 black x=46 y=-31 z=2 near plate_1 46',
    );
  });

  it('are read back as they were written', () => {
    const seen = readDetections(
      describeDetections([detection('drawer_1', '', 0.5, -0.4, true), detection('cube_1', 'red', 0.3, 0)]),
    );
    expect(seen).toEqual([
      { name: 'cube_1', kind: 'cube', colour: 'red', position: [0.3, 0, 0.02] },
      { name: 'drawer_1', kind: 'drawer', colour: '', position: [0.5, -0.4, 0.02], open: true },
    ]);
  });

  it('never say whether the task is solved', () => {
    expect(
      describeSkill({ ok: true, code: 'placed', gripperOpening: 0.08, holding: false, tcp: [0, 0, 0], seconds: 1 }),
    ).toBe('placed; gripper empty');
  });
});

describe('the scripted expert', () => {
  it('knows every instruction of every suite', () => {
    for (const suite of suiteNames()) {
      for (const task of tasks(suite)) {
        const answer = answerAsExpert(transcript(task.instruction));
        expect([suite, task.index, answer.tool]).toEqual([suite, task.index, 'detect']);
      }
    }
  });

  it('means the same by a sentence wherever it occurs', () => {
    const plans = new Map<string, string>();
    for (const suite of suiteNames()) {
      for (const task of tasks(suite)) {
        const plan = JSON.stringify(goalOf(suite, task.index, 0));
        expect(plans.get(task.instruction) ?? plan).toBe(plan);
        plans.set(task.instruction, plan);
      }
    }
  });

  it('tells like bowls apart by the relation, from what was perceived', () => {
    const next = answerAsExpert(
      transcript('pick up the black bowl next to the plate and place it on the plate', ['detect', {}, TABLE]),
    );
    expect(next).toMatchObject({ tool: 'pick', arguments: { object: 'bowl_1' } });
    const right = answerAsExpert(
      transcript('pick up the black bowl on the right and place it on the plate', ['detect', {}, TABLE]),
    );
    expect(right).toMatchObject({ tool: 'pick', arguments: { object: 'bowl_2' } });
  });

  it('puts down what it holds, and ends', () => {
    const instruction = 'pick up the black bowl next to the plate and place it on the plate';
    const held: [string, object, string] = ['pick', { object: 'bowl_1', grasp: 'rim' }, 'held; holding'];
    const put = answerAsExpert(transcript(instruction, ['detect', {}, TABLE], held, ['detect', {}, TABLE]));
    expect(put).toMatchObject({ tool: 'place', arguments: { where: 'on', target: 'plate_1' } });
    const done = TABLE.replace('bowl_1 black x=48 y=33', 'bowl_1 black x=44 y=15');
    const end = answerAsExpert(
      transcript(
        instruction,
        ['detect', {}, TABLE],
        held,
        ['place', { where: 'on', target: 'plate_1' }, 'placed; gripper empty'],
        ['detect', {}, done],
      ),
    );
    expect(end).toMatchObject({ tool: 'finish', arguments: { status: 'done' } });
  });

  it('has several styles: after a slip some give up and some go on', () => {
    const instruction = 'pick up the black bowl next to the plate and place it on the plate';
    const tools = new Set<string>();
    for (let noise = 0; noise < 30; noise++) {
      const table = TABLE.replace('x=46', `x=${40 + noise}`);
      tools.add(
        answerAsExpert(
          transcript(
            instruction,
            ['detect', {}, table],
            ['pick', { object: 'bowl_1', grasp: 'rim' }, 'slipped; gripper empty'],
          ),
        ).tool,
      );
    }
    expect(tools).toEqual(new Set(['detect', 'finish']));
  });

  it('answers the same transcript alike', () => {
    const messages = transcript('open the drawer', ['detect', {}, TABLE]);
    expect(answerAsExpert(messages)).toEqual(answerAsExpert(structuredClone(messages)));
  });

  it('gives an unknown task up', () => {
    expect(answerAsExpert(transcript('fly to the moon'))).toMatchObject({
      tool: 'finish',
      arguments: { status: 'failed' },
    });
    expect(answerAsExpert([])).toMatchObject({ tool: 'finish' });
  });
});

describe('looksDone', () => {
  const plate = { name: 'plate_1', kind: 'plate', colour: '', position: [0.4, 0, 0.01] as [number, number, number] };
  const cube = (x: number, y: number) => ({
    name: 'cube_1',
    kind: 'cube',
    colour: 'red',
    position: [x, y, 0.02] as [number, number, number],
  });

  it('judges places and sides', () => {
    expect(looksDone({ kind: 'on' }, cube(0.42, 0.02), plate)).toBe(true);
    expect(looksDone({ kind: 'on' }, cube(0.6, 0.02), plate)).toBe(false);
    expect(looksDone({ kind: 'beside', side: 'left' }, cube(0.4, 0.15), plate)).toBe(true);
    expect(looksDone({ kind: 'beside', side: 'right' }, cube(0.4, 0.15), plate)).toBe(false);
    expect(looksDone({ kind: 'on' }, undefined, plate)).toBe(undefined);
    expect(looksDone({ kind: 'open' }, undefined, { ...plate, open: false })).toBe(false);
  });
});
