/** Recording body poses at the control rate, in the form in which replay reads them (protocol/trajectory.ts). */
import { deflateRawSync } from 'node:zlib';
import { CHANNELS, PER_METRE, PER_UNIT } from '../../protocol/poses.ts';
import { SHAPE_SIZES } from '../../protocol/trajectory.ts';
import { CONTROL_RATE, type Simulation } from './physics/simulation.ts';
import type { Detection, Trajectory, Vec3 } from './types.ts';

const KIND_OF_TYPE: Record<number, Trajectory['geoms'][number]['kind']> = {
  0: 'plane',
  2: 'sphere',
  3: 'capsule',
  5: 'cylinder',
  6: 'box',
};

/** Shapes do not change while a model lives. */
const geomsOfSimulation = new WeakMap<Simulation, Trajectory['geoms']>();

function geomsOf(sim: Simulation): Trajectory['geoms'] {
  let geoms = geomsOfSimulation.get(sim);
  if (!geoms) {
    geoms = readGeoms(sim);
    geomsOfSimulation.set(sim, geoms);
  }
  return geoms;
}

const round = (numbers: Iterable<number>): number[] => Array.from(numbers, (n) => Number(n.toFixed(5)));

export class TrajectoryRecorder {
  private readonly sim: Simulation;
  private readonly bodies: string[];
  private readonly geoms: Trajectory['geoms'];
  private readonly frames: Int16Array[] = [];
  private readonly spans: Trajectory['spans'] = [];

  /** Records the state as it is now as the first frame. */
  constructor(sim: Simulation) {
    this.sim = sim;
    const body = sim.engine.mjtObj.mjOBJ_BODY.value;
    this.bodies = Array.from({ length: sim.model.nbody }, (_, b) => sim.engine.mj_id2name(sim.model, body, b));
    this.geoms = geomsOf(sim);
    this.frame();
  }

  /** Adds a frame. Of the two quaternions of a rotation the one nearer to the last frame's is kept. */
  frame(): void {
    const { xpos, xquat } = this.sim.views;
    const last = this.frames.at(-1);
    const frame = new Int16Array(this.bodies.length * CHANNELS);
    for (let b = 0; b < this.bodies.length; b++) {
      const o = b * CHANNELS;
      for (let k = 0; k < 3; k++)
        frame[o + k] = Math.max(-32767, Math.min(32767, Math.round(xpos[3 * b + k] * PER_METRE)));
      let along = 0;
      if (last) for (let k = 0; k < 4; k++) along += last[o + 3 + k] * xquat[4 * b + k];
      const sign = along < 0 ? -1 : 1;
      for (let k = 0; k < 4; k++) frame[o + 3 + k] = Math.round(sign * xquat[4 * b + k] * PER_UNIT);
    }
    this.frames.push(frame);
  }

  /** Notes what a call did from one simulated time to another. */
  span(name: string, start: number, held: string | null, detections?: Detection[]): void {
    const entry = { name, start, end: this.sim.time, held };
    this.spans.push(detections ? { ...entry, detections } : entry);
  }

  encode(): Trajectory {
    const { frames, bodies } = this;
    const count = frames.length;
    const channels = bodies.length * CHANNELS;
    const deltas = new Int16Array(channels * count);
    for (let c = 0; c < channels; c++) {
      for (let f = 0; f < count; f++) deltas[c * count + f] = frames[f][c] - (f > 0 ? frames[f - 1][c] : 0);
    }
    return {
      version: 1,
      rate: CONTROL_RATE,
      bodies,
      geoms: this.geoms,
      frames: count,
      poses: deflateRawSync(new Uint8Array(deltas.buffer), { level: 6 }).toString('base64'),
      spans: this.spans,
    };
  }
}

function readGeoms({ model }: Simulation): Trajectory['geoms'] {
  const body = model.geom_bodyid as Int32Array;
  const type = model.geom_type as Int32Array;
  const size = model.geom_size as Float64Array;
  const position = model.geom_pos as Float64Array;
  const quaternion = model.geom_quat as Float64Array;
  const colour = model.geom_rgba as Float32Array;
  return Array.from({ length: model.ngeom }, (_, g) => {
    const kind = KIND_OF_TYPE[type[g]];
    return {
      body: body[g],
      kind,
      size: round(size.slice(3 * g, 3 * g + SHAPE_SIZES[kind])),
      position: round(position.slice(3 * g, 3 * g + 3)) as Vec3,
      quaternion: round(quaternion.slice(4 * g, 4 * g + 4)) as [number, number, number, number],
      colour: round(colour.slice(4 * g, 4 * g + 4)) as [number, number, number, number],
    };
  });
}
