/** `tabletop_goal`: one scene, ten goals. */
import { the } from '../relations.ts';
import type { GoalStep } from '../types.ts';
import { KITCHEN } from './scenes.ts';
import type { Goal, Region, TaskSpec } from './spec.ts';

/** Objects keep clear of the drawer's way (y above -0.06). */
export const KITCHEN_PLACES: Record<string, Region> = {
  plate: { x: [0.51, 0.57], y: [0.21, 0.27] },
  black_bowl: { x: [0.36, 0.4], y: [0.17, 0.25] },
  red_cube: { x: [0.36, 0.41], y: [-0.03, 0.04] },
  blue_cube: { x: [0.49, 0.53], y: [-0.02, 0.06] },
  green_can: { x: [0.61, 0.65], y: [0.0, 0.08] },
  yellow_cube: { drawer: true, x: [-0.055, -0.035], y: [0.02, 0.03] },
};

const DRAWER = the('drawer');
export const on = (object: string, target: string): GoalStep => ({
  kind: 'on',
  object: the(object),
  target: the(target),
});
export const inside = (object: string, target: string): GoalStep => ({
  kind: 'inside',
  object: the(object),
  target: the(target),
});
export const beside = (object: string, side: 'left' | 'right', target: string): GoalStep => ({
  kind: 'beside',
  object: the(object),
  target: the(target),
  side,
});
export const OPEN: GoalStep = { kind: 'open', target: DRAWER };
export const CLOSE: GoalStep = { kind: 'close', target: DRAWER };

export const goal = (instruction: string, ...steps: GoalStep[]): Goal => ({ instruction, goal: steps });

/** A goal whose object lies hidden in the closed drawer. */
const fetch = (instruction: string, step: GoalStep): Goal => ({ instruction, goal: [step], plan: [OPEN, step] });

const BOWL_PLATE: [string, string] = ['black_bowl', 'plate'];
const CUBE_CAN: [string, string] = ['red_cube', 'green_can'];
const CUBES: [string, string] = ['red_cube', 'blue_cube'];

/** A task of the kitchen scene. */
export const kitchen = (own: Goal, other: Goal, swap: [string, string][], drawer?: 'open'): TaskSpec => ({
  ...own,
  scene: KITCHEN,
  places: KITCHEN_PLACES,
  swap,
  other,
  ...(drawer && { drawer }),
});

export const GOAL: TaskSpec[] = [
  kitchen(goal('open the drawer', OPEN), goal('put the blue cube on the cabinet', on('blue cube', 'cabinet')), [
    BOWL_PLATE,
    CUBE_CAN,
  ]),
  kitchen(
    goal('close the drawer', CLOSE),
    goal('put the red cube in the drawer', inside('red cube', 'drawer')),
    [BOWL_PLATE, CUBES],
    'open',
  ),
  kitchen(
    goal('put the black bowl on the plate', on('black bowl', 'plate')),
    goal('put the red cube on the plate', on('red cube', 'plate')),
    [BOWL_PLATE],
  ),
  kitchen(
    goal('put the green can on the plate', on('green can', 'plate')),
    goal('put the blue cube on the plate', on('blue cube', 'plate')),
    [CUBE_CAN],
  ),
  kitchen(
    goal('put the red cube in the black bowl', inside('red cube', 'black bowl')),
    goal('put the blue cube in the black bowl', inside('blue cube', 'black bowl')),
    [BOWL_PLATE, CUBES],
  ),
  kitchen(goal('put the red cube on the cabinet', on('red cube', 'cabinet')), goal('open the drawer', OPEN), [
    CUBE_CAN,
  ]),
  kitchen(
    goal('put the blue cube on the red cube', on('blue cube', 'red cube')),
    goal('put the red cube on the blue cube', on('red cube', 'blue cube')),
    [CUBE_CAN],
  ),
  kitchen(
    goal('put the green can to the left of the plate', beside('green can', 'left', 'plate')),
    goal('put the blue cube to the left of the black bowl', beside('blue cube', 'left', 'black bowl')),
    [CUBE_CAN],
  ),
  kitchen(
    goal('open the drawer and put the blue cube inside', OPEN, inside('blue cube', 'drawer')),
    goal('open the drawer and put the red cube inside', OPEN, inside('red cube', 'drawer')),
    [CUBES],
  ),
  kitchen(
    fetch('take the yellow cube out of the drawer and put it on the plate', on('yellow cube', 'plate')),
    fetch('take the yellow cube out of the drawer and put it in the black bowl', inside('yellow cube', 'black bowl')),
    [BOWL_PLATE],
  ),
];
