/**
 * One simulated scene: model and state in the engine, objects' poses, finger contacts, and stepping under the arm's
 * controller. Typed arrays of the engine are views of its heap and detach when the heap grows, so they are fetched
 * again where that may have happened.
 */
import { createHash } from 'node:crypto';
import type { DoubleBuffer, MjData, MjModel, MjWarningStatVec } from '@mujoco/mujoco';
import type { Layout } from '../scene/layout.ts';
import { sceneXml, TIMESTEP } from '../scene/model.ts';
import { FINGER_OPEN, HOME, JOINTS } from '../scene/robot.ts';
import type { SceneSpec } from '../suites/spec.ts';
import type { Vec3 } from '../types.ts';
import { ArmController } from './arm-controller.ts';
import type { Engine } from './engine.ts';

/** Control steps a second, and so frames of a trajectory. */
export const CONTROL_RATE = 20;
const IK_SUBSTEPS = 3;
const IK_PER_CONTROL = Math.round(1 / CONTROL_RATE / (IK_SUBSTEPS * TIMESTEP));
/** Lets everything come to rest before an episode. */
const SETTLE_SECONDS = 0.4;
/** Objects start a hair above what they stand on. */
const LIFT = 0.0005;

export type Quaternion = [w: number, x: number, y: number, z: number];

export interface BodyPose {
  position: Vec3;
  quaternion: Quaternion;
}

interface Views {
  qpos: Float64Array;
  qvel: Float64Array;
  ctrl: Float64Array;
  siteXpos: Float64Array;
  siteXmat: Float64Array;
  xpos: Float64Array;
  xquat: Float64Array;
}

export class Simulation {
  readonly scene: SceneSpec;
  readonly engine: Engine;
  readonly model: MjModel;
  readonly data: MjData;
  readonly arm: ArmController;
  /** Called after every control step. */
  onFrame: (() => void) | undefined;
  /** Control steps since the reset. */
  frames = 0;
  readonly tcpSite: number;
  readonly freeBodies: ReadonlyMap<number, string>;
  private readonly bodies = new Map<string, number>();
  private readonly qposAddress = new Map<string, number>();
  private readonly dofAddress = new Map<string, number>();
  private readonly geomBody: Int32Array;
  private readonly stateSignature: number;
  private readonly stateBuffer: DoubleBuffer;
  /** Part of the engine's data, not a copy: deleting it would free memory twice. */
  private readonly warnings: MjWarningStatVec;
  private cached: Views;

  constructor(engine: Engine, scene: SceneSpec) {
    this.engine = engine;
    this.scene = scene;
    this.model = engine.MjModel.from_xml_string(sceneXml(scene));
    this.data = new engine.MjData(this.model);
    const objectIds = scene.objects.map((o) => o.id);
    const furniture = scene.cabinet ? ['cabinet', 'drawer'] : [];
    const addressOf = this.model.jnt_qposadr as Int32Array;
    const dofOf = this.model.jnt_dofadr as Int32Array;
    for (const name of ['hand', 'finger1', 'finger2', ...furniture, ...objectIds]) {
      this.bodies.set(name, this.idOf('mjOBJ_BODY', name));
      const joint = engine.mj_name2id(this.model, engine.mjtObj.mjOBJ_JOINT.value, name);
      if (joint >= 0) {
        this.qposAddress.set(name, addressOf[joint]);
        this.dofAddress.set(name, dofOf[joint]);
      }
    }
    this.freeBodies = new Map(objectIds.map((id) => [this.bodyId(id), id]));
    this.tcpSite = this.idOf('mjOBJ_SITE', 'tcp');
    this.geomBody = Int32Array.from(this.model.geom_bodyid as Int32Array);
    this.stateSignature = engine.mjtState.mjSTATE_INTEGRATION.value;
    this.stateBuffer = new engine.DoubleBuffer(engine.mj_stateSize(this.model, this.stateSignature));
    this.warnings = this.data.warning;
    this.cached = this.fetchViews();
    this.arm = new ArmController(this);
  }

  private idOf(type: 'mjOBJ_BODY' | 'mjOBJ_SITE', name: string): number {
    const id = this.engine.mj_name2id(this.model, this.engine.mjtObj[type].value, name);
    if (id < 0) throw new Error(`the scene "${this.scene.name}" has no ${type.slice(6).toLowerCase()} "${name}"`);
    return id;
  }

  /** @throws Error when the scene has no such body. */
  bodyId(name: string): number {
    const id = this.bodies.get(name);
    if (id === undefined) throw new Error(`the scene "${this.scene.name}" has no body "${name}"`);
    return id;
  }

  private fetchViews(): Views {
    const { data } = this;
    return {
      qpos: data.qpos,
      qvel: data.qvel,
      ctrl: data.ctrl,
      siteXpos: data.site_xpos,
      siteXmat: data.site_xmat,
      xpos: data.xpos,
      xquat: data.xquat,
    };
  }

  get views(): Views {
    if (this.cached.qpos.length === 0) this.cached = this.fetchViews();
    return this.cached;
  }

