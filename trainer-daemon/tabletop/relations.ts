/**
 * The phrases by which instructions single one of several like objects out, and the one rule that decides them. The
 * same rule judges true positions when a scene is laid out and perceived ones when an expert chooses, so that a scene
 * whose margin is clear is decidable in spite of perception's noise.
 */
import type { Description, Vec3 } from './types.ts';

export interface Placed {
  kind: string;
  colour: string;
  position: Vec3;
}

export type Relation =
  | { type: 'next'; to: Description }
  | { type: 'between'; first: Description; second: Description }
  | { type: 'end'; axis: 0 | 1; sign: 1 | -1 };

const ENDS: Record<string, Relation> = {
  'on the left': { type: 'end', axis: 1, sign: -1 },
  'on the right': { type: 'end', axis: 1, sign: 1 },
  'at the front': { type: 'end', axis: 0, sign: 1 },
  'at the back': { type: 'end', axis: 0, sign: -1 },
};

/** `the('red cube')`: the last word is the kind, a word before it the colour. */
export function the(phrase: string, relation?: string): Description {
  const words = phrase.split(' ');
  const kind = words[words.length - 1];
  const colour = words.slice(0, -1).join(' ');
  return relation === undefined ? { kind, colour } : { kind, colour, relation };
}

/**
 * Reads a relation phrase: `next to the X`, `between the X and the Y`, `on the left`, `on the right`, `at the front`
 * (nearest to the robot), `at the back`.
 * @throws Error on any other phrase.
 */
export function parseRelation(phrase: string): Relation {
  const end = ENDS[phrase];
  if (end) return end;
  const next = /^next to the (.+)$/.exec(phrase);
  if (next) return { type: 'next', to: the(next[1]) };
  const between = /^between the (.+) and the (.+)$/.exec(phrase);
  if (between) return { type: 'between', first: the(between[1]), second: the(between[2]) };
  throw new Error(
    `unknown relation "${phrase}": expected "next to the X", "between the X and the Y", "on the left", "on the right", "at the front" or "at the back"`,
  );
}

const distance = (a: Vec3, b: Vec3): number => Math.hypot(a[0] - b[0], a[1] - b[1]);

const fits = (d: Description, o: Placed): boolean => o.kind === d.kind && (d.colour === '' || o.colour === d.colour);

export interface Choice<T> {
  chosen: T | undefined;
  /** By how many metres the next best is worse; infinite with one candidate only, 0 where nothing decides. */
  margin: number;
}

/**
 * The object a description means among those seen, and how clearly. A relation's score (lower is better): distance to
 * the reference; the detour through the object on the way between two references; or the coordinate along the axis.
 */
export function rankBy<T extends Placed>(description: Description, seen: readonly T[]): Choice<T> {
  let candidates = seen.filter((o) => fits(description, o));
  if (candidates.length === 0) return { chosen: undefined, margin: 0 };
  if (description.relation === undefined) {
    return { chosen: candidates[0], margin: candidates.length === 1 ? Number.POSITIVE_INFINITY : 0 };
  }
  const relation = parseRelation(description.relation);
  const reference = (d: Description): T | undefined => seen.find((o) => fits(d, o));
  let score: (o: T) => number;
  if (relation.type === 'end') {
    score = (o) => relation.sign * o.position[relation.axis];
  } else if (relation.type === 'next') {
    const to = reference(relation.to);
    if (!to) return { chosen: undefined, margin: 0 };
    candidates = candidates.filter((o) => o !== to);
    score = (o) => distance(o.position, to.position);
  } else {
    const first = reference(relation.first);
    const second = reference(relation.second);
    if (!first || !second) return { chosen: undefined, margin: 0 };
    candidates = candidates.filter((o) => o !== first && o !== second);
    const direct = distance(first.position, second.position);
    score = (o) => distance(first.position, o.position) + distance(o.position, second.position) - direct;
  }
  const ranked = candidates.map((o) => ({ o, s: score(o) })).sort((a, b) => a.s - b.s);
  if (ranked.length === 0) return { chosen: undefined, margin: 0 };
  return { chosen: ranked[0].o, margin: ranked.length === 1 ? Number.POSITIVE_INFINITY : ranked[1].s - ranked[0].s };
}

/** The object a description means among those seen (true or perceived), or undefined where none fits. */
export function singleOut<T extends Placed>(description: Description, seen: readonly T[]): T | undefined {
  return rankBy(description, seen).chosen;
}
