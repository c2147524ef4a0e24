/** The scenes: which objects stand on the table together. */
import { the } from '../relations.ts';
import type { SceneObject, SceneSpec } from './spec.ts';

/** `object('red cube')` is the object with id `red_cube`; a suffix tells like objects apart. */
function object(phrase: string, suffix = ''): SceneObject {
  const { kind, colour } = the(phrase);
  return { id: phrase.replace(' ', '_') + suffix, kind, colour };
}

const scene = (name: string, cabinet: boolean, objects: (string | SceneObject)[]): SceneSpec => ({
  name,
  cabinet,
  objects: objects.map((o) => (typeof o === 'string' ? object(o) : o)),
});

/** Two like bowls that only their places tell apart. */
export const BOWLS = scene('bowls', false, [
  object('black bowl', '_a'),
  object('black bowl', '_b'),
  'plate',
  'red can',
  'blue box',
  'yellow cube',
]);

export const GROCERIES = scene('groceries', false, [
  'basket',
  'red can',
  'green can',
  'white carton',
  'blue bottle',
  'blue box',
  'red cube',
]);

export const SUPPLIES = scene('supplies', false, [
  'basket',
  'orange carton',
  'yellow bottle',
  'brown box',
  'green cube',
  'blue box',
  'red cube',
]);

/** A yellow cube lies in the drawer; a closed drawer hides it. */
export const KITCHEN = scene('kitchen', true, [
  'black bowl',
  'plate',
  'red cube',
  'blue cube',
  'green can',
  'yellow cube',
]);

export const PANTRY = scene('pantry', false, [
  'basket',
  'red can',
  'green can',
  'white carton',
  'blue box',
  'red cube',
]);
