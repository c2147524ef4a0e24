/**
 * Casts the rays of a camera into shapes: colour, depth and segmentation, and how much of each body is seen and how much
 * there would be to see if nothing stood before it. No graphics stack is needed, and equal scenes give equal pixels.
 */
import { MISS, normal, rayBox, rayCapsule, rayCylinder, rayPlane } from './ray-shapes.ts';

/** MuJoCo's numbers of geom types. */
export const GEOM = { plane: 0, sphere: 2, capsule: 3, cylinder: 5, box: 6 } as const;

const SKY = [178, 204, 230];
const SUN = [0.35, 0.45, 0.82].map((x) => x / Math.hypot(0.35, 0.45, 0.82));
const AMBIENT = 0.35;
const DIFFUSE = 0.5;
const HEADLIGHT = 0.15;

/** What does not change about shapes, one after the other, body by body. */
export interface RayShapes {
  /** See {@link GEOM}. */
  type: Int32Array;
  /** Three half sizes each. */
  size: Float64Array;
  /** Of a sphere around each; planes have none. */
  radius: Float64Array;
  /** Four channels each, 0-1. */
  colour: Float32Array;
  /** Number of the body that carries each. */
  body: Int32Array;
  /** How many bodies there are. */
  bodies: number;
}

/** What one picture shows of one body. */
export interface BodyView {
  /** Pixels where it is in front. */
  visible: number;
  /** Pixels its outline covers, hidden or not. */
  outline: number;
  /** Left, top, right, bottom of the visible pixels, as fractions of the picture. */
  box: [number, number, number, number];
}

export class RayCaster {
  readonly width: number;
  readonly height: number;
  /** Distance along each pixel's ray; negative where nothing is met. */
  readonly depth: Float32Array;
  /** Geom of each pixel, -1 for none. */
  readonly segmentation: Int32Array;
  private readonly shapes: RayShapes;
  private readonly focal: number;
  private readonly localRays: Float64Array;
  private readonly rays: Float64Array;
  private readonly normals: Float32Array;
  /** The body whose outline covered a pixel last (geoms come body by body). */
  private readonly covered: Int32Array;
  private readonly outlines: Int32Array;

  /** @param fovy opening angle from top to bottom, in radians. */
  constructor(shapes: RayShapes, fovy: number, width: number, height: number) {
    this.shapes = shapes;
    this.width = width;
    this.height = height;
    this.focal = (0.5 * height) / Math.tan(fovy / 2);
    const pixels = width * height;
    this.localRays = new Float64Array(3 * pixels);
    for (let row = 0, k = 0; row < height; row++) {
      for (let column = 0; column < width; column++) {
        const x = (column + 0.5 - width / 2) / this.focal;
        const y = -(row + 0.5 - height / 2) / this.focal;
        const length = Math.hypot(x, y, 1);
        this.localRays[k++] = x / length;
        this.localRays[k++] = y / length;
        this.localRays[k++] = -1 / length;
      }
    }
    this.rays = new Float64Array(3 * pixels);
    this.depth = new Float32Array(pixels);
    this.segmentation = new Int32Array(pixels);
    this.normals = new Float32Array(3 * pixels);
    this.covered = new Int32Array(pixels);
    this.outlines = new Int32Array(shapes.bodies);
  }

  /**
   * Casts every pixel's ray.
   * @param p where the camera is, in the world.
   * @param R its rotation, row by row: it looks along its -z, up is its y.
   * @param positions of the shapes, three numbers each.
   * @param rotations of the shapes, nine numbers each, row by row.
   */
  cast(p: Float64Array, R: Float64Array, positions: Float64Array, rotations: Float64Array): void {
    const { localRays: L, rays } = this;
    for (let k = 0; k < L.length; k += 3) {
      const x = L[k];
      const y = L[k + 1];
      const z = L[k + 2];
      rays[k] = R[0] * x + R[1] * y + R[2] * z;
      rays[k + 1] = R[3] * x + R[4] * y + R[5] * z;
      rays[k + 2] = R[6] * x + R[7] * y + R[8] * z;
    }
    this.segmentation.fill(-1);
    this.depth.fill(MISS);
    this.covered.fill(-1);
    this.outlines.fill(0);
    for (let geom = 0; geom < this.shapes.type.length; geom++) this.castGeom(geom, p, R, positions, rotations);
    for (let k = 0; k < this.depth.length; k++) if (this.segmentation[k] < 0) this.depth[k] = -1;
  }

  /** Unit direction of a pixel's ray in the picture cast last. */
  ray(pixel: number): [number, number, number] {
    return [this.rays[3 * pixel], this.rays[3 * pixel + 1], this.rays[3 * pixel + 2]];
  }

  /** The pixels a bounding sphere may cover along one picture axis, from its centre c and depth z. */
  private span(c: number, z: number, r: number): [number, number] {
    const root = Math.sqrt(Math.max(1e-12, c * c + z * z - r * r));
    const denominator = z * z - r * r;
    return [(c * z - r * root) / denominator, (c * z + r * root) / denominator];
  }

