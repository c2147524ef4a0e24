import { describe, expect, it } from 'vitest';
import {
  describeDetections,
  describeSkill,
  named,
} from '../../../../trainer-daemon/harnesses/tabletop-skills/observations.ts';
import { readDetections } from '../../../../trainer-daemon/harnesses/tabletop-skills/teacher/reading.ts';
import { detection } from './detections.ts';

describe('names', () => {
  it('are colour and kind, from left to right', () => {
    const seen = [
      detection('cube', 'red', 0.4, -0.1),
      detection('plate', '', 0.5, 0.3),
      detection('bowl', 'black', 0.5, 0),
    ];
    expect(named(seen).map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'plate plate',
      'bowl black-bowl',
      'cube red-cube',
    ]);
    expect(seen.map(({ name }) => name)).toEqual(['cube', 'plate', 'bowl']);
  });

  it('have a letter where several look alike, the leftmost A', () => {
    const seen = named([
      detection('bowl', 'black', 0.4, -0.2),
      detection('bowl', 'white', 0.5, 0.1),
      detection('bowl', 'black', 0.6, 0.2),
      detection('cube', 'black', 0.5, 0),
    ]);
    expect(seen.map(({ name, position }) => [name, position[1]])).toEqual([
      ['black-bowl-A', 0.2],
      ['white-bowl', 0.1],
      ['black-cube', 0],
      ['black-bowl-B', -0.2],
    ]);
  });

  it('go on with two letters after the alphabet', () => {
    const seen = named(Array.from({ length: 27 }, (_, i) => detection('cube', 'red', 0.5, 0.5 - i / 30)));
    const names = seen.map(({ name }) => name);
    expect(names.slice(0, 2)).toEqual(['red-cube-A', 'red-cube-B']);
    expect(names.slice(25)).toEqual(['red-cube-Z', 'red-cube-AA']);
    expect(new Set(names).size).toBe(27);
  });
});

describe('observations', () => {
  it('tell name and place in centimetres', () => {
    const seen = named([detection('cube', 'red', 0.404, -0.002), detection('drawer', '', 0.5, -0.42, { open: false })]);
    expect(describeDetections(seen)).toBe('red-cube at 40,0\ndrawer closed at 50,-42');
  });

  it('tell a drawer that stands out of its cabinet neither far nor little', () => {
    const cabinet = detection('cabinet', '', 0.5, -0.42);
    const states = [-0.42, -0.4, -0.37, -0.34, -0.3, -0.27].map(
      (y) =>
        /^drawer (\w+)/m.exec(
          describeDetections(named([cabinet, detection('drawer', '', 0.5, y, { open: y > -0.345 })])),
        )?.[1],
    );
    expect(states).toEqual(['closed', 'closed', 'ajar', 'ajar', 'open', 'open']);
  });

  it('tell the two nearest others of things that look alike, nearest first', () => {
    const seen = named([
      detection('bowl', 'black', 0.44, 0.12),
      detection('bowl', 'black', 0.44, -0.3),
      detection('plate', '', 0.44, -0.05),
      detection('can', 'red', 0.66, 0.12),
    ]);
    expect(describeDetections(seen)).toBe(
      [
        'black-bowl-A at 44,12 near plate 17, red-can 22',
        'red-can at 66,12',
        'plate at 44,-5',
        'black-bowl-B at 44,-30 near plate 25, red-can 47',
      ].join('\n'),
    );
  });

  it('tell what a thing is in or on, from heights and footprints', () => {
    const plate = detection('plate', '', 0.5, 0.2, { size: [0.17, 0.17, 0.012] });
    const bowl = detection('bowl', 'black', 0.5, 0.19, { size: [0.117, 0.117, 0.052], bottom: 0.012 });
    const inBowl = detection('cube', 'red', 0.51, 0.2, { bottom: 0.02 });
    const basket = detection('basket', '', 0.5, -0.2, { size: [0.193, 0.166, 0.07], yaw: 0.1 });
    const inBasket = detection('can', 'green', 0.55, -0.18, { size: [0.056, 0.056, 0.1], bottom: 0.01 });
    const below = detection('cube', 'blue', 0.4, 0);
    const stacked = detection('cube', 'yellow', 0.41, 0.01, { bottom: 0.038 });
    const besidePlate = detection('box', 'blue', 0.62, 0.2);
    const all = [plate, bowl, inBowl, basket, inBasket, below, stacked, besidePlate];
    const seen = readDetections(describeDetections(named(all)));
    const kindOf = (name: string) => seen.find((o) => o.name === name)?.kind;
    const places = seen.map((o) => [
      `${o.colour} ${o.kind}`.trim(),
      o.support ? `${o.support.how} ${kindOf(o.support.name)}` : 'table',
    ]);
    expect(Object.fromEntries(places)).toEqual({
      plate: 'table',
      'black bowl': 'on plate',
      'red cube': 'in bowl',
      basket: 'table',
      'green can': 'in basket',
      'blue cube': 'table',
      'yellow cube': 'on cube',
      'blue box': 'table',
    });
  });

  it('do not call a thing that leans on a bowl from outside its content', () => {
    const bowl = detection('bowl', 'black', 0.5, 0, { size: [0.117, 0.117, 0.052] });
    const leaning = detection('cube', 'red', 0.5, 0.055, { bottom: 0.02 });
    expect(describeDetections(named([bowl, leaning]))).not.toContain(' in ');
  });

  it('call held what hangs between the fingers, and only while they hold', () => {
    const seen = named([detection('cube', 'red', 0.5, 0, { bottom: 0.2 })]);
    expect(describeDetections(seen, [0.51, 0.01, 0.22])).toBe('red-cube at 50,0 held');
    expect(describeDetections(seen)).toBe('red-cube at 50,0');
  });

  it('are read back as they were written', () => {
    const text = [
      'plate at 44,15',
      'black-bowl-A at 43,14 on plate',
      'red-cube at 30,0 held',
      'blue-cube at 43,13 in black-bowl-A',
      'black-bowl-B at 40,-10 near plate 25, blue-cube 23',
      'drawer open at 50,-28',
    ].join('\n');
    expect(readDetections(text)).toEqual([
      { name: 'plate', kind: 'plate', colour: '', position: [0.44, 0.15, 0] },
      {
        name: 'black-bowl-A',
        kind: 'bowl',
        colour: 'black',
        position: [0.43, 0.14, 0],
        support: { how: 'on', name: 'plate' },
      },
      { name: 'red-cube', kind: 'cube', colour: 'red', position: [0.3, 0, 0], held: true },
      {
        name: 'blue-cube',
        kind: 'cube',
        colour: 'blue',
        position: [0.43, 0.13, 0],
        support: { how: 'in', name: 'black-bowl-A' },
      },
      { name: 'black-bowl-B', kind: 'bowl', colour: 'black', position: [0.4, -0.1, 0] },
      { name: 'drawer', kind: 'drawer', colour: '', position: [0.5, -0.28, 0], state: 'open' },
    ]);
    expect(readDetections('nothing seen')).toEqual([]);
    expect(describeDetections([])).toBe('nothing seen');
  });

  it('never say whether the task is solved', () => {
    expect(
      describeSkill({ ok: true, code: 'placed', gripperOpening: 0.08, holding: false, tcp: [0, 0, 0], seconds: 1 }),
    ).toBe('placed; gripper empty');
  });
});
