/** Perceived things for tests: 4 cm cubes on the table unless told otherwise. */
import type { Detection, Vec3 } from '../../../../trainer-daemon/tabletop/types.ts';

export function detection(
  kind: string,
  colour: string,
  x: number,
  y: number,
  more: { size?: Vec3; bottom?: number; yaw?: number; open?: boolean } = {},
): Detection {
  const { size = [0.04, 0.04, 0.04], bottom = 0, yaw = 0, open } = more;
  return {
    name: kind,
    kind,
    colour,
    position: [x, y, bottom + size[2] / 2],
    size,
    yaw,
    confidence: 1,
    camera: 'agent',
    box: [0, 0, 1, 1],
    ...(open !== undefined && { open }),
  };
}
