/**
 * How what the robot perceives and feels is put into words: short and regular, because small planners have short
 * contexts. Everything is derived from noisy perceived positions, as is what a thing lies on or in.
 */
import type { Detection, SkillResult, Vec3 } from '../../tabletop/types.ts';

/** A drawer seen between these, in metres out of its cabinet, is neither open nor closed. */
const AJAR = [0.035, 0.095];
const CONTAINERS = ['bowl', 'basket', 'drawer'];
/** A container's floor is thin; a thing that is deeper inside than this stands in it. */
const FLOOR = 0.05;
/** Perceived heights of touching surfaces agree within this. */
const TOUCHING = 0.02;
/** Share of a round support's radius within which a thing's middle stands on it. */
const WITHIN = 0.9;
/** The same of a container: what is further out leans on its wall. */
const WELL_WITHIN = 0.7;
/** A rim-held bowl's middle lies this far from the fingers at most. */
const GRASPED = 0.09;
/** Undersides above this hang in the air unless something is below. */
const LIFTED = 0.08;

/**
 * Detections under this harness's names, from left to right: colour and kind as one word, `red-cube`, and a letter where
 * several look alike, `black-bowl-A` the leftmost. A name never tells an object's role in the task.
 */
export function named(detections: readonly Detection[]): Detection[] {
  const ordered = [...detections].sort((a, b) => b.position[1] - a.position[1]);
  const count = new Map<string, number>();
  for (const detection of ordered) count.set(label(detection), (count.get(label(detection)) ?? 0) + 1);
  const used = new Map<string, number>();
  return ordered.map((detection) => {
    const name = label(detection);
    if (count.get(name) === 1) return { ...detection, name };
    const index = used.get(name) ?? 0;
    used.set(name, index + 1);
    return { ...detection, name: `${name}-${letters(index)}` };
  });
}

/** A, B, ... Z, AA, AB, ... */
function letters(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : letters(Math.floor(index / 26) - 1) + letter;
}

/** Colour and kind as one word. */
export function label(thing: { colour: string; kind: string }): string {
  return thing.colour === '' ? thing.kind : `${thing.colour}-${thing.kind}`;
}

/**
 * One line an object, from left to right, x,y in centimetres:
 * `red-cube at 41,-2 in basket`, `drawer closed at 50,-42` (or `open`, `ajar`); of things that look alike and stand free
 * also the two nearest others with their distances: `black-bowl-B at 44,12 near plate 17, red-can 22`.
 * @param detections as `named` gives them.
 * @param hand where the fingers hold something, undefined while they hold nothing.
 */
export function describeDetections(detections: readonly Detection[], hand?: Vec3): string {
  if (detections.length === 0) return 'nothing seen';
  return detections.map((detection) => line(detection, detections, hand)).join('\n');
}

function line(detection: Detection, all: readonly Detection[], hand: Vec3 | undefined): string {
  const [x, y] = detection.position;
  let text = detection.name;
  if (detection.open !== undefined) text += ` ${drawerState(detection, all)}`;
  text += ` at ${cm(x)},${cm(y)}`;
  const place = placeOf(detection, all, hand);
  if (place !== '') return `${text} ${place}`;
  const like = (other: Detection): boolean => other.kind === detection.kind && other.colour === detection.colour;
  if (!all.some((other) => other !== detection && like(other))) return text;
  const near = all
    .filter((other) => !like(other))
    .map((other) => ({ name: other.name, apart: apart(detection, other) }))
    .sort((a, b) => a.apart - b.apart)
    .slice(0, 2)
    .map((other) => `${other.name} ${cm(other.apart)}`);
  return near.length === 0 ? text : `${text} near ${near.join(', ')}`;
}

/** How far a drawer stands out of its cabinet, as both are seen; all or nothing where the cabinet is not. */
function drawerState(drawer: Detection, all: readonly Detection[]): 'open' | 'closed' | 'ajar' {
  const cabinet = all.find(({ kind }) => kind === 'cabinet');
  const out = cabinet && drawer.position[1] - cabinet.position[1];
  if (out !== undefined && out > AJAR[0] && out < AJAR[1]) return 'ajar';
  return drawer.open ? 'open' : 'closed';
}

/** `held`, `in NAME`, `on NAME`, or nothing for what stands on the table. */
function placeOf(thing: Detection, all: readonly Detection[], hand: Vec3 | undefined): string {
  if (thing.kind === 'cabinet' || thing.kind === 'drawer') return '';
  const [x, y, z] = thing.position;
  const bottom = z - thing.size[2] / 2;
  if (hand && bottom > LIFTED && Math.hypot(x - hand[0], y - hand[1]) < GRASPED) return 'held';
  let best: { words: string; apart: number } | undefined;
  for (const other of all) {
    if (other === thing || !isOver(thing, other)) continue;
    const [low, high] = [other.position[2] - other.size[2] / 2, other.position[2] + other.size[2] / 2];
    const inside = CONTAINERS.includes(other.kind) && bottom > low && bottom < Math.min(low + FLOOR, high);
    const on = !inside && z > other.position[2] && Math.abs(bottom - high) < TOUCHING;
    if (!inside && !on) continue;
    // What is in a bowl on a plate is in the bowl.
    const distance = apart(thing, other) - (inside ? 1 : 0);
    if (!best || distance < best.apart) best = { words: `${inside ? 'in' : 'on'} ${other.name}`, apart: distance };
  }
  return best?.words ?? '';
}

/** Whether a thing's middle is above another's footprint. */
function isOver(thing: Detection, other: Detection): boolean {
  const [dx, dy] = [thing.position[0] - other.position[0], thing.position[1] - other.position[1]];
  if (other.yaw === 0 && Math.abs(other.size[0] - other.size[1]) < 0.004) {
    return Math.hypot(dx, dy) < (other.size[0] / 2) * (CONTAINERS.includes(other.kind) ? WELL_WITHIN : WITHIN);
  }
  const [c, s] = [Math.cos(other.yaw), Math.sin(other.yaw)];
  return Math.abs(c * dx + s * dy) < other.size[0] / 2 && Math.abs(-s * dx + c * dy) < other.size[1] / 2;
}

/** A skill's outcome as its own sensors tell it. */
export function describeSkill(result: SkillResult): string {
  return `${result.code}; ${result.holding ? 'holding' : 'gripper empty'}`;
}

/** Whole centimetres, without a negative zero. */
const cm = (metres: number): number => Math.round(metres * 100) + 0;

const apart = (a: Detection, b: Detection): number =>
  Math.hypot(a.position[0] - b.position[0], a.position[1] - b.position[1]);
