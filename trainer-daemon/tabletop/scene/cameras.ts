/** Where the cameras of the world are. */

interface CameraPlace {
  /** Body that carries it; null for one that stands in the world. */
  body: string | null;
  /** In the body's frame. */
  position: [number, number, number];
  /** The picture's right and up, in the body's frame; up need not be at a right angle to right. */
  right: [number, number, number];
  up: [number, number, number];
  /** Opening angle from top to bottom, in degrees. */
  fovy: number;
}

/** From the front, from the robot's left, and between the fingers. */
export const CAMERA_PLACES = {
  agent: { body: null, position: [1.2, 0, 0.9], right: [0, 1, 0], up: [-0.9, 0, 0.75], fovy: 50 },
  side: { body: null, position: [0.45, 1, 0.65], right: [-1, 0, 0], up: [0, -0.55, 0.85], fovy: 52 },
  /** As the robot's model has it. */
  wrist: { body: 'hand', position: [0.06, 0, 0.02], right: [0, 1, 0], up: [1, 0, 0], fovy: 75 },
} as const satisfies Record<string, CameraPlace>;

/** A camera for people alone: over the table, with the whole arm in sight. */
export const ROOM_CAMERA: CameraPlace = {
  body: null,
  position: [1.6, 0.8, 1.07],
  right: [-0.524, 0.852, 0],
  up: [-0.415, -0.255, 0.874],
  fovy: 42,
};

export type PlacedCamera = keyof typeof CAMERA_PLACES | 'room';

export function placeOf(camera: PlacedCamera): CameraPlace {
  return camera === 'room' ? ROOM_CAMERA : CAMERA_PLACES[camera];
}

/** MJCF of a camera that stands in the world. */
export function cameraXml(name: 'agent' | 'side'): string {
  const { position, right, up, fovy } = CAMERA_PLACES[name];
  return `<camera name="${name}" pos="${position.join(' ')}" xyaxes="${[...right, ...up].join(' ')}" fovy="${fovy}"/>`;
}
