/** From recorded shapes to things that three draws. Recorded sizes are half sizes, and long shapes lie along z. */
import {
  BoxGeometry,
  BufferGeometry,
  CapsuleGeometry,
  Color,
  CylinderGeometry,
  DoubleSide,
  Float32BufferAttribute,
  FrontSide,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshStandardMaterial,
  PlaneGeometry,
  SphereGeometry,
  SRGBColorSpace,
} from 'three';
import type { StageGeom } from '../../extension/replay/stage/data.ts';
import type { Motion } from './motion.ts';

/** A plane without end is drawn so far. Metres. */
const FAR = 5;

/** One group a body, in the order of the bodies; shapes lie in them as recorded. */
export function bodiesOf({ bodies, geoms }: Motion): Group[] {
  const groups = bodies.map((name) => {
    const group = new Group();
    group.name = name;
    return group;
  });
  for (const geom of geoms) groups[geom.body]?.add(meshOf(geom), ...gridOf(geom));
  return groups;
}

function meshOf({ kind, size, position, quaternion: [w, x, y, z], colour: [r, g, b, opacity] }: StageGeom): Mesh {
  const material = new MeshStandardMaterial({
    color: new Color().setRGB(r, g, b, SRGBColorSpace),
    roughness: 0.7,
    metalness: 0.05,
    side: kind === 'plane' ? DoubleSide : FrontSide,
    transparent: opacity < 1,
    opacity,
  });
  const mesh = new Mesh(geometryOf(kind, size), material);
  mesh.position.set(...position);
  mesh.quaternion.set(x, y, z, w);
  mesh.castShadow = kind !== 'plane';
  mesh.receiveShadow = true;
  return mesh;
}

function geometryOf(kind: StageGeom['kind'], size: readonly number[]): BufferGeometry {
  const [a = 0, b = 0, c = 0] = size;
  switch (kind) {
    case 'plane':
      return new PlaneGeometry(2 * (a || FAR), 2 * (b || FAR));
    case 'sphere':
      return new SphereGeometry(a, 24, 16);
    case 'capsule':
      return new CapsuleGeometry(a, 2 * b, 8, 20).rotateX(Math.PI / 2);
    case 'cylinder':
      return new CylinderGeometry(a, a, 2 * b, 28).rotateX(Math.PI / 2);
    case 'box':
      return new BoxGeometry(2 * a, 2 * b, 2 * c);
  }
}

/** Lines every 10 cm on a table, every 50 cm on a floor; they give the eye a measure. */
function gridOf({ kind, size, position, quaternion: [w, x, y, z] }: StageGeom): LineSegments[] {
  if (kind !== 'plane') return [];
  const [halfX = 0, halfY = 0] = size.map((half) => half || FAR);
  const step = Math.max(halfX, halfY) <= 1 ? 0.1 : 0.5;
  const points: number[] = [];
  // From the middle of the world, so that the lines lie at whole tenths of its frame.
  const first = (half: number, offset: number) => Math.ceil((offset - half) / step) * step - offset;
  for (let at = first(halfX, position[0]); at <= halfX; at += step) points.push(at, -halfY, 0.001, at, halfY, 0.001);
  for (let at = first(halfY, position[1]); at <= halfY; at += step) points.push(-halfX, at, 0.001, halfX, at, 0.001);
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new Float32BufferAttribute(points, 3));
  const lines = new LineSegments(
    geometry,
    new LineBasicMaterial({ color: 0x000000, transparent: true, opacity: 0.14, depthWrite: false }),
  );
  lines.position.set(...position);
  lines.quaternion.set(x, y, z, w);
  return [lines];
}

/** Gives back what the graphics card holds of a group. */
export function discard(group: Group): void {
  group.traverse((one) => {
    const { geometry, material } = one as Partial<Mesh>;
    geometry?.dispose();
    for (const each of Array.isArray(material) ? material : material ? [material] : []) {
      const { map } = each as MeshStandardMaterial;
      map?.dispose();
      each.dispose();
    }
  });
}
