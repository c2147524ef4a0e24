/**
 * Where a ray first meets a shape, in the shape's own frame: origin (ox, oy, oz), unit direction (vx, vy, vz). Each
 * function returns the distance, or `MISS`, and leaves the surface normal in `normal`.
 */
export const MISS = 1e9;
/** Surfaces nearer than this are behind the lens. */
const NEAR = 1e-6;

/** Of the hit found last, in the shape's frame. */
export const normal = new Float64Array(3);

function setNormal(x: number, y: number, z: number): void {
  normal[0] = x;
  normal[1] = y;
  normal[2] = z;
}

/** Half extents sx, sy; zero or less: without end. */
export function rayPlane(
  ox: number,
  oy: number,
  oz: number,
  vx: number,
  vy: number,
  vz: number,
  sx: number,
  sy: number,
): number {
  if (vz === 0) return MISS;
  const t = -oz / vz;
  if (t <= NEAR) return MISS;
  if (sx > 0 && Math.abs(ox + t * vx) > sx) return MISS;
  if (sy > 0 && Math.abs(oy + t * vy) > sy) return MISS;
  setNormal(0, 0, 1);
  return t;
}

/** Slab method; sx, sy, sz: half extents. */
export function rayBox(
  ox: number,
  oy: number,
  oz: number,
  vx: number,
  vy: number,
  vz: number,
  sx: number,
  sy: number,
  sz: number,
): number {
  const ax = 1 / vx;
  const ay = 1 / vy;
  const az = 1 / vz;
  const ex = ax < 0 ? -sx : sx;
  const ey = ay < 0 ? -sy : sy;
  const ez = az < 0 ? -sz : sz;
  const enterX = (-ex - ox) * ax;
  const enterY = (-ey - oy) * ay;
  const enterZ = (-ez - oz) * az;
  const enter = Math.max(enterX, enterY, enterZ);
  if (enter <= NEAR) return MISS;
  if (enter > (ex - ox) * ax || enter > (ey - oy) * ay || enter > (ez - oz) * az) return MISS;
  if (enter === enterX) setNormal(vx < 0 ? 1 : -1, 0, 0);
  else if (enter === enterY) setNormal(0, vy < 0 ? 1 : -1, 0);
  else setNormal(0, 0, vz < 0 ? 1 : -1);
  return enter;
}

/** Distance to the wall of a tube of the given radius and half length about z. */
function rayTube(
  ox: number,
  oy: number,
  oz: number,
  vx: number,
  vy: number,
  vz: number,
  radius: number,
  half: number,
): number {
  const a = vx * vx + vy * vy;
  const b = ox * vx + oy * vy;
  const discriminant = b * b - a * (ox * ox + oy * oy - radius * radius);
  if (discriminant < 0 || a <= 1e-12) return MISS;
  const t = (-b - Math.sqrt(discriminant)) / a;
  if (t <= NEAR || Math.abs(oz + t * vz) > half) return MISS;
  setNormal((ox + t * vx) / radius, (oy + t * vy) / radius, 0);
  return t;
}

export function rayCylinder(
  ox: number,
  oy: number,
  oz: number,
  vx: number,
  vy: number,
  vz: number,
  radius: number,
  half: number,
): number {
  const wall = rayTube(ox, oy, oz, vx, vy, vz, radius, half);
  if (Math.abs(vz) <= 1e-12) return wall;
  const side = vz < 0 ? 1 : -1;
  const t = (side * half - oz) / vz;
  if (t <= NEAR || t >= wall) return wall;
  const x = ox + t * vx;
  const y = oy + t * vy;
  if (x * x + y * y > radius * radius) return wall;
  setNormal(0, 0, side);
  return t;
}

export function rayCapsule(
  ox: number,
  oy: number,
  oz: number,
  vx: number,
  vy: number,
  vz: number,
  radius: number,
  half: number,
): number {
  let best = rayTube(ox, oy, oz, vx, vy, vz, radius, half);
  for (let side = -1; side <= 1; side += 2) {
    const z = oz - side * half;
    const b = ox * vx + oy * vy + z * vz;
    const discriminant = b * b - (ox * ox + oy * oy + z * z - radius * radius);
    if (discriminant < 0) continue;
    const t = -b - Math.sqrt(discriminant);
    if (t <= NEAR || t >= best || side * (z + t * vz) < 0) continue;
    best = t;
    setNormal((ox + t * vx) / radius, (oy + t * vy) / radius, (z + t * vz) / radius);
  }
  return best;
}
