import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ToolExecution } from '../../../../trainer-daemon/harnesses/tabletop-skills/tool-execution.ts';
import { startEpisode } from '../../../../trainer-daemon/tabletop/index.ts';
import type { Tabletop } from '../../../../trainer-daemon/tabletop/types.ts';

let world: Tabletop;
let tools: ToolExecution;

beforeEach(async () => {
  world = await startEpisode({ suite: 'tabletop_goal', task: 2, init: 12, noiseSeed: 'tools' });
  tools = new ToolExecution(world);
});
afterEach(() => world?.dispose());

const say = (name: string, args: object | string = {}): string =>
  tools.run(name, typeof args === 'string' ? args : JSON.stringify(args)).content;

/** The name of what a description means in an observation. */
function nameIn(observation: string, words: string): string {
  return new RegExp(`^(${words}(?:-[A-Z]+)?) `, 'm').exec(observation)![1];
}

describe('tool calls', () => {
  it('that are wrong get words to act on, and leave the world as it was', () => {
    const before = world.time;
    const wrong: [string, object | string, RegExp][] = [
      ['fly', {}, /^error: no tool "fly"; the tools are detect, look, .*finish$/],
      ['', {}, /^error: no tool ""/],
      ['pick', 'not json', /^error: the arguments are not JSON$/],
      ['pick', '[1]', /^error: the arguments are no object$/],
      ['pick', 'null', /^error: the arguments are no object$/],
      ['pick', {}, /^error: object is missing$/],
      ['pick', { object: 'black-bowl', grasp: 'top' }, /^error: detect first$/],
      ['look', { camera: 'rear' }, /^error: camera must be agent or side or wrist$/],
      ['place', { where: 'under', target: 'x' }, /^error: where must be on or in or left/],
      ['move_to', { x: '1', y: 0, z: 0 }, /^error: x must be a number of centimetres$/],
      ['move_to', '{"x":1e999,"y":0,"z":0}', /^error: x must be/],
      ['finish', { status: 'great' }, /^error: status must be done or failed$/],
      ['__proto__', {}, /^error: no tool/],
    ];
    for (const [name, args, expected] of wrong) expect(say(name, args)).toMatch(expected);
    expect(say('release', '')).toBe('not-holding; gripper empty');
    expect(say('detect')).not.toMatch(/error/);
    expect(say('pick', { object: 'black-bowl-Z', grasp: 'top' })).toBe('error: no black-bowl-Z in the last detect');
    expect(say('pick', { object: 'constructor', grasp: 'top' })).toBe('error: no constructor in the last detect');
    expect(world.success()).toBe(false);
    expect(world.time - before).toBeLessThan(2);
  });

  it('carry a task out; what was moved has to be seen again', () => {
    const seen = say('detect');
    const [bowl, plate] = [nameIn(seen, 'black-bowl'), nameIn(seen, 'plate')];
    expect(say('open_drawer', { drawer: plate })).toBe(`error: ${plate} is no drawer`);
    expect(say('pick', { object: bowl, grasp: 'rim' })).toBe('held; holding');
    expect(say('detect')).toMatch(/^black-bowl at .* held$/m);
    expect(say('place', { where: 'on', target: nameIn(say('detect'), 'plate') })).toBe('placed; gripper empty');
    const after = say('detect');
    expect(after).toMatch(new RegExp(`^black-bowl at .* on ${nameIn(after, 'plate')}$`, 'm'));
    expect(world.success()).toBe(true);
    const again = nameIn(say('detect'), 'black-bowl');
    say('pick', { object: again, grasp: 'rim' });
    expect(say('place', { where: 'on', target: again })).toBe(`error: ${again} was moved; detect again`);
  });

  it('on the drawer ask to look again before its new place is used', () => {
    const drawer = nameIn(say('detect'), 'drawer');
    expect(say('open_drawer', { drawer })).toBe('opened; gripper empty');
    expect(say('close_drawer', { drawer })).toBe(`error: ${drawer} was moved; detect again`);
    expect(say('detect')).toMatch(/^drawer open at/m);
  });

  it('never leave the hand counted as full of what it lost', async () => {
    for (const init of [12, 13, 14, 15]) {
      const lost = await startEpisode({ suite: 'tabletop_goal_swap', task: 5, init, noiseSeed: `${1000 + init}` });
      const hand = new ToolExecution(lost);
      const cube = nameIn(hand.run('detect', '{}').content, 'red-cube');
      const { content } = hand.run('pick', JSON.stringify({ object: cube, grasp: 'top' }));
      expect(content).toMatch(/^held; holding$|; gripper empty$/);
      expect(content).not.toBe('held; gripper empty');
      lost.dispose();
    }
  });

  it('show a picture only where one is asked for', () => {
    const answer = tools.run('look', '{"camera":"wrist"}');
    expect(answer.content).toBe('picture of the wrist camera');
    const png = Buffer.from(answer.image!.replace('data:image/png;base64,', ''), 'base64');
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    expect(tools.run('detect', '{}').image).toBeUndefined();
  });
});
