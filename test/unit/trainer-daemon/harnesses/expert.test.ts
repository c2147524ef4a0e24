import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../../trainer-daemon/harnesses/tabletop-skills/model-client.ts';
import { answerAsExpert } from '../../../../trainer-daemon/harnesses/tabletop-skills/teacher/expert.ts';
import {
  looksDone,
  readCalls,
  type SeenObject,
} from '../../../../trainer-daemon/harnesses/tabletop-skills/teacher/reading.ts';
import { CAREFUL, type Style } from '../../../../trainer-daemon/harnesses/tabletop-skills/teacher/style.ts';
import { taskMessage } from '../../../../trainer-daemon/harnesses/tabletop-skills/tools.ts';
import { goalOf, suiteNames, tasks } from '../../../../trainer-daemon/tabletop/index.ts';

type Past = [tool: string, args: object, answer: string];

/** A transcript in which the given calls were made and answered. */
function transcript(instruction: string, ...past: Past[]): ChatMessage[] {
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

const careful = (instruction: string, ...past: Past[]) =>
  answerAsExpert(transcript(instruction, ...past), undefined, CAREFUL);
const detected = (table: string): Past => ['detect', {}, table];

const BOWLS = 'black-bowl-A at 48,33 near plate 18\nplate at 44,15\nblack-bowl-B at 46,-31 near plate 46';
const BOWL_TO_PLATE = 'pick up the black bowl next to the plate and place it on the plate';
const HELD: Past = ['pick', { object: 'black-bowl-A', grasp: 'rim' }, 'held; holding'];
const PLACED: Past = ['place', { where: 'on', target: 'plate' }, 'placed; gripper empty'];

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
    expect(careful(BOWL_TO_PLATE, detected(BOWLS))).toEqual({
      reasoning: 'I take black-bowl-A.',
      tool: 'pick',
      arguments: { object: 'black-bowl-A', grasp: 'rim' },
    });
    const right = 'pick up the black bowl on the right and place it on the plate';
    expect(careful(right, detected(BOWLS))).toMatchObject({ tool: 'pick', arguments: { object: 'black-bowl-B' } });
  });

  it('still knows which bowl was meant after it was dropped elsewhere', () => {
    // It now lies on the other's right, and so has the other's letter.
    const dropped = 'plate at 44,15\nblack-bowl-A at 47,-30 near plate 45\nblack-bowl-B at 55,-42 near plate 58';
    const left = 'pick up the black bowl on the left and place it on the plate';
    const slipped: Past = ['place', { where: 'on', target: 'plate' }, 'slipped; gripper empty'];
    expect(careful(left, detected(BOWLS), HELD, slipped, detected(dropped))).toMatchObject({
      tool: 'pick',
      arguments: { object: 'black-bowl-B' },
    });
    // Only the other one is seen: it is not taken for the one that was meant.
    const gone = 'plate at 44,15\nblack-bowl at 47,-30';
    expect(careful(left, detected(BOWLS), HELD, slipped, detected(gone)).tool).toBe('detect');
  });

  it('puts down what it holds, looks, and ends when it sees the result', () => {
    expect(careful(BOWL_TO_PLATE, detected(BOWLS), HELD)).toMatchObject({
      tool: 'place',
      arguments: { where: 'on', target: 'plate' },
    });
    expect(careful(BOWL_TO_PLATE, detected(BOWLS), HELD, PLACED).tool).toBe('detect');
    const done = 'black-bowl-A at 44,16 on plate\nplate at 44,15\nblack-bowl-B at 46,-31 near plate 46';
    expect(careful(BOWL_TO_PLATE, detected(BOWLS), HELD, PLACED, detected(done))).toMatchObject({
      tool: 'finish',
      arguments: { status: 'done' },
    });
    const missed = 'black-bowl-A at 44,29 near plate 14\nplate at 44,15\nblack-bowl-B at 46,-31 near plate 46';
    expect(careful(BOWL_TO_PLATE, detected(BOWLS), HELD, PLACED, detected(missed))).toMatchObject({
      tool: 'pick',
      arguments: { object: 'black-bowl-A' },
    });
  });

  it('opens the drawer first, looks again, and closes it at the end', () => {
    const task = 'open the drawer, put the red cube inside and close it';
    const shut = 'red-cube at 40,2\ndrawer closed at 50,-42\ncabinet at 50,-42';
    const open = 'red-cube at 40,2\ndrawer open at 50,-27\ncabinet at 50,-42';
    const filled = 'red-cube at 50,-24 in drawer\ndrawer open at 50,-27\ncabinet at 50,-42';
    const opened: Past = ['open_drawer', { drawer: 'drawer' }, 'opened; gripper empty'];
    const held: Past = ['pick', { object: 'red-cube', grasp: 'top' }, 'held; holding'];
    const placed: Past = ['place', { where: 'in', target: 'drawer' }, 'placed; gripper empty'];
    const closed: Past = ['close_drawer', { drawer: 'drawer' }, 'closed; gripper empty'];
    const way: [Past, string][] = [
      [detected(shut), 'open_drawer'],
      [opened, 'detect'],
      [detected(open), 'pick'],
      [held, 'place'],
      [placed, 'detect'],
      [detected(filled), 'close_drawer'],
      [closed, 'detect'],
      [detected('drawer closed at 50,-42\ncabinet at 50,-42'), 'finish'],
    ];
    const past: Past[] = [];
    for (const [call, next] of way) {
      past.push(call);
      expect(careful(task, ...past).tool).toBe(next);
    }
    // With the hand full and the drawer shut, the hand is emptied where there was room.
    expect(careful(task, detected(shut), held)).toMatchObject({ tool: 'place_at', arguments: { x: 40, y: 2 } });
  });

  it('pushes again where the drawer is seen ajar', () => {
    const shut: Past = ['close_drawer', { drawer: 'drawer' }, 'closed; gripper empty'];
    const table = (state: string, y: number) => detected(`drawer ${state} at 50,${y}\ncabinet at 50,-42`);
    expect(careful('close the drawer', table('open', -27), shut, table('ajar', -36)).tool).toBe('close_drawer');
    expect(careful('close the drawer', table('open', -27), shut, table('closed', -41)).tool).toBe('finish');
  });

  it('does not reopen the drawer that it closed over its content', () => {
    const task = 'take the yellow cube out of the drawer, put it on the plate and close the drawer';
    const done = 'plate at 50,24\nyellow-cube at 50,24 on plate\ndrawer closed at 50,-42';
    expect(careful(task, detected(done))).toMatchObject({ tool: 'finish', arguments: { status: 'done' } });
  });

  it('looks again after an error, and gives up what is out of reach', () => {
    const error: Past = ['pick', { object: 'black-bowl-I', grasp: 'rim' }, 'error: no black-bowl-I in the last detect'];
    expect(careful(BOWL_TO_PLATE, detected(BOWLS), error).tool).toBe('detect');
    const far: Past = ['pick', { object: 'black-bowl-A', grasp: 'rim' }, 'unreachable; gripper empty'];
    expect(careful(BOWL_TO_PLATE, detected(BOWLS), far, detected(BOWLS), far)).toMatchObject({
      tool: 'finish',
      arguments: { status: 'failed' },
    });
  });

  it('ends whatever it is answered', () => {
    for (const answer of ['', 'nothing seen', BOWLS, 'slipped; gripper empty', 'held; holding']) {
      const past: Past[] = [];
      let response = careful(BOWL_TO_PLATE);
      for (; response.tool !== 'finish' && past.length < 40; response = careful(BOWL_TO_PLATE, ...past)) {
        past.push([response.tool, response.arguments, answer]);
      }
      expect(response.tool).toBe('finish');
    }
  });

  it('has several styles: after a slip some give up, some look and some try again at once', () => {
    const tools = new Set<string>();
    for (let noise = 0; noise < 100; noise++) {
      const table = BOWLS.replace('46,-31', `46,-${20 + noise}`);
      const slipped: Past = ['pick', { object: 'black-bowl-A', grasp: 'rim' }, 'slipped; gripper empty'];
      tools.add(answerAsExpert(transcript(BOWL_TO_PLATE, detected(table), slipped)).tool);
    }
    expect(tools).toEqual(new Set(['detect', 'finish', 'pick']));
  });

  it('keeps its style through an episode, and makes mistakes by the request seed', () => {
    const clumsy: Style = { ...CAREFUL, clumsiness: 0.3 };
    const grasps = Array.from(
      { length: 60 },
      (_, seed) => answerAsExpert(transcript(BOWL_TO_PLATE, detected(BOWLS)), seed, clumsy).arguments.grasp,
    );
    const wrong = grasps.filter((grasp) => grasp === 'top').length;
    expect(wrong).toBeGreaterThan(5);
    expect(wrong).toBeLessThan(35);
  });

  it('answers the same transcript alike', () => {
    const messages = transcript('open the drawer', detected(BOWLS));
    expect(answerAsExpert(messages, 3)).toEqual(answerAsExpert(structuredClone(messages), 3));
  });

  it('gives an unknown task up', () => {
    const failed = { tool: 'finish', arguments: { status: 'failed' } };
    expect(answerAsExpert(transcript('fly to the moon'))).toMatchObject(failed);
    expect(answerAsExpert([])).toMatchObject(failed);
  });
});

