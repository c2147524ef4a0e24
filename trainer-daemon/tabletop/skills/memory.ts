/**
 * What the controllers remember of the scene: the detections of the last look, so that hand and load keep clear of
 * neighbours and find free room. It is as wrong as perception is.
 */
import { DRAWER } from '../scene/cabinet.ts';
import { KINDS } from '../scene/kinds.ts';
import type { Detection, Vec3 } from '../types.ts';

/** An obstacle as upright discs of one height. */
export interface Obstacle {
  points: [number, number][];
  radius: number;
  top: number;
}

const GRID = 0.03;

export class SceneMemory {
  private seen: Detection[] = [];

  /** Replaces what was remembered; what a held load hides keeps its place. */
  remember(detections: Detection[]): void {
    this.seen = detections.map((d) => structuredClone(d));
  }

  /** Things remembered other than the one at a detection's place. */
  others(than: Detection | undefined): Detection[] {
    return this.seen.filter((d) => !than || d.kind !== than.kind || distance(d.position, than.position) > 0.03);
  }

  /** The thing was taken away. */
  forget(taken: Detection): void {
    this.seen = this.others(taken);
  }

  /** The thing now stands at a place. */
  put(thing: Detection, position: Vec3): void {
    this.seen.push({ ...structuredClone(thing), position });
  }
}

export function distance(a: Vec3, b: Vec3): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}

/** Grid points of a rectangle turned by yaw: all of it, or its edge only. */
function rectangle(d: Detection, halfX: number, halfY: number, edgeOnly: boolean): [number, number][] {
  const points: [number, number][] = [];
  const [c, s] = [Math.cos(d.yaw), Math.sin(d.yaw)];
  const [nx, ny] = [Math.max(1, Math.round((2 * halfX) / GRID)), Math.max(1, Math.round((2 * halfY) / GRID))];
  for (let i = 0; i <= nx; i++) {
    for (let j = 0; j <= ny; j++) {
      if (edgeOnly && i > 0 && i < nx && j > 0 && j < ny) continue;
      const [x, y] = [-halfX + (2 * halfX * i) / nx, -halfY + (2 * halfY * j) / ny];
      points.push([d.position[0] + c * x - s * y, d.position[1] + s * x + c * y]);
    }
  }
  return points;
}

/** A detection as obstacles. */
export function obstaclesOf(d: Detection): Obstacle[] {
  const top = d.position[2] + d.size[2] / 2;
  const [halfX, halfY] = [d.size[0] / 2, d.size[1] / 2];
  if (d.kind === 'drawer') {
    const front = rectangle({ ...d, position: [d.position[0], d.position[1] + 0.1, 0] }, halfX, 0.001, true);
    const sides = rectangle(d, halfX - 0.003, halfY - 0.01, true).filter(([x]) => Math.abs(x - d.position[0]) > 0.09);
    return [
      { points: front, radius: 0.006, top: d.position[2] + 0.042 },
      { points: sides, radius: 0.006, top: d.position[2] + 0.013 },
    ];
  }
  if (d.kind === 'basket') return [{ points: rectangle(d, halfX - 0.004, halfY - 0.004, true), radius: 0.006, top }];
  if (KINDS[d.kind]?.round) return [{ points: [[d.position[0], d.position[1]]], radius: halfX, top }];
  const inset = Math.min(halfX, halfY, 0.015);
  return [{ points: rectangle(d, halfX - inset, halfY - inset, false), radius: inset, top }];
}

/** Where and how wide a thing's floor or top is to put something on, in the thing's frame. */
export function supportOf(
  target: Detection,
  inside: boolean,
): { z: number; halfX: number; halfY: number; round: boolean; middle: [number, number] } {
  const bottom = target.position[2] - target.size[2] / 2;
  if (target.kind === 'drawer' && inside) {
    // Of an open drawer only the part before the cabinet can be reached from above.
    return { z: target.position[2] + DRAWER.floor, halfX: 0.085, halfY: 0.03, round: false, middle: [0, 0.028] };
  }
  const kind = KINDS[target.kind];
  const hollow = inside ? kind?.hollow : undefined;
  return {
    z: hollow ? bottom + hollow.floor : bottom + target.size[2],
    halfX: hollow?.halfWidth[0] ?? target.size[0] / 2,
    halfY: hollow?.halfWidth[1] ?? target.size[1] / 2,
    round: kind?.round ?? false,
    middle: [0, 0],
  };
}
