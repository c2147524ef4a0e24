/** Pictures of a recorded motion, as the world's own cameras would have taken them: without the physics. */
import { type PoseTrack, poseAt, product, type Quaternion, turned } from '../../../protocol/poses.ts';
import type { Trajectory, TrajectoryGeom } from '../../../protocol/trajectory.ts';
import { type PlacedCamera, placeOf } from '../scene/cameras.ts';
import { axes } from './geometry.ts';
import { GEOM, RayCaster, type RayShapes } from './ray-cast.ts';

type Vector = [number, number, number];

export class FrameRenderer {
  readonly width: number;
  readonly height: number;
  private readonly geoms: readonly TrajectoryGeom[];
  private readonly track: PoseTrack;
  private readonly caster: RayCaster;
  private readonly eye: { body: number | null; position: Vector; axes: [Vector, Vector, Vector] };
  private readonly positions: Float64Array;
  private readonly rotations: Float64Array;

  /** @throws Error when the recording has not the body that carries the camera. */
  constructor(
    { bodies, geoms }: Pick<Trajectory, 'bodies' | 'geoms'>,
    track: PoseTrack,
    camera: PlacedCamera,
    width: number,
    height: number,
  ) {
    const place = placeOf(camera);
    const body = place.body === null ? null : bodies.indexOf(place.body);
    if (body === -1)
      throw new Error(`the recording has no body "${place.body}", which carries the camera "${camera}"; take another`);
    this.width = width;
    this.height = height;
    this.geoms = geoms;
    this.track = track;
    this.eye = { body, position: [...place.position], axes: cameraAxes(place.right, place.up) };
    this.caster = new RayCaster(shapesOf(geoms, bodies.length), (place.fovy * Math.PI) / 180, width, height);
    this.positions = new Float64Array(3 * geoms.length);
    this.rotations = new Float64Array(9 * geoms.length);
  }

  /**
   * The picture at a time.
   * @param time simulated seconds; beyond the ends, the first or the last picture.
   * @returns four bytes a pixel: red, green, blue, 255.
   */
  frame(time: number): Uint8Array {
    const { geoms, track, positions, rotations, eye } = this;
    geoms.forEach((geom, at) => {
      const body = poseAt(track, time, geom.body);
      turned(body.quaternion, geom.position).forEach((x, k) => {
        positions[3 * at + k] = x + body.position[k];
      });
      rotations.set(rows(axes(product(body.quaternion, unit(geom.quaternion)))), 9 * at);
    });
    const carrier = eye.body === null ? undefined : poseAt(track, time, eye.body);
    const turn = (v: Vector): Vector => (carrier ? turned(carrier.quaternion, v) : v);
    const position = turn(eye.position).map((x, k) => x + (carrier?.position[k] ?? 0));
    const [right, up, back] = eye.axes;
    this.caster.cast(
      Float64Array.from(position),
      Float64Array.from(rows([turn(right), turn(up), turn(back)])),
      positions,
      rotations,
    );
    const picture = new Uint8Array(4 * this.width * this.height);
    this.caster.paint(picture);
    return picture;
  }
}

function shapesOf(geoms: readonly TrajectoryGeom[], bodies: number): RayShapes {
  const shapes: RayShapes = {
    type: Int32Array.from(geoms, ({ kind }) => GEOM[kind]),
    size: new Float64Array(3 * geoms.length),
    radius: Float64Array.from(geoms, radiusOf),
    colour: Float32Array.from(geoms.flatMap(({ colour }) => colour)),
    body: Int32Array.from(geoms, ({ body }) => body),
    bodies,
  };
  for (const [at, { size }] of geoms.entries()) shapes.size.set(size, 3 * at);
  return shapes;
}

/** Of the smallest sphere around the shape's middle that holds it. */
function radiusOf({ kind, size: [a = 0, b = 0, c = 0] }: TrajectoryGeom): number {
  switch (kind) {
    case 'plane':
      return 0;
    case 'sphere':
      return a;
    case 'capsule':
      return a + b;
    case 'cylinder':
      return Math.hypot(a, b);
    case 'box':
      return Math.hypot(a, b, c);
  }
}

/** Right, up and back of a camera, at right angles; right is kept. */
function cameraAxes(right: readonly number[], up: readonly number[]): [Vector, Vector, Vector] {
  const x = scaled(right);
  const along = up[0] * x[0] + up[1] * x[1] + up[2] * x[2];
  const y = scaled(up.map((one, k) => one - along * x[k]));
  const z: Vector = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]];
  return [x, y, z];
}

function scaled(v: readonly number[]): Vector {
  const length = Math.hypot(...v);
  return [v[0] / length, v[1] / length, v[2] / length];
}

function unit(q: Quaternion): Quaternion {
  const length = Math.hypot(...q) || 1;
  return q.map((x) => x / length) as Quaternion;
}

/** A rotation matrix row by row, from its columns. */
function rows([x, y, z]: [Vector, Vector, Vector]): number[] {
  return [x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]];
}
