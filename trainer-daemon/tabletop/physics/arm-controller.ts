/**
 * The frozen low-level controller: brings the tool centre point to a target position with the gripper pointing down at
 * a target yaw, by damped least squares on the site Jacobian, with a pull towards the home posture in its nullspace:
 *   dq = z + J^T (J J^T + lambda^2 I)^-1 (e - J z),  z = gain (home - q),  ctrl = q + dq.
 */
import type { DoubleBuffer } from '@mujoco/mujoco';
import { FINGER_OPEN, HOME, JOINTS } from '../scene/robot.ts';
import type { Vec3 } from '../types.ts';
import { CONTROL_RATE, type Simulation } from './simulation.ts';

const DAMPING_SQUARED = 4e-4;
const POSTURE_GAIN = 0.1;
const MAX_SPEED = 0.8;
const MAX_TURN_SPEED = 3.5;
const MAX_POSITION_ERROR = 0.06;
const MAX_ROTATION_ERROR = 0.3;
const MAX_JOINT_STEP = 0.25;

/** Shortens the three numbers from `at` to a length of at most `limit`. */
function clipLength(v: Float64Array, at: number, limit: number): void {
  const length = Math.hypot(v[at], v[at + 1], v[at + 2]);
  if (length <= limit) return;
  for (let i = at; i < at + 3; i++) v[i] *= limit / length;
}

export class ArmController {
  /** Target of the tool centre point, moved at a limited speed. */
  readonly target: Vec3 = [0, 0, 0];
  targetYaw = 0;
  /** Commanded opening of each finger; below zero presses. */
  grip = FINGER_OPEN;
  private readonly sim: Simulation;
  private readonly positionJacobian: DoubleBuffer;
  private readonly rotationJacobian: DoubleBuffer;
  private readonly jacobian = new Float64Array(6 * JOINTS);
  private readonly normal = new Float64Array(36);
  private readonly error = new Float64Array(6);
  private readonly posture = new Float64Array(JOINTS);

  constructor(sim: Simulation) {
    this.sim = sim;
    this.positionJacobian = new sim.engine.DoubleBuffer(3 * sim.model.nv);
    this.rotationJacobian = new sim.engine.DoubleBuffer(3 * sim.model.nv);
  }

  /** Rotation of the hand about z. */
  yaw(): number {
    const { siteXmat } = this.sim.views;
    const o = 9 * this.sim.tcpSite;
    return Math.atan2(siteXmat[o + 3], siteXmat[o]);
  }

  /** Makes the present pose the target. */
  holdPosition(): void {
    this.target.splice(0, 3, ...this.sim.tcp());
    this.targetYaw = this.yaw();
    this.grip = FINGER_OPEN;
  }

  /** Moves the target towards a pose by what one control step allows. */
  advance(position: Vec3, yaw: number | undefined, speed = MAX_SPEED): void {
    const { target } = this;
    const limit = speed / CONTROL_RATE;
    const [dx, dy, dz] = [position[0] - target[0], position[1] - target[1], position[2] - target[2]];
    const length = Math.hypot(dx, dy, dz);
    const scale = length > limit ? limit / length : 1;
    target[0] += dx * scale;
    target[1] += dy * scale;
    target[2] += dz * scale;
    if (yaw === undefined) return;
    const turn = MAX_TURN_SPEED / CONTROL_RATE;
    this.targetYaw += Math.max(-turn, Math.min(turn, yaw - this.targetYaw));
  }

  private readJacobian(): void {
    const { sim, jacobian } = this;
    const { nv } = sim.model;
    sim.engine.mj_jacSite(sim.model, sim.data, this.positionJacobian, this.rotationJacobian, sim.tcpSite);
    const position = this.positionJacobian.GetView() as Float64Array;
    const rotation = this.rotationJacobian.GetView() as Float64Array;
    for (let row = 0; row < 3; row++) {
      for (let joint = 0; joint < JOINTS; joint++) {
        jacobian[row * JOINTS + joint] = position[row * nv + joint];
        jacobian[(row + 3) * JOINTS + joint] = rotation[row * nv + joint];
      }
    }
  }

  /** Position and rotation error, the latter as half the sum of the axes' cross products. */
  private readError(): void {
    const { sim, error, target } = this;
    const { siteXpos: x, siteXmat: m } = sim.views;
    const [p, o] = [3 * sim.tcpSite, 9 * sim.tcpSite];
    const [c, s] = [Math.cos(this.targetYaw), Math.sin(this.targetYaw)];
    // Columns of the target rotation: hand x along the yaw, hand z down.
    const goal = [c, s, 0, s, -c, 0, 0, 0, -1];
    error.fill(0);
    for (let i = 0; i < 3; i++) error[i] = target[i] - x[p + i];
    for (let column = 0; column < 3; column++) {
      const [ax, ay, az] = [m[o + column], m[o + 3 + column], m[o + 6 + column]];
      const [bx, by, bz] = [goal[column], goal[3 + column], goal[6 + column]];
      error[3] += 0.5 * (ay * bz - az * by);
      error[4] += 0.5 * (az * bx - ax * bz);
      error[5] += 0.5 * (ax * by - ay * bx);
    }
    clipLength(error, 0, MAX_POSITION_ERROR);
    clipLength(error, 3, MAX_ROTATION_ERROR);
  }

  /** Solves (J J^T + lambda^2 I) y = error in place, by Cholesky's factorisation. */
  private solve(): void {
    const { jacobian: J, normal: A, error: g } = this;
    for (let i = 0; i < 6; i++) {
      for (let j = 0; j <= i; j++) {
        let sum = i === j ? DAMPING_SQUARED : 0;
        for (let k = 0; k < JOINTS; k++) sum += J[i * JOINTS + k] * J[j * JOINTS + k];
        for (let k = 0; k < j; k++) sum -= A[i * 6 + k] * A[j * 6 + k];
        A[i * 6 + j] = i === j ? Math.sqrt(sum) : sum / A[j * 7];
      }
    }
    for (let i = 0; i < 6; i++) {
      let sum = g[i];
      for (let k = 0; k < i; k++) sum -= A[i * 6 + k] * g[k];
      g[i] = sum / A[i * 7];
    }
    for (let i = 5; i >= 0; i--) {
      let sum = g[i];
      for (let k = i + 1; k < 6; k++) sum -= A[k * 6 + i] * g[k];
      g[i] = sum / A[i * 7];
    }
  }

  /** Sets the servos' targets from the present state. */
  updateJointTargets(): void {
    this.readJacobian();
    this.readError();
    const { jacobian: J, posture: z, error } = this;
    const { qpos, ctrl } = this.sim.views;
    for (let joint = 0; joint < JOINTS; joint++) z[joint] = POSTURE_GAIN * (HOME[joint] - qpos[joint]);
    z[JOINTS - 1] = 0;
    for (let i = 0; i < 6; i++) for (let k = 0; k < JOINTS; k++) error[i] -= J[i * JOINTS + k] * z[k];
    this.solve();
    for (let joint = 0; joint < JOINTS; joint++) {
      let step = z[joint];
      for (let i = 0; i < 6; i++) step += J[i * JOINTS + joint] * error[i];
      ctrl[joint] = qpos[joint] + Math.max(-MAX_JOINT_STEP, Math.min(MAX_JOINT_STEP, step));
    }
    ctrl[JOINTS] = this.grip;
    ctrl[JOINTS + 1] = this.grip;
  }

  dispose(): void {
    this.positionJacobian.delete();
    this.rotationJacobian.delete();
  }
}
