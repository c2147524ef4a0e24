/** How what the robot perceives and feels is put into words. */
import type { Detection, SkillResult } from '../../tabletop/types.ts';

const cm = (metres: number): number => Math.round(metres * 100) + 0;

/**
 * One line an object, from left to right: `bowl_1 black x=42 y=-11 z=2 near plate_1 8`. The nearest other object and its
 * distance come from the perceived positions alone.
 */
export function describeDetections(detections: Detection[]): string {
  if (detections.length === 0) return 'nothing seen';
  const ordered = [...detections].sort((a, b) => b.position[1] - a.position[1]);
  return ordered.map((detection) => line(detection, detections)).join('\n');
}

function line(detection: Detection, all: Detection[]): string {
  const [x, y, z] = detection.position;
  let text = detection.name;
  if (detection.colour !== '') text += ` ${detection.colour}`;
  if (detection.open !== undefined) text += detection.open ? ' open' : ' shut';
  text += ` x=${cm(x)} y=${cm(y)} z=${cm(z)}`;
  let nearest: Detection | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const other of all) {
    if (other === detection) continue;
    const distance = Math.hypot(other.position[0] - x, other.position[1] - y);
    if (distance < least) {
      least = distance;
      nearest = other;
    }
  }
  if (nearest) text += ` near ${nearest.name} ${cm(least)}`;
  return text;
}

/** A skill's outcome as its own sensors tell it. */
export function describeSkill(result: SkillResult): string {
  return `${result.code}; ${result.holding ? 'holding' : 'gripper empty'}`;
}
