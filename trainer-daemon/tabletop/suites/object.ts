/** `tabletop_object`: the named item among five distractors goes in the basket. */
import { the } from '../relations.ts';
import { GROCERIES, SUPPLIES } from './scenes.ts';
import type { Goal, Region, SceneSpec, TaskSpec } from './spec.ts';

const inBasket = (item: string): Goal => ({
  instruction: `pick up the ${item} and place it in the basket`,
  goal: [{ kind: 'inside', object: the(item), target: the('basket') }],
});

const cell = (x: number, y: number): Region => ({ x: [x - 0.02, x + 0.02], y: [y - 0.025, y + 0.025] });
const CELLS = [cell(0.4, 0.01), cell(0.4, 0.15), cell(0.4, 0.29), cell(0.6, 0.01), cell(0.6, 0.15), cell(0.6, 0.29)];

/** The scene's items in its six cells, in order, starting at `first`. */
export function shelve(scene: SceneSpec, first: number): Record<string, Region> {
  const items = scene.objects.filter((o) => o.kind !== 'basket');
  const places: Record<string, Region> = { basket: { x: [0.47, 0.53], y: [-0.28, -0.24] } };
  items.forEach((item, i) => {
    places[item.id] = CELLS[(i + first) % CELLS.length];
  });
  return places;
}

const id = (phrase: string): string => phrase.replace(' ', '_');

const task = (scene: SceneSpec, first: number, item: string, swapWith: string, other: string): TaskSpec => ({
  ...inBasket(item),
  scene,
  places: shelve(scene, first),
  swap: [[id(item), id(swapWith)]],
  other: inBasket(other),
});

export const OBJECT: TaskSpec[] = [
  task(GROCERIES, 0, 'red can', 'red cube', 'green can'),
  task(GROCERIES, 1, 'green can', 'blue box', 'red can'),
  task(GROCERIES, 2, 'white carton', 'red can', 'blue bottle'),
  task(GROCERIES, 3, 'blue bottle', 'red cube', 'white carton'),
  task(GROCERIES, 4, 'red cube', 'green can', 'blue box'),
  task(SUPPLIES, 0, 'orange carton', 'green cube', 'yellow bottle'),
  task(SUPPLIES, 1, 'yellow bottle', 'blue box', 'orange carton'),
  task(SUPPLIES, 2, 'brown box', 'red cube', 'green cube'),
  task(SUPPLIES, 3, 'green cube', 'orange carton', 'brown box'),
  task(SUPPLIES, 5, 'blue box', 'yellow bottle', 'red cube'),
];
