/**
 * Where everything stands at the start: positions drawn region by region, and drawn again until nothing touches, all is
 * in reach, and what instructions say of this scene is unambiguous, in the base layout and after the exchange alike.
 */
import { Random } from '../../../protocol/random.ts';
import { type Placed, rankBy } from '../relations.ts';
import type { Base, Perturbation } from '../suites/registry.ts';
import type { Region, TaskSpec } from '../suites/spec.ts';
import type { GoalStep } from '../types.ts';
import { DRAWER } from './cabinet.ts';
import { KINDS } from './kinds.ts';

export interface Pose {
  x: number;
  y: number;
  z: number;
  yaw: number;
}

export interface Layout {
  poses: Record<string, Pose>;
  /** How far the drawer stands open, in metres. */
  drawer: number;
}

/** Free space between footprints. */
const GAP = 0.022;
/** By how much the meant object must win over the next. */
const MARGIN = 0.06;
const REACH: [number, number] = [0.33, 0.695];
const ATTEMPTS = 20_000;

function draw(region: Region, poses: Record<string, Pose>, drawer: number, random: Random): [number, number, number] {
  if ('near' in region) {
    const at = poses[region.near];
    const distance = random.uniform(...region.distance);
    const bearing = random.uniform(-Math.PI, Math.PI);
    return [at.x + distance * Math.cos(bearing), at.y + distance * Math.sin(bearing), 0];
  }
  if ('from' in region) {
    const [a, b] = [poses[region.from], poses[region.to]];
    const f = random.uniform(...region.fraction);
    const off = (): number => random.uniform(-region.within, region.within);
    return [a.x + f * (b.x - a.x) + off(), a.y + f * (b.y - a.y) + off(), 0];
  }
  const x = random.uniform(...region.x);
  const y = random.uniform(...region.y);
  if (!('drawer' in region)) return [x, y, 0];
  return [DRAWER.origin[0] + x, DRAWER.origin[1] + drawer + y, DRAWER.origin[2] + DRAWER.floor];
}

/** Exchanges the places of each pair; each keeps its own turn. */
function exchange(poses: Record<string, Pose>, pairs: [string, string][]): Record<string, Pose> {
  const out = { ...poses };
  for (const [a, b] of pairs) {
    const first = out[a];
    out[a] = { ...out[b], yaw: first.yaw };
    out[b] = { ...first, yaw: out[b].yaw };
  }
  return out;
}

function isSound(spec: TaskSpec, poses: Record<string, Pose>, goals: GoalStep[][]): boolean {
  const { objects } = spec.scene;
  const onTable = objects.filter((o) => !('drawer' in spec.places[o.id]));
  for (let i = 0; i < onTable.length; i++) {
    const a = poses[onTable[i].id];
    const reach = Math.hypot(a.x, a.y);
    if (a.x < REACH[0] || reach > REACH[1] || Math.abs(a.y) > 0.36) return false;
    for (let j = 0; j < i; j++) {
      const b = poses[onTable[j].id];
      const apart = KINDS[onTable[i].kind].radius + KINDS[onTable[j].kind].radius + GAP;
      if (Math.hypot(a.x - b.x, a.y - b.y) < apart) return false;
    }
  }
  const seen = objects.map((o): Placed => ({ ...o, position: [poses[o.id].x, poses[o.id].y, poses[o.id].z] }));
  const described = goals.flat().flatMap((step) => [step.object, step.target].filter((d) => d !== undefined));
  return described.every((d) => d.relation === undefined || rankBy(d, seen).margin >= MARGIN);
}

/**
 * The layout of initial state `init` of a base suite's task. `_task` has the base layout itself, `_swap` the same with
 * places exchanged.
 * @throws Error when the task's regions leave no room (a defect of the task's declaration).
 */
export function layout(base: Base, task: number, spec: TaskSpec, perturbation: Perturbation, init: number): Layout {
  const random = new Random('tabletop-layout', base, task, init);
  const drawer = spec.drawer === 'open' ? DRAWER.travel : 0;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const poses: Record<string, Pose> = {};
    for (const [id, region] of Object.entries(spec.places)) {
      const [x, y, z] = draw(region, poses, drawer, random);
      const kind = spec.scene.objects.find((o) => o.id === id)!.kind;
      // Where fingers come in from one direction only, things lie nearly square to them.
      const turn = kind === 'basket' || 'drawer' in region ? 0.2 : Math.PI;
      poses[id] = { x, y, z, yaw: random.uniform(-turn, turn) };
    }
    const swapped = exchange(poses, spec.swap);
    if (isSound(spec, poses, [spec.goal, spec.other.goal]) && isSound(spec, swapped, [spec.goal])) {
      return { poses: perturbation === 'swap' ? swapped : poses, drawer };
    }
  }
  throw new Error(
    `tabletop_${base} task ${task}: no layout found for initial state ${init}; its regions leave no room`,
  );
}
