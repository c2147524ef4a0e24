/** Success, read from the simulator's state alone: every goal of the instruction holds, at rest and let go. */
import { axes, stanceOf } from './perception/geometry.ts';
import type { Simulation } from './physics/simulation.ts';
import { singleOut } from './relations.ts';
import { CABINET, DRAWER } from './scene/cabinet.ts';
import { KINDS } from './scene/kinds.ts';
import type { Layout } from './scene/layout.ts';
import type { SceneObject, SceneSpec } from './suites/spec.ts';
import type { Description, GoalStep, Side, Vec3 } from './types.ts';

/** A goal with the objects it means, found once in the true starting scene. */
export interface BoundGoal {
  kind: GoalStep['kind'];
  object?: string;
  target?: string;
  side?: Side;
}

/** Slower than this is at rest, in metres a second. */
const REST_SPEED = 0.05;
const UPRIGHT = 0.95;

/**
 * Finds which objects the goals mean. @throws Error when a description fits nothing (a defect of the task).
 */
export function bindGoals(scene: SceneSpec, layout: Layout, goals: GoalStep[]): BoundGoal[] {
  const seen = scene.objects.map((o) => {
    const { x, y, z } = layout.poses[o.id];
    return { ...o, position: [x, y, z] as Vec3 };
  });
  const bind = (description: Description | undefined): string | undefined => {
    if (!description) return undefined;
    if (description.kind === 'drawer' || description.kind === 'cabinet') return description.kind;
    const found = singleOut(description, seen);
    if (!found) throw new Error(`scene "${scene.name}" has nothing that fits "${JSON.stringify(description)}"`);
    return found.id;
  };
  return goals.map((g) => ({ kind: g.kind, object: bind(g.object), target: bind(g.target), side: g.side }));
}

/** Position of an object's centre in a body's frame. */
function relative(centre: Vec3, pose: { position: Vec3; quaternion: [number, number, number, number] }): Vec3 {
  const d = centre.map((c, i) => c - pose.position[i]);
  return axes(pose.quaternion).map((a) => a[0] * d[0] + a[1] * d[1] + a[2] * d[2]) as Vec3;
}

const kindOf = (sim: Simulation, id: string): string =>
  (sim.scene.objects.find((o) => o.id === id) as SceneObject | undefined)?.kind ?? id;

function isOn(sim: Simulation, object: string, target: string): boolean {
  const kind = kindOf(sim, object);
  const stance = stanceOf(sim.pose(object), KINDS[kind].size);
  if (kind === 'bowl' && stance.upright < UPRIGHT) return false;
  const underside = stance.centre[2] - stance.size[2] / 2;
  if (target === 'cabinet') {
    const [dx, dy] = [stance.centre[0] - CABINET.centre[0], stance.centre[1] - CABINET.centre[1]];
    const within = Math.abs(dx) < CABINET.halfWidth[0] && Math.abs(dy) < CABINET.halfWidth[1];
    return within && Math.abs(underside - CABINET.top) < 0.012;
  }
  const support = KINDS[kindOf(sim, target)];
  const [x, y, z] = relative(stance.centre, sim.pose(target));
  // The load's middle is well over the support, and a bowl's foot wholly.
  const overlap = support.round
    ? Math.hypot(x, y) < support.radius * (kind === 'bowl' ? 0.55 : 0.85)
    : Math.abs(x) < support.size[0] / 2 && Math.abs(y) < support.size[1] / 2;
  return overlap && Math.abs(z - stance.size[2] / 2 - support.size[2]) < 0.012;
}

function isInside(sim: Simulation, object: string, target: string): boolean {
  const { centre, size } = stanceOf(sim.pose(object), KINDS[kindOf(sim, object)].size);
  const [x, y, z] = relative(centre, sim.pose(target));
  if (target === 'drawer') {
    const [hx, hy] = DRAWER.inside;
    return Math.abs(x) < hx && Math.abs(y) < hy && z > DRAWER.floor && z - size[2] / 2 < DRAWER.floor + 0.03;
  }
  const container = KINDS[kindOf(sim, target)];
  const { floor, halfWidth } = container.hollow!;
  const within = container.round
    ? Math.hypot(x, y) < halfWidth[0] * 0.8
    : Math.abs(x) < halfWidth[0] && Math.abs(y) < halfWidth[1];
  // Its underside lies below the container's rim.
  return within && z > floor && z - size[2] / 2 < Math.min(container.size[2], floor + 0.05);
}

function isBeside(sim: Simulation, object: string, target: string, side: Side): boolean {
  const own = stanceOf(sim.pose(object), KINDS[kindOf(sim, object)].size);
  const { position } = sim.pose(target);
  const [dx, dy] = [own.centre[0] - position[0], own.centre[1] - position[1]];
  const [along, across] = { left: [dy, dx], right: [-dy, dx], front: [-dx, dy], behind: [dx, dy] }[side];
  const apart = KINDS[kindOf(sim, target)].radius + Math.max(own.size[0], own.size[1]) / 2;
  const onTable = Math.abs(own.centre[2] - own.size[2] / 2) < 0.01;
  return onTable && along > apart - 0.015 && along < apart + 0.13 && Math.abs(across) < 0.07;
}

function holds(sim: Simulation, goal: BoundGoal): boolean {
  switch (goal.kind) {
    case 'open':
      return sim.drawerOpening() >= DRAWER.open;
    case 'close':
      return sim.drawerOpening() <= DRAWER.closed;
    case 'on':
      return isOn(sim, goal.object!, goal.target!);
    case 'inside':
      return isInside(sim, goal.object!, goal.target!);
    case 'beside':
      return isBeside(sim, goal.object!, goal.target!, goal.side!);
  }
}

/** Whether all goals hold now, with their objects at rest and the fingers off them. */
export function isSolved(sim: Simulation, goals: BoundGoal[]): boolean {
  const objects = goals.map((g) => g.object).filter((id) => id !== undefined);
  if (!goals.every((g) => holds(sim, g))) return false;
  if (objects.length === 0) return true;
  const touched = sim.fingerContacts();
  return objects.every((id) => !touched.has(id) && sim.speed(id) < REST_SPEED);
}
