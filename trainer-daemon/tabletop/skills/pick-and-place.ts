/**
 * Picking and placing at perceived positions. The controllers are frozen and trust what they were given: where that is
 * wrong they fail as physics has it, and tell only what the fingers' and joints' sensors tell.
 */
import type { Random } from '../../../protocol/random.ts';
import type { Simulation } from '../physics/simulation.ts';
import { FINGER_OPEN } from '../scene/robot.ts';
import type { Detection, Grasp, PlaceTarget, Side, SkillCode, Vec3 } from '../types.ts';
import { planGrasp } from './grasp.ts';
import { distance, type SceneMemory, supportOf } from './memory.ts';
import { closeFingers, feelsSomething, move, openFingers, TRAVEL_HEIGHT } from './motion.ts';

/** What the controller believes of its load. */
export interface Load {
  thing: Detection;
  /** Height of the tool centre point above the load's underside. */
  above: number;
  /** From the tool centre point to the load's middle, in the hand's frame. */
  middle: [number, number];
  /** Whether it was detected in the hand: how it sits there is then known. */
  seen: boolean;
}

export interface SkillContext {
  sim: Simulation;
  memory: SceneMemory;
  load: Load | undefined;
  /** Draws of a hand that does not always put down where it was to. */
  unsteady?: Random;
}

const REACH: [number, number] = [0.25, 0.75];
/** Stopping this far above the goal of a descent is being blocked. */
const BLOCKED = 0.015;
/** A load is let go this far above where it is to stand. */
const DROP = 0.004;
/** Of each finger beyond the load's own width. */
const RELEASE_OPENING = 0.01;
/** Free room beside things put side by side. */
const BESIDE_GAP = 0.045;
/**
 * How often an unsteady hand misses the place it was to put down at, without and with its load detected in the hand before,
 * and by how many metres, in any direction.
 */
const UNSTEADY = { unseen: 0.6, seen: 0.05, distance: [0.1, 0.14] };

export function isReachable([x, y, z]: Vec3): boolean {
  const distanceFromBase = Math.hypot(x, y);
  return (
    distanceFromBase >= REACH[0] &&
    distanceFromBase <= REACH[1] &&
    x > -0.2 &&
    z > -0.02 &&
    z < 0.6 &&
    Number.isFinite(z)
  );
}

const dropIfLost = (context: SkillContext): boolean => {
  if (feelsSomething(context.sim)) return false;
  context.load = undefined;
  return true;
};

/** Grasps the thing believed to be at a detection's place and lifts it. */
export function pick(context: SkillContext, target: Detection, grasp: Grasp): SkillCode {
  const { sim, memory } = context;
  if (context.load) return 'already-holding';
  const { position, yaw, opening } = planGrasp(target, grasp, memory);
  if (!isReachable(position)) return 'unreachable';
  const [x, y, z] = position;
  const travel = Math.max(TRAVEL_HEIGHT, z + 0.12);
  openFingers(sim, opening, 0);
  move(sim, [sim.tcp()[0], sim.tcp()[1], Math.max(sim.tcp()[2], travel - 0.04)], undefined, { tolerance: 0.03 });
  move(sim, [x, y, travel], yaw, { tolerance: 0.012 });
  move(sim, [x, y, z + 0.05], yaw, { tolerance: 0.006, timeout: 1.5 });
  move(sim, position, yaw, { tolerance: 0.003, timeout: 1 });
  const short = sim.tcp()[2] - z;
  if (short > BLOCKED) {
    move(sim, [x, y, travel], yaw, { tolerance: 0.02 });
    return 'blocked';
  }
  closeFingers(sim);
  const felt = feelsSomething(sim);
  const closedAt = sim.tcp();
  move(sim, [x, y, travel + 0.03], yaw, { tolerance: 0.015 });
  if (!felt || !feelsSomething(sim)) {
    openFingers(sim, FINGER_OPEN);
    return felt ? 'slipped' : 'nothing-between-fingers';
  }
  const bottom = target.position[2] - target.size[2] / 2;
  const [dx, dy] = grasp === 'rim' ? [target.position[0] - x, target.position[1] - y] : [0, 0];
  const [c, s] = [Math.cos(yaw), Math.sin(yaw)];
  context.load = {
    thing: target,
    above: closedAt[2] - bottom,
    middle: [c * dx + s * dy, -s * dx + c * dy],
    seen: false,
  };
  memory.forget(target);
  return 'held';
}