  /** Puts the arm at home and every object in its place, and lets all settle. Forgets everything before. */
  reset(layout: Layout): void {
    const { engine, model, data } = this;
    engine.mj_resetData(model, data);
    const { qpos, ctrl } = this.views;
    qpos.set(HOME, 0);
    ctrl.set(HOME, 0);
    for (let finger = JOINTS; finger < JOINTS + 2; finger++) {
      qpos[finger] = FINGER_OPEN;
      ctrl[finger] = FINGER_OPEN;
    }
    if (this.scene.cabinet) qpos[this.address('drawer')] = layout.drawer;
    for (const { id } of this.scene.objects) {
      const { x, y, z, yaw } = layout.poses[id];
      qpos.set([x, y, z + LIFT, Math.cos(yaw / 2), 0, 0, Math.sin(yaw / 2)], this.address(id));
    }
    engine.mj_forward(model, data);
    this.arm.holdPosition();
    this.onFrame = undefined;
    this.run(SETTLE_SECONDS);
    this.frames = 0;
    this.checkSoundness();
  }

  private address(name: string): number {
    return this.qposAddress.get(name)!;
  }

  /** One control step: the arm's controller at 100 Hz, the physics at 300 Hz. */
  step(): void {
    const { engine, model, data } = this;
    for (let k = 0; k < IK_PER_CONTROL; k++) {
      this.arm.updateJointTargets();
      for (let i = 0; i < IK_SUBSTEPS; i++) engine.mj_step(model, data);
    }
    engine.mj_fwdPosition(model, data);
    this.frames++;
    this.onFrame?.();
  }

  run(seconds: number): void {
    for (let i = Math.round(seconds * CONTROL_RATE); i > 0; i--) this.step();
  }

  /** Simulated seconds since the reset. */
  get time(): number {
    return this.frames / CONTROL_RATE;
  }

  pose(name: string): BodyPose {
    const body = this.bodyId(name);
    const { xpos, xquat } = this.views;
    return {
      position: [xpos[3 * body], xpos[3 * body + 1], xpos[3 * body + 2]],
      quaternion: [xquat[4 * body], xquat[4 * body + 1], xquat[4 * body + 2], xquat[4 * body + 3]],
    };
  }

  /** How far the drawer stands open, in metres. */
  drawerOpening(): number {
    return this.views.qpos[this.address('drawer')];
  }

  /** Speed of an object, in metres a second. */
  speed(id: string): number {
    const dof = this.dofAddress.get(id)!;
    const { qvel } = this.views;
    return Math.hypot(qvel[dof], qvel[dof + 1], qvel[dof + 2]);
  }

  tcp(): Vec3 {
    const { siteXpos } = this.views;
    const o = 3 * this.tcpSite;
    return [siteXpos[o], siteXpos[o + 1], siteXpos[o + 2]];
  }

  /** Distance between the fingers. */
  fingerGap(): number {
    const { qpos } = this.views;
    return qpos[JOINTS] + qpos[JOINTS + 1];
  }

  /** What each finger touches: bit 1 the first, bit 2 the second, by body name (`drawer` included). */
  fingerContacts(): Map<string, number> {
    const [first, second] = [this.bodyId('finger1'), this.bodyId('finger2')];
    const drawer = this.scene.cabinet ? this.bodyId('drawer') : -1;
    const touched = new Map<string, number>();
    const contacts = this.data.contact;
    const count = contacts.size();
    for (let i = 0; i < count; i++) {
      const contact = contacts.get(i);
      if (!contact) continue;
      const [a, b] = [this.geomBody[contact.geom1], this.geomBody[contact.geom2]];
      contact.delete();
      const finger = a === first || b === first ? 1 : a === second || b === second ? 2 : 0;
      if (finger === 0) continue;
      const other = a === first || a === second ? b : a;
      const name = other === drawer ? 'drawer' : this.freeBodies.get(other);
      if (name !== undefined) touched.set(name, (touched.get(name) ?? 0) | finger);
    }
    contacts.delete();
    return touched;
  }

  /** The body that both fingers press on, if any. */
  gripped(): string | undefined {
    for (const [name, fingers] of this.fingerContacts()) if (fingers === 3) return name;
    return undefined;
  }

  /** The engine's whole integration state. */
  state(): Float64Array {
    this.engine.mj_getState(this.model, this.data, this.stateBuffer, this.stateSignature);
    return Float64Array.from(this.stateBuffer.GetView() as Float64Array);
  }

  /** SHA-256 of the integration state: equal exactly when two worlds are bit-identical. */
  stateHash(): string {
    return createHash('sha256').update(new Uint8Array(this.state().buffer)).digest('hex');
  }

  /**
   * @throws Error when the engine has warned: it resets itself after a not-a-number and drops contacts when memory is
   * short, and what follows would be a different world. This is a failure of the infrastructure, not of a planner.
   */
  checkSoundness(): void {
    const { warnings } = this;
    for (let i = 0; i < warnings.size(); i++) {
      const warning = warnings.get(i);
      if (!warning) continue;
      const { number, lastinfo } = warning;
      warning.delete();
      if (number > 0) {
        const what = this.engine.mju_warningText(i, lastinfo);
        throw new Error(`physics failed in scene "${this.scene.name}" at ${this.time} s: ${what}`);
      }
    }
  }

  dispose(): void {
    this.arm.dispose();
    this.stateBuffer.delete();
    this.data.delete();
    this.model.delete();
  }
}
