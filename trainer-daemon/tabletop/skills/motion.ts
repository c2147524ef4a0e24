/** Moving the tool centre point and the fingers, and noticing when the arm is held up. */
import { CONTROL_RATE, type Simulation } from '../physics/simulation.ts';
import type { Vec3 } from '../types.ts';

/** Height at which the empty hand passes over everything. */
export const TRAVEL_HEIGHT = 0.22;
/** Commanded opening that presses the fingers together. */
const PRESS = -0.01;
/** A gap above this between pressing fingers is something held. */
const HELD_GAP = 0.003;
const CLOSE_SECONDS = 0.25;
const OPEN_SECONDS = 0.15;
/** Metres a second; and how long to wait for less, in seconds. */
const MOVING = 0.04;
const MAX_REST = 1;
/** Less movement than this in two control steps, with way still to go, is a stall. */
const STALL = 0.0015;

export interface MoveOptions {
  /** How near is there, in metres. */
  tolerance?: number;
  /** Simulated seconds. */
  timeout?: number;
  /** Metres a second. */
  speed?: number;
}

/** `stalled`: an obstacle holds the arm up. */
export type MoveEnd = 'reached' | 'stalled' | 'timeout';

const apart = (a: Vec3, b: Vec3): number => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

/** Moves in a straight line to a position, turning the hand to a yaw where one is given. */
export function move(sim: Simulation, position: Vec3, yaw?: number, options: MoveOptions = {}): MoveEnd {
  const { tolerance = 0.004, timeout = 3, speed } = options;
  const { arm } = sim;
  let before = sim.tcp();
  let standing = 0;
  for (let left = Math.round(timeout * CONTROL_RATE); left > 0; left--) {
    arm.advance(position, yaw, speed);
    sim.step();
    const at = sim.tcp();
    const turned = yaw === undefined || Math.abs(yaw - arm.yaw()) < 0.04;
    if (apart(at, position) < tolerance && turned) return 'reached';
    const commanded = apart(arm.target, position) < 1e-9;
    const lag = apart(arm.target, at);
    standing = apart(at, before) < STALL && (commanded || lag > 0.03) ? standing + 1 : 0;
    if (standing >= 3) return turned && apart(at, position) < 2 * tolerance ? 'reached' : 'stalled';
    before = at;
  }
  return 'timeout';
}

/** Presses the fingers together. */
export function closeFingers(sim: Simulation): void {
  sim.arm.grip = PRESS;
  sim.run(CLOSE_SECONDS);
}

export function openFingers(sim: Simulation, opening: number, seconds = OPEN_SECONDS): void {
  sim.arm.grip = opening;
  sim.run(seconds);
}

/** Whether the fingers press on something, as their joint encoders tell. */
export function feelsSomething(sim: Simulation): boolean {
  return sim.arm.grip < 0 && sim.fingerGap() > HELD_GAP;
}

/** Waits until nothing on the table moves any more, but not for long. */
export function waitForRest(sim: Simulation): void {
  const moving = (): boolean => sim.scene.objects.some(({ id }) => sim.speed(id) > MOVING);
  for (let left = Math.round(MAX_REST * CONTROL_RATE); left > 0 && moving(); left--) sim.step();
}