const SIDES: Record<Side, [number, number]> = { left: [0, 1], right: [0, -1], front: [-1, 0], behind: [1, 0] };

/** Half extent of a thing along a direction of the ground. */
function halfAlong(thing: Detection, [ux, uy]: [number, number]): number {
  const [c, s] = [Math.cos(thing.yaw), Math.sin(thing.yaw)];
  if (Math.abs(thing.size[0] - thing.size[1]) < 0.004 && thing.yaw === 0) return thing.size[0] / 2;
  return (Math.abs(c * ux + s * uy) * thing.size[0] + Math.abs(-s * ux + c * uy) * thing.size[1]) / 2;
}

/** Where the load's underside should come to stand. */
function destination(context: SkillContext, load: Load, target: PlaceTarget): Vec3 {
  if ('at' in target) return [target.at[0], target.at[1], 0];
  if ('beside' in target) {
    const { beside, side } = target;
    const [ux, uy] = SIDES[side];
    const away = halfAlong(beside, [ux, uy]) + halfAlong(load.thing, [ux, uy]) + BESIDE_GAP;
    return [beside.position[0] + away * ux, beside.position[1] + away * uy, 0];
  }
  const inside = 'inside' in target;
  return freeSpot(context, load, inside ? target.inside : target.on, inside);
}

/** The hand's sensors do not tell that it missed; only looking does. */
function withUnsteadiness({ unsteady }: SkillContext, { seen }: Load, [x, y, z]: Vec3): Vec3 {
  if (!unsteady) return [x, y, z];
  // Three draws each time, so that what follows does not hang on this one.
  const [misses, share, turn] = [
    unsteady.next() < (seen ? UNSTEADY.seen : UNSTEADY.unseen),
    unsteady.next(),
    unsteady.next(),
  ];
  if (!misses) return [x, y, z];
  const [low, high] = UNSTEADY.distance;
  const [distance, direction] = [low + share * (high - low), 2 * Math.PI * turn];
  const missed: Vec3 = [x + distance * Math.cos(direction), y + distance * Math.sin(direction), z];
  // It stays within reach: the skill would tell otherwise.
  return isReachable(missed) ? missed : [x, y, z];
}

/** The spot on or in a thing with the most room beside what is remembered there; the middle where nothing is. */
function freeSpot(context: SkillContext, load: Load, target: Detection, inside: boolean): Vec3 {
  const support = supportOf(target, inside);
  const [c, s] = [Math.cos(target.yaw), Math.sin(target.yaw)];
  const radius = Math.hypot(load.thing.size[0], load.thing.size[1]) / 2.3;
  const [roomX, roomY] = [Math.max(0, support.halfX - radius), Math.max(0, support.halfY - radius)];
  const there = context.memory
    .others(target)
    .filter((d) => d.kind !== 'cabinet' && d.kind !== 'drawer' && distance(d.position, target.position) < 0.16)
    .filter((d) => d.position[2] + d.size[2] / 2 > support.z + 0.008);
  let best: Vec3 = [0, 0, 0];
  let bestScore = Number.NEGATIVE_INFINITY;
  for (let i = -2; i <= 2; i++) {
    for (let j = -2; j <= 2; j++) {
      if (support.round && i * i + j * j > 4) continue;
      if (inside && j !== 0) continue;
      const [lx, ly] = [support.middle[0] + (i * roomX) / 2, support.middle[1] + (j * roomY) / 2];
      const spot: Vec3 = [target.position[0] + c * lx - s * ly, target.position[1] + s * lx + c * ly, support.z];
      let room = 0.02;
      for (const other of there) {
        room = Math.min(room, distance(other.position, spot) - radius - Math.max(other.size[0], other.size[1]) / 2);
      }
      const score = room - 0.001 * Math.hypot(i, j);
      if (score > bestScore) [best, bestScore] = [spot, score];
    }
  }
  return best;
}