describe('reading', () => {
  it('gives each call its own answer, where a model repeats its ids', () => {
    const call = (name: string) => ({ id: 'a', type: 'function' as const, function: { name, arguments: '{' } });
    const calls = readCalls([
      { role: 'assistant', content: null, tool_calls: [call('detect'), call('release')] },
      { role: 'tool', tool_call_id: 'a', content: 'first' },
      { role: 'tool', tool_call_id: 'a', content: 'second' },
      { role: 'assistant', content: null, tool_calls: [call('finish')] },
    ]);
    expect(calls.map(({ tool, answer, arguments: given }) => [tool, answer, given])).toEqual([
      ['detect', 'first', {}],
      ['release', 'second', {}],
      ['finish', '', {}],
    ]);
  });

  it('judges places and sides', () => {
    const seen = (kind: string, x: number, y: number, more: Partial<SeenObject> = {}): SeenObject => ({
      name: kind,
      kind,
      colour: '',
      position: [x, y, 0],
      ...more,
    });
    const plate = seen('plate', 0.4, 0);
    const on = seen('cube', 0.42, 0.02, { support: { how: 'on', name: 'plate' } });
    expect(looksDone({ kind: 'on' }, on, plate)).toBe(true);
    expect(looksDone({ kind: 'inside' }, on, plate)).toBe(false);
    expect(looksDone({ kind: 'on' }, seen('cube', 0.6, 0.02), plate)).toBe(false);
    expect(looksDone({ kind: 'beside', side: 'left' }, seen('cube', 0.4, 0.15), plate)).toBe(true);
    expect(looksDone({ kind: 'beside', side: 'right' }, seen('cube', 0.4, 0.15), plate)).toBe(false);
    expect(looksDone({ kind: 'beside', side: 'left' }, seen('cube', 0.4, 0.15, { held: true }), plate)).toBe(false);
    expect(looksDone({ kind: 'on' }, undefined, plate)).toBe(undefined);
    expect(looksDone({ kind: 'open' }, undefined, seen('drawer', 0.5, -0.4, { state: 'closed' }))).toBe(false);
  });
});
