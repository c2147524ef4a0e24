/** How tasks are declared: plain data that the layout sampler, the success check and the expert read. */
import type { GoalStep } from '../types.ts';

export interface SceneObject {
  id: string;
  kind: string;
  colour: string;
}

/** The things of a scene; one compiled physics model each. */
export interface SceneSpec {
  name: string;
  objects: SceneObject[];
  /** A cabinet with a drawer at the robot's right. */
  cabinet: boolean;
}

type Range = [low: number, high: number];

/** Where an object's centre may lie; drawn uniformly. */
export type Region =
  | { x: Range; y: Range }
  /** In any direction from an object placed before. */
  | { near: string; distance: Range }
  /** On the way from one object placed before to another, at this fraction of it. */
  | { from: string; to: string; fraction: Range; within: number }
  /** On the drawer's floor, in the drawer's frame. */
  | { drawer: true; x: Range; y: Range };

export interface Goal {
  instruction: string;
  /** All must hold at once. */
  goal: GoalStep[];
  /** What an expert does, where that is more than the goal itself. */
  plan?: GoalStep[];
}

export interface TaskSpec extends Goal {
  scene: SceneSpec;
  /** In sampling order; every object of the scene has one. */
  places: Record<string, Region>;
  /** How the drawer stands at the start (default closed). */
  drawer?: 'open';
  /** Perturbation `_swap`: these objects exchange their places. */
  swap: [string, string][];
  /** Perturbation `_task`: another goal in the very same scene. */
  other: Goal;
}