  private castGeom(
    g: number,
    p: Float64Array,
    R: Float64Array,
    positions: Float64Array,
    rotations: Float64Array,
  ): void {
    const { width, height, focal, rays, depth, segmentation, normals, covered } = this;
    const shapes = this.shapes;
    const type = shapes.type[g];
    const rx = positions[3 * g] - p[0];
    const ry = positions[3 * g + 1] - p[1];
    const rz = positions[3 * g + 2] - p[2];
    let [top, bottom, left, right] = [0, height - 1, 0, width - 1];
    if (type !== GEOM.plane) {
      const r = shapes.radius[g];
      const cz = -(R[2] * rx + R[5] * ry + R[8] * rz);
      if (cz < -r) return;
      if (cz > r * 1.05) {
        const [x0, x1] = this.span(R[0] * rx + R[3] * ry + R[6] * rz, cz, r);
        const [y0, y1] = this.span(R[1] * rx + R[4] * ry + R[7] * rz, cz, r);
        left = Math.max(0, Math.floor(width / 2 + focal * x0 - 0.5));
        right = Math.min(width - 1, Math.ceil(width / 2 + focal * x1 - 0.5));
        top = Math.max(0, Math.floor(height / 2 - focal * y1 - 0.5));
        bottom = Math.min(height - 1, Math.ceil(height / 2 - focal * y0 - 0.5));
      }
    }
    const a = 9 * g;
    const [m0, m1, m2] = [rotations[a], rotations[a + 1], rotations[a + 2]];
    const [m3, m4, m5] = [rotations[a + 3], rotations[a + 4], rotations[a + 5]];
    const [m6, m7, m8] = [rotations[a + 6], rotations[a + 7], rotations[a + 8]];
    const [sx, sy, sz] = [shapes.size[3 * g], shapes.size[3 * g + 1], shapes.size[3 * g + 2]];
    const ox = -(m0 * rx + m3 * ry + m6 * rz);
    const oy = -(m1 * rx + m4 * ry + m7 * rz);
    const oz = -(m2 * rx + m5 * ry + m8 * rz);
    const body = shapes.body[g];
    let outline = 0;
    for (let row = top; row <= bottom; row++) {
      for (let column = left; column <= right; column++) {
        const k = row * width + column;
        const dx = rays[3 * k];
        const dy = rays[3 * k + 1];
        const dz = rays[3 * k + 2];
        const vx = m0 * dx + m3 * dy + m6 * dz;
        const vy = m1 * dx + m4 * dy + m7 * dz;
        const vz = m2 * dx + m5 * dy + m8 * dz;
        let t = MISS;
        if (type === GEOM.box) t = rayBox(ox, oy, oz, vx, vy, vz, sx, sy, sz);
        else if (type === GEOM.capsule) t = rayCapsule(ox, oy, oz, vx, vy, vz, sx, sy);
        else if (type === GEOM.cylinder) t = rayCylinder(ox, oy, oz, vx, vy, vz, sx, sy);
        else if (type === GEOM.sphere) t = rayCapsule(ox, oy, oz, vx, vy, vz, sx, 0);
        else t = rayPlane(ox, oy, oz, vx, vy, vz, sx, sy);
        if (t === MISS) continue;
        if (covered[k] !== body) {
          covered[k] = body;
          outline++;
        }
        if (t >= depth[k]) continue;
        depth[k] = t;
        segmentation[k] = g;
        const nx = normal[0];
        const ny = normal[1];
        const nz = normal[2];
        normals[3 * k] = m0 * nx + m1 * ny + m2 * nz;
        normals[3 * k + 1] = m3 * nx + m4 * ny + m5 * nz;
        normals[3 * k + 2] = m6 * nx + m7 * ny + m8 * nz;
      }
    }
    this.outlines[body] += outline;
  }

  /** What the picture cast last shows of every body, by body number. */
  bodyViews(): BodyView[] {
    const { width, height, segmentation } = this;
    const views: BodyView[] = Array.from(this.outlines, (outline) => ({ visible: 0, outline, box: [1, 1, 0, 0] }));
    for (let k = 0; k < segmentation.length; k++) {
      const geom = segmentation[k];
      if (geom < 0) continue;
      const view = views[this.shapes.body[geom]];
      const column = k % width;
      const row = (k - column) / width;
      view.visible++;
      view.box[0] = Math.min(view.box[0], column / width);
      view.box[1] = Math.min(view.box[1], row / height);
      view.box[2] = Math.max(view.box[2], (column + 1) / width);
      view.box[3] = Math.max(view.box[3], (row + 1) / height);
    }
    return views;
  }

  /**
   * Writes the picture cast last: one sun, a little light from the camera.
   * @param into four bytes a pixel: red, green, blue, and 255.
   */
  paint(into: Uint8Array): void {
    const { segmentation, normals, rays } = this;
    const { colour } = this.shapes;
    for (let k = 0; k < segmentation.length; k++) {
      const geom = segmentation[k];
      const [nx, ny, nz] = [normals[3 * k], normals[3 * k + 1], normals[3 * k + 2]];
      const sun = Math.max(0, nx * SUN[0] + ny * SUN[1] + nz * SUN[2]);
      const facing = Math.max(0, -(nx * rays[3 * k] + ny * rays[3 * k + 1] + nz * rays[3 * k + 2]));
      const light = 255 * (AMBIENT + DIFFUSE * sun + HEADLIGHT * facing);
      for (let c = 0; c < 3; c++) {
        into[4 * k + c] = geom < 0 ? SKY[c] : Math.min(255, light * colour[4 * geom + c]);
      }
      into[4 * k + 3] = 255;
    }
  }
}
