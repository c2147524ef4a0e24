/** A ray-cast camera in a simulation. Equal states give equal pixels. */
import { PNG } from 'pngjs';
import type { Simulation } from '../physics/simulation.ts';
import { type BodyView, RayCaster } from './ray-cast.ts';

export type CameraName = 'agent' | 'side' | 'wrist';
export const CAMERAS: readonly CameraName[] = ['agent', 'side', 'wrist'];

export class Camera {
  readonly name: CameraName;
  readonly width: number;
  readonly height: number;
  position: [number, number, number] = [0, 0, 0];
  private readonly sim: Simulation;
  private readonly id: number;
  private readonly caster: RayCaster;

  constructor(sim: Simulation, name: CameraName, width: number, height: number) {
    const { model, engine } = sim;
    this.sim = sim;
    this.name = name;
    this.width = width;
    this.height = height;
    this.id = engine.mj_name2id(model, engine.mjtObj.mjOBJ_CAMERA.value, name);
    const fovy = ((model.cam_fovy as Float64Array)[this.id] * Math.PI) / 180;
    const shapes = {
      type: Int32Array.from(model.geom_type as Int32Array),
      size: Float64Array.from(model.geom_size as Float64Array),
      radius: Float64Array.from(model.geom_rbound as Float64Array),
      colour: Float32Array.from(model.geom_rgba as Float32Array),
      body: Int32Array.from(model.geom_bodyid as Int32Array),
      bodies: model.nbody,
    };
    this.caster = new RayCaster(shapes, fovy, width, height);
  }

  /** Distance along each pixel's ray; negative where nothing is met. */
  get depth(): Float32Array {
    return this.caster.depth;
  }

  /** Geom of each pixel, -1 for none. */
  get segmentation(): Int32Array {
    return this.caster.segmentation;
  }

  /** Casts every pixel's ray into the scene as it is now. */
  render(): void {
    const { data } = this.sim;
    const p = data.cam_xpos.slice(3 * this.id, 3 * this.id + 3) as Float64Array;
    const R = data.cam_xmat.slice(9 * this.id, 9 * this.id + 9) as Float64Array;
    this.position = [p[0], p[1], p[2]];
    this.caster.cast(p, R, data.geom_xpos as Float64Array, data.geom_xmat as Float64Array);
  }

  /** Unit direction of a pixel's ray in the picture rendered last. */
  ray(pixel: number): [number, number, number] {
    return this.caster.ray(pixel);
  }

  /** What the picture rendered last shows of every body, by body number. */
  bodyViews(): BodyView[] {
    return this.caster.bodyViews();
  }

  /** The picture rendered last as a PNG file. */
  png(): Uint8Array {
    const { width, height } = this;
    const image = new PNG({ width, height, colorType: 2 });
    this.caster.paint(image.data);
    return PNG.sync.write(image, { colorType: 2 });
  }
}
