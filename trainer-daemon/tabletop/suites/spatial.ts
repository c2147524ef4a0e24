/** `tabletop_spatial`: one of two like bowls, singled out by a spatial relation alone, goes on the plate. */
import { the } from '../relations.ts';
import { BOWLS } from './scenes.ts';
import type { Goal, Region, TaskSpec } from './spec.ts';

const ANYWHERE: Region = { x: [0.35, 0.64], y: [-0.32, 0.32] };
const RIGHT: Region = { x: [0.42, 0.58], y: [-0.24, -0.12] };
const LEFT: Region = { x: [0.42, 0.58], y: [0.12, 0.24] };

const bowlToPlate = (relation: string): Goal => ({
  instruction: `pick up the black bowl ${relation} and place it on the plate`,
  goal: [{ kind: 'on', object: the('black bowl', relation), target: the('plate') }],
});

function task(
  relation: string,
  otherRelation: string,
  swap: [string, string][],
  places: Record<string, Region>,
): TaskSpec {
  const rest = BOWLS.objects.filter((o) => !(o.id in places)).map((o) => [o.id, ANYWHERE] as const);
  return {
    ...bowlToPlate(relation),
    scene: BOWLS,
    places: { ...places, ...Object.fromEntries(rest) },
    swap,
    other: bowlToPlate(otherRelation),
  };
}

/** A bowl beside each of two landmarks; the swap exchanges the landmarks, so that the other bowl is meant. */
const beside = (first: string, second: string, other: string): TaskSpec =>
  task(`next to the ${first}`, `next to the ${other}`, [[first.replace(' ', '_'), second.replace(' ', '_')]], {
    [first.replace(' ', '_')]: RIGHT,
    [second.replace(' ', '_')]: LEFT,
    black_bowl_a: { near: first.replace(' ', '_'), distance: [0.175, 0.19] },
    black_bowl_b: { near: second.replace(' ', '_'), distance: [0.175, 0.19] },
  });

/** Five things in a row: the swap exchanges the row's ends. */
function between(middle: string): TaskSpec {
  const id = middle.replace(' ', '_');
  return task(
    `between the plate and the ${middle}`,
    `between the blue box and the ${middle}`,
    [['plate', 'blue_box']],
    {
      [id]: { x: [0.42, 0.52], y: [-0.01, 0.01] },
      plate: { x: [0.42, 0.5], y: [-0.33, -0.312] },
      blue_box: { x: [0.42, 0.5], y: [0.312, 0.33] },
      black_bowl_a: { from: id, to: 'plate', fraction: [0.39, 0.42], within: 0.006 },
      black_bowl_b: { from: id, to: 'blue_box', fraction: [0.39, 0.42], within: 0.006 },
    },
  );
}

export const SPATIAL: TaskSpec[] = [
  beside('plate', 'blue box', 'blue box'),
  beside('red can', 'yellow cube', 'yellow cube'),
  beside('blue box', 'red can', 'red can'),
  beside('yellow cube', 'plate', 'plate'),
  between('red can'),
  between('yellow cube'),
  task('on the left', 'on the right', [['black_bowl_a', 'plate']], {
    black_bowl_a: { x: [0.4, 0.56], y: [0.22, 0.3] },
    black_bowl_b: { x: [0.4, 0.56], y: [-0.3, -0.22] },
    plate: { x: [0.4, 0.6], y: [-0.06, 0.06] },
  }),
  task('on the right', 'on the left', [['black_bowl_b', 'plate']], {
    black_bowl_a: { x: [0.4, 0.56], y: [0.22, 0.3] },
    black_bowl_b: { x: [0.4, 0.56], y: [-0.3, -0.22] },
    plate: { x: [0.4, 0.6], y: [-0.06, 0.06] },
  }),
  task('at the front', 'at the back', [['black_bowl_a', 'blue_box']], {
    black_bowl_a: { x: [0.35, 0.38], y: [-0.2, 0.2] },
    black_bowl_b: { x: [0.57, 0.63], y: [-0.2, 0.2] },
    plate: { x: [0.4, 0.6], y: [-0.28, 0.28] },
    blue_box: { x: [0.42, 0.48], y: [-0.3, 0.3] },
  }),
  task('at the back', 'at the front', [['black_bowl_b', 'blue_box']], {
    black_bowl_a: { x: [0.35, 0.38], y: [-0.2, 0.2] },
    black_bowl_b: { x: [0.57, 0.63], y: [-0.2, 0.2] },
    plate: { x: [0.4, 0.6], y: [-0.28, 0.28] },
    blue_box: { x: [0.48, 0.54], y: [-0.3, 0.3] },
  }),
];