/**
 * The hand's turn for placing. Between an open drawer's front and the cabinet there is room for the hand across only;
 * in a basket things stand in a row along its length, and the fingers open across it. Elsewhere the turn is kept.
 */
function placingYaw(now: number, target: PlaceTarget): number {
  if (!('inside' in target)) return now;
  const { kind, yaw } = target.inside;
  const wanted = kind === 'drawer' ? Math.PI / 2 : kind === 'basket' ? yaw : now;
  return wanted + Math.PI * Math.round((now - wanted) / Math.PI);
}

/** Puts the load down at a target; `blocked` keeps it in hand. */
export function place(context: SkillContext, target: PlaceTarget): SkillCode {
  const { sim, memory, load } = context;
  if (!load) return 'not-holding';
  if (dropIfLost(context)) return 'slipped';
  const [x, y, z] = withUnsteadiness(context, load, destination(context, load, target));
  const inDrawer = 'inside' in target && target.inside.kind === 'drawer';
  const yaw = placingYaw(sim.arm.targetYaw, target);
  const [c, s] = [Math.cos(yaw), Math.sin(yaw)];
  const [mx, my] = load.middle;
  const above: Vec3 = [x - (c * mx - s * my), y - (s * mx + c * my), z + load.above + DROP];
  if (!isReachable(above)) return 'unreachable';
  const rim = 'at' in target || 'beside' in target ? 0 : topOf(target);
  const travel = Math.max(TRAVEL_HEIGHT + 0.02, rim + load.above + 0.05);
  const here = sim.tcp();
  move(sim, [here[0], here[1], travel], undefined, { tolerance: 0.02 });
  move(sim, [above[0], above[1], travel], yaw, { tolerance: 0.008 });
  if (dropIfLost(context)) {
    openFingers(sim, FINGER_OPEN);
    return 'slipped';
  }
  move(sim, above, yaw, { tolerance: 0.004, timeout: 1.5, speed: 0.5 });
  const short = sim.tcp()[2] - above[2];
  // A load that meets others in a basket may rest on them; elsewhere something is in the way.
  if (short > BLOCKED && !('inside' in target && !inDrawer)) {
    move(sim, [above[0], above[1], travel], yaw, { tolerance: 0.02 });
    if (!dropIfLost(context)) return 'blocked';
    openFingers(sim, FINGER_OPEN);
    return 'slipped';
  }
  const lost = dropIfLost(context);
  letGo(context);
  if (lost) return 'slipped';
  memory.put(load.thing, [x, y, z + load.thing.size[2] / 2]);
  return 'placed';
}

const topOf = (target: { on: Detection } | { inside: Detection }): number => {
  const thing = 'on' in target ? target.on : target.inside;
  return thing.position[2] + thing.size[2] / 2;
};

/** Opens the fingers just enough, as there may be a wall around, and draws the hand back upwards. */
export function letGo(context: SkillContext): void {
  const { sim } = context;
  openFingers(sim, Math.min(FINGER_OPEN, sim.fingerGap() / 2 + RELEASE_OPENING));
  context.load = undefined;
  const [x, y, z] = sim.tcp();
  move(sim, [x, y, Math.max(z + 0.1, TRAVEL_HEIGHT - 0.03)], sim.arm.targetYaw, { tolerance: 0.02 });
  openFingers(sim, FINGER_OPEN, 0);
}
