/** Where the hand goes to grasp a perceived thing: by the top across its narrow side, or by the rim of a bowl. */
import { FINGER_OPEN } from '../scene/robot.ts';
import type { Detection, Grasp, Vec3 } from '../types.ts';
import { distance, type Obstacle, obstaclesOf, type SceneMemory } from './memory.ts';

export interface GraspPose {
  /** Of the tool centre point. */
  position: Vec3;
  yaw: number;
  /** Of each finger, on the way down. */
  opening: number;
}

/** Turns of the hand that the arm reaches from its home posture. */
const MAX_YAW = 1.75;
/** Widest thing the open fingers straddle. */
const MAX_WIDTH = 0.076;
/** Fingers reach this far below a thing's top, where it is tall. */
const DEPTH = 0.022;
/** Of the tool centre point above the table: the pads end just below it. */
const MIN_HEIGHT = 0.012;
/** Of each finger, beyond the thing's half width. */
const SPARE = 0.0105;
/** What a grasp must win in free space if the fingers have to open fully, as they then can hardly let go. */
const TIGHT_PENALTY = 0.012;
const RIM_WALL = 0.0035;
const RIM_DEPTH = 0.012;
const RIM_OPENING = 0.0165;
const ROUND_YAWS = [0, 0.4, -0.4, 0.8, -0.8, 1.2, -1.2, 1.57];

/** The hand's parts as seen from above, in its own frame: half extents and offset along the finger axis. */
const PALM = { x: 0.032, y: 0.1, above: 0.04 };
const FINGER = { x: 0.0105, y: 0.012, below: 0.015 };

/** Equal turns of the hand (the fingers are alike) within reach. */
function reachable(yaw: number): number[] {
  return [-2, -1, 0, 1, 2].map((k) => yaw + k * Math.PI).filter((y) => Math.abs(y) < MAX_YAW);
}

function candidates(target: Detection, grasp: Grasp): GraspPose[] {
  const [x, y, z] = target.position;
  const [length, width, height] = target.size;
  const bottom = z - height / 2;
  if (grasp === 'rim') {
    const radius = length / 2 - RIM_WALL;
    return Array.from({ length: 16 }, (_, k) => (k * Math.PI) / 8).flatMap((bearing) =>
      reachable(bearing - Math.PI / 2).map((yaw) => ({
        position: [x + radius * Math.cos(bearing), y + radius * Math.sin(bearing), bottom + height - RIM_DEPTH] as Vec3,
        yaw,
        opening: RIM_OPENING,
      })),
    );
  }
  const position: Vec3 = [x, y, Math.max(bottom + Math.max(height / 2, height - DEPTH), MIN_HEIGHT)];
  const opening = (across: number): number => Math.min(FINGER_OPEN, across / 2 + SPARE);
  if (Math.abs(length - width) < 0.004 && target.yaw === 0) {
    return ROUND_YAWS.map((yaw) => ({ position, yaw, opening: opening(width) }));
  }
  // At the thing's own yaw the fingers close along its second axis.
  const options = [
    { across: width, yaws: reachable(target.yaw) },
    { across: length, yaws: reachable(target.yaw + Math.PI / 2) },
  ];
  const narrow = options.filter((o) => o.across < MAX_WIDTH);
  return (narrow.length > 0 ? narrow : options).flatMap((o) =>
    o.yaws.map((yaw) => ({ position, yaw, opening: opening(o.across) })),
  );
}

/** Free space around the open hand at a pose; negative where it would touch. */
function clearance(pose: GraspPose, obstacles: Obstacle[]): number {
  const [c, s] = [Math.cos(pose.yaw), Math.sin(pose.yaw)];
  let best = 1;
  for (const { points, radius, top } of obstacles) {
    const underPalm = top > pose.position[2] + PALM.above;
    const besideFingers = top > pose.position[2] - FINGER.below;
    if (!underPalm && !besideFingers) continue;
    for (const [px, py] of points) {
      const [dx, dy] = [px - pose.position[0], py - pose.position[1]];
      const [along, across] = [c * dx + s * dy, -s * dx + c * dy];
      const gap = (hx: number, hy: number, offset: number): number =>
        Math.hypot(Math.max(0, Math.abs(along) - hx), Math.max(0, Math.abs(across - offset) - hy)) - radius;
      if (underPalm) best = Math.min(best, gap(PALM.x, PALM.y, 0));
      if (besideFingers) {
        for (const side of [-1, 1]) {
          best = Math.min(best, gap(FINGER.x, FINGER.y, side * (pose.opening + 0.01)));
        }
      }
    }
  }
  return best;
}

/** The grasp with the most room around it; among equals the one that turns the hand least. */
export function planGrasp(target: Detection, grasp: Grasp, memory: SceneMemory): GraspPose {
  const near = memory.others(target).filter((d) => distance(d.position, target.position) < 0.4);
  const obstacles = near.flatMap(obstaclesOf);
  let best: GraspPose | undefined;
  let bestScore = Number.NEGATIVE_INFINITY;
  for (const pose of candidates(target, grasp)) {
    const tight = pose.opening >= FINGER_OPEN ? TIGHT_PENALTY : 0;
    const score = Math.min(0.02, clearance(pose, obstacles)) - 0.004 * Math.abs(pose.yaw) - tight;
    if (score > bestScore) [best, bestScore] = [pose, score];
  }
  return best!;
}
