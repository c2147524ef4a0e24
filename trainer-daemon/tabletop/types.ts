/**
 * What the tabletop world offers to a harness: suites of tasks, honest perception, and skills executed by frozen
 * controllers. Lengths in metres, angles in radians, times in simulated seconds. Frame: x away from the robot's base,
 * y to its left, z up, the table top at z = 0.
 */

import type { Trajectory } from '../../protocol/trajectory.ts';

export type { Trajectory };
export type Vec3 = [number, number, number];

export interface TaskSummary {
  suite: string;
  /** 0-9 */
  index: number;
  /** What the planner is told, one sentence. */
  instruction: string;
}

/** A perceived object. Perception knows kinds and places, never an object's role in the task. */
export interface Detection {
  /** Name for this detection, unique within one `detect` result: kind and a number counted from left to right, `bowl_2`. */
  name: string;
  /** For example `bowl`, `plate`, `drawer`. */
  kind: string;
  /** For example `black`; empty where the kind has one look only. */
  colour: string;
  /** Estimated centre: the true one plus seeded noise. */
  position: Vec3;
  /** Estimated extents along the object's own x, y, z axes, that is before it is turned by `yaw`. */
  size: Vec3;
  /** Estimated rotation about z; 0 for round things. */
  yaw: number;
  /** 0-1, falls with occlusion. */
  confidence: number;
  camera: string;
  /** Pixels: left, top, right, bottom. */
  box: [number, number, number, number];
  /** Drawers only: whether it is perceived to stand open. */
  open?: boolean;
}

export interface Detections {
  /** Simulated time of the observation. */
  time: number;
  detections: Detection[];
}

export type Grasp = 'top' | 'rim';

/** Sides as seen from the robot: `left` is +y, `front` is towards the robot (-x), `behind` away from it (+x). */
export type Side = 'left' | 'right' | 'front' | 'behind';

/** Where to put what is held. */
export type PlaceTarget =
  | { on: Detection }
  | { inside: Detection }
  /** On the table at x, y. */
  | { at: [number, number] }
  /** On the table beside something. */
  | { beside: Detection; side: Side };

export type SkillCode =
  /** pick: both fingers press on something that left the table with them */
  | 'held'
  | 'placed'
  /** moveTo */
  | 'moved'
  | 'released'
  /** openDrawer: the fingers kept the handle along the way */
  | 'opened'
  | 'closed'
  /** the thing was felt and then lost */
  | 'slipped'
  | 'nothing-between-fingers'
  /** beyond the arm's reach or inside the table; nothing moved */
  | 'unreachable'
  /** the arm met an obstacle and stopped short */
  | 'blocked'
  | 'not-holding'
  | 'already-holding'
  | 'handle-missed'
  | 'timeout';

/** What a skill's own sensors tell when it ends; never whether the task is solved. */
export interface SkillResult {
  ok: boolean;
  code: SkillCode;
  /** Distance between the fingers at the end. */
  gripperOpening: number;
  holding: boolean;
  tcp: Vec3;
  /** Simulated seconds it took. */
  seconds: number;
}

export interface CameraImage {
  camera: string;
  width: number;
  height: number;
  /** PNG file bytes (colour). */
  png: Uint8Array;
}

export interface Tabletop {
  readonly task: TaskSummary;
  /** Simulated seconds since the start of the episode. */
  readonly time: number;
  /** True between a successful pick and a release or a slip, as the fingers' contact sensors tell. */
  holding(): boolean;
  /** Detects everything visible, or only what fits the words of `query` (kind and colour). */
  detect(query?: string): Detections;
  look(camera?: 'agent' | 'side' | 'wrist'): CameraImage;
  pick(target: Detection, grasp: Grasp): SkillResult;
  place(target: PlaceTarget): SkillResult;
  moveTo(position: Vec3): SkillResult;
  openDrawer(drawer: Detection): SkillResult;
  closeDrawer(drawer: Detection): SkillResult;
  release(): SkillResult;
  /** The simulator's own check of the goal, now. For the scorer; never shown to a planner. */
  success(): boolean;
  trajectory(): Trajectory;
  dispose(): void;
}

export interface EpisodeStart {
  suite: string;
  task: number;
  /** 0-49: fixes the scene. */
  init: number;
  /** Seeds the noise of perception, so that attempts on one initial state differ. */
  noiseSeed: string;
  /**
   * An unsteady hand now and then puts down a hand's breadth beside where it was to, less often where its load was detected
   * in it before; default steady.
   */
  hand?: 'steady' | 'unsteady';
}

/** How an instruction singles an object out. `relation` is one of the phrases that `singleOut` reads. */
export interface Description {
  kind: string;
  /** Empty: any. */
  colour: string;
  relation?: string;
}

/**
 * What the scripted expert may know and a planner may not: the goal in terms of scene objects, as steps in an order in
 * which they can be done (a drawer is opened before its content is taken). `on`, `inside`, `beside`: bring `object` to
 * `target`; `open`, `close`: `target` is the drawer.
 */
export interface GoalStep {
  kind: 'on' | 'inside' | 'beside' | 'open' | 'close';
  object?: Description;
  target?: Description;
  /** `beside` only. */
  side?: Side;
}
