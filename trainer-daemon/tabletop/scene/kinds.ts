/**
 * The things that stand on the table: extents, weight and shape. Every body's origin is the middle of its underside, so
 * that it rests at z = 0 whatever it is.
 */
import type { Vec3 } from '../types.ts';

interface Shape {
  type: 'box' | 'cylinder';
  /** MuJoCo half sizes: box x y z; cylinder radius, half height. */
  size: number[];
  position: Vec3;
  /** Rotation about z. */
  turn?: number;
  mass: number;
}

export interface Kind {
  /** Full extents along the body's axes. */
  size: Vec3;
  /** Radius of the circle that holds its footprint. */
  radius: number;
  /** Turning about z changes nothing. */
  round: boolean;
  /** Hollow: things can be put inside, onto a floor at this height and within this half width. */
  hollow?: { floor: number; halfWidth: [number, number] };
  /** Distance of the middle of the wall from the centre, for a grasp by the rim. */
  rim?: number;
  shapes: Shape[];
}

const box = (x: number, y: number, z: number, mass: number): Kind => ({
  size: [2 * x, 2 * y, 2 * z],
  radius: Math.hypot(x, y),
  round: false,
  shapes: [{ type: 'box', size: [x, y, z], position: [0, 0, z], mass }],
});

const cylinder = (radius: number, half: number, mass: number): Kind => ({
  size: [2 * radius, 2 * radius, 2 * half],
  radius,
  round: true,
  shapes: [{ type: 'cylinder', size: [radius, half], position: [0, 0, half], mass }],
});

const RIM = 0.06;
const WALL = 0.0035;
const SIDES = 10;

/** A polygonal wall of ten boxes on a disc. */
function bowl(): Kind {
  const width = (RIM + WALL) * Math.tan(Math.PI / SIDES);
  const wall = Array.from({ length: SIDES }, (_, i): Shape => {
    const turn = (2 * Math.PI * i) / SIDES;
    return {
      type: 'box',
      size: [WALL, width, 0.022],
      position: [RIM * Math.cos(turn), RIM * Math.sin(turn), 0.03],
      turn,
      mass: 0.01,
    };
  });
  return {
    size: [0.127, 0.127, 0.052],
    radius: 0.066,
    round: true,
    hollow: { floor: 0.008, halfWidth: [0.055, 0.055] },
    rim: RIM,
    shapes: [{ type: 'cylinder', size: [0.046, 0.004], position: [0, 0, 0.004], mass: 0.08 }, ...wall],
  };
}

function basket(): Kind {
  const wall = (x: number, y: number, hx: number, hy: number): Shape => ({
    type: 'box',
    size: [hx, hy, 0.035],
    position: [x, y, 0.035],
    mass: 0.1,
  });
  return {
    size: [0.266, 0.206, 0.07],
    radius: 0.168,
    round: false,
    hollow: { floor: 0.008, halfWidth: [0.125, 0.095] },
    shapes: [
      { type: 'box', size: [0.127, 0.097, 0.004], position: [0, 0, 0.004], mass: 0.5 },
      wall(0.129, 0, 0.004, 0.103),
      wall(-0.129, 0, 0.004, 0.103),
      wall(0, 0.099, 0.125, 0.004),
      wall(0, -0.099, 0.125, 0.004),
    ],
  };
}

export const KINDS: Record<string, Kind> = {
  cube: box(0.02, 0.02, 0.02, 0.06),
  box: box(0.035, 0.025, 0.018, 0.1),
  carton: box(0.025, 0.02, 0.06, 0.15),
  can: cylinder(0.028, 0.05, 0.15),
  bottle: cylinder(0.022, 0.06, 0.12),
  plate: cylinder(0.085, 0.006, 0.25),
  bowl: bowl(),
  basket: basket(),
};

export const COLOURS: Record<string, [number, number, number]> = {
  red: [0.85, 0.12, 0.1],
  green: [0.1, 0.6, 0.25],
  blue: [0.1, 0.25, 0.85],
  yellow: [0.93, 0.8, 0.1],
  orange: [0.95, 0.5, 0.1],
  brown: [0.45, 0.28, 0.15],
  black: [0.2, 0.2, 0.23],
  white: [0.95, 0.93, 0.88],
};

const OWN_COLOUR: Record<string, [number, number, number]> = { plate: [0.9, 0.9, 0.95], basket: [0.66, 0.47, 0.25] };

const text = (...numbers: number[]): string => numbers.map((n) => Number(n.toFixed(6))).join(' ');

/** Stops a toppled can within a second; too little to be felt by anything that slides or falls. */
const ROLLING_DAMPING = 5e-4;

/** MJCF of one free object, parked at a place of its own until a scene is laid out. */
export function objectXml(id: string, kind: string, colour: string, parked: Vec3): string {
  const rgba = text(...(COLOURS[colour] ?? OWN_COLOUR[kind] ?? [0.7, 0.7, 0.7]), 1);
  const geoms = KINDS[kind].shapes.map(
    (s) =>
      `<geom class="object" type="${s.type}" size="${text(...s.size)}" pos="${text(...s.position)}"` +
      `${s.turn === undefined ? '' : ` euler="0 0 ${text(s.turn)}"`} mass="${s.mass}" rgba="${rgba}"/>`,
  );
  return `<body name="${id}" pos="${text(...parked)}"><joint type="free" name="${id}" damping="${ROLLING_DAMPING}"/>${geoms.join('')}</body>`;
}
