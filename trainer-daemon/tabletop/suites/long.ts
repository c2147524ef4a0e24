/** `tabletop_long`: two or three goals in one instruction. */
import type { GoalStep } from '../types.ts';
import { CLOSE, goal, inside, kitchen, OPEN, on } from './goal.ts';
import { shelve } from './object.ts';
import { PANTRY } from './scenes.ts';
import type { Goal, TaskSpec } from './spec.ts';

/** A goal that a closed drawer stands in the way of: opened first, closed at the end. */
const throughDrawer = (instruction: string, step: GoalStep): Goal => ({
  instruction,
  goal: [step, CLOSE],
  plan: [OPEN, step, CLOSE],
});

const pantry = (first: number, own: Goal, other: Goal, swap: [string, string][]): TaskSpec => ({
  ...own,
  scene: PANTRY,
  places: shelve(PANTRY, first),
  swap,
  other,
});

const inBasket = (...items: string[]): GoalStep[] => items.map((item) => inside(item, 'basket'));

export const LONG: TaskSpec[] = [
  pantry(
    0,
    goal('put the red can and the white carton in the basket', ...inBasket('red can', 'white carton')),
    goal('put the green can and the blue box in the basket', ...inBasket('green can', 'blue box')),
    [
      ['red_can', 'red_cube'],
      ['white_carton', 'blue_box'],
    ],
  ),
  pantry(
    1,
    goal('put the blue box and the red cube in the basket', ...inBasket('blue box', 'red cube')),
    goal('put the white carton and the red cube in the basket', ...inBasket('white carton', 'red cube')),
    [
      ['blue_box', 'green_can'],
      ['red_cube', 'white_carton'],
    ],
  ),
  pantry(
    2,
    goal(
      'put the green can in the basket and the red cube on the blue box',
      inside('green can', 'basket'),
      on('red cube', 'blue box'),
    ),
    goal(
      'put the red can in the basket and the red cube on the blue box',
      inside('red can', 'basket'),
      on('red cube', 'blue box'),
    ),
    [['green_can', 'red_cube']],
  ),
  pantry(
    3,
    goal(
      'put the red can, the green can and the red cube in the basket',
      ...inBasket('red can', 'green can', 'red cube'),
    ),
    goal(
      'put the red can, the white carton and the red cube in the basket',
      ...inBasket('red can', 'white carton', 'red cube'),
    ),
    [
      ['red_can', 'blue_box'],
      ['green_can', 'white_carton'],
    ],
  ),
  kitchen(
    throughDrawer('open the drawer, put the red cube inside and close it', inside('red cube', 'drawer')),
    throughDrawer('open the drawer, put the blue cube inside and close it', inside('blue cube', 'drawer')),
    [['red_cube', 'blue_cube']],
  ),
  kitchen(
    goal(
      'put the black bowl on the plate and the red cube in the black bowl',
      on('black bowl', 'plate'),
      inside('red cube', 'black bowl'),
    ),
    goal(
      'put the black bowl on the plate and the blue cube in the black bowl',
      on('black bowl', 'plate'),
      inside('blue cube', 'black bowl'),
    ),
    [['black_bowl', 'plate']],
  ),
  kitchen(
    goal('put the red cube on the plate and open the drawer', on('red cube', 'plate'), OPEN),
    goal('put the blue cube on the plate and open the drawer', on('blue cube', 'plate'), OPEN),
    [['red_cube', 'green_can']],
  ),
  kitchen(
    goal(
      'put the red cube in the black bowl and the green can on the plate',
      inside('red cube', 'black bowl'),
      on('green can', 'plate'),
    ),
    goal(
      'put the blue cube in the black bowl and the green can on the plate',
      inside('blue cube', 'black bowl'),
      on('green can', 'plate'),
    ),
    [['red_cube', 'green_can']],
  ),
  kitchen(
    goal('put the blue cube in the drawer and close it', inside('blue cube', 'drawer'), CLOSE),
    goal('put the red cube in the drawer and close it', inside('red cube', 'drawer'), CLOSE),
    [['red_cube', 'blue_cube']],
    'open',
  ),
  kitchen(
    throughDrawer(
      'take the yellow cube out of the drawer, put it on the plate and close the drawer',
      on('yellow cube', 'plate'),
    ),
    throughDrawer(
      'take the yellow cube out of the drawer, put it in the black bowl and close the drawer',
      inside('yellow cube', 'black bowl'),
    ),
    [['black_bowl', 'plate']],
  ),
];
